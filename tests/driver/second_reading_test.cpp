#include "driver/second_reading.hpp"

#include <gmock/gmock.h>

namespace nuna::compiler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::string read(const std::string& path) {
  if (path == "a.cu") return "k<< <1, 1>> >();";
  if (path == "sub/b.cuh") return "#define GO k<< <1, 1>>>()";
  return "";
}

TEST(SecondReading, ClosesLaunchesInFilesThatErrorsAndNotesName) {
  SecondReading reading;
  EXPECT_TRUE(
      reading.learn("a.cu:3:5: error: expected expression\n"
                    "sub/b.cuh:1:9: note: expanded from macro 'GO'\n"
                    "plain.cu:1:1: error: unknown type\n",
                    read));
  EXPECT_THAT(reading.files(),
              ElementsAre(Pair("a.cu", "k<<< 1, 1>>> ();"), Pair("sub/b.cuh", "#define GO k<<< 1, 1>>>()")));
  EXPECT_FALSE(reading.learn("a.cu:9:1: error: something else\n", read));
}

TEST(SecondReading, FindsFilesBelowColours) {
  SecondReading reading;
  EXPECT_TRUE(reading.learn("\x1b[1ma.cu:3:5: \x1b[0m\x1b[0;1;31merror: \x1b[0mexpected expression\n", read));
}

TEST(SecondReading, LeavesTheNameTextureToTheProgram) {
  SecondReading reading;
  const char* told = "x.cu:1:21: error: redefinition of 'texture' as different kind of symbol\n";
  EXPECT_TRUE(reading.learn(told, read));
  EXPECT_THAT(reading.options(), ElementsAre("-DNUNA_NO_TEXTURE_REFERENCES=1"));
  EXPECT_FALSE(reading.learn(told, read));
}

TEST(SecondReading, IsNotNeededForOtherErrors) {
  SecondReading reading;
  EXPECT_FALSE(reading.learn("x.cu:1:21: error: no member named 'textures'\nnote: texture\n", read));
  EXPECT_THAT(reading.options(), IsEmpty());
}

TEST(Overlay, NamesEachFile) {
  EXPECT_EQ(
      "{\"version\": 0, \"use-external-names\": false, \"roots\": "
      "[{\"type\": \"file\", \"name\": \"/p/a \\\"b\\\".cu\", \"external-contents\": \"/t/0\"},\n"
      "{\"type\": \"file\", \"name\": \"/p/c.cu\", \"external-contents\": \"/t/1\"}]}\n",
      overlay_text({{"/p/a \"b\".cu", "/t/0"}, {"/p/c.cu", "/t/1"}}));
}

}  // namespace
}  // namespace nuna::compiler
