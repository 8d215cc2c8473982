#include "driver/command_line.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace nuna::compiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::ThrowsMessage;

std::vector<std::string> paths(const CommandLine& line) {
  std::vector<std::string> all;
  for (const auto& input : line.inputs) all.push_back(input.path);
  return all;
}

TEST(CommandLine, TakesValuesBehindAnEqualsSignABlankOrTheLetter) {
  for (const auto& form : std::vector<std::vector<std::string>>{
           {"-o", "x", "-I", "a", "-D", "N=1"},
           {"-o=x", "-I=a", "-D=N=1"},
           {"-ox", "-Ia", "-DN=1"},
           {"--output-file", "x", "--include-path=a", "--define-macro", "N=1"}}) {
    const auto line = read_command_line(form);
    EXPECT_EQ("x", line.output);
    EXPECT_THAT(line.preprocessing, ElementsAre("-Ia", "-DN=1"));
  }
}

TEST(CommandLine, TellsFilesByTheirNamesUnlessXSaysWhatTheyAre) {
  const auto line = read_command_line({"a.cu", "b.cpp", "c.c", "d.o", "e.a", "g.txt", "-x", "cu", "f.cpp"});
  EXPECT_THAT(paths(line), ElementsAre("a.cu", "b.cpp", "c.c", "d.o", "e.a", "g.txt", "f.cpp"));
  EXPECT_EQ(Input::Kind::cuda, line.inputs[0].kind);
  EXPECT_EQ(Input::Kind::cxx, line.inputs[1].kind);
  EXPECT_EQ(Input::Kind::c, line.inputs[2].kind);
  EXPECT_EQ(Input::Kind::object, line.inputs[3].kind);
  EXPECT_EQ(Input::Kind::library, line.inputs[4].kind);
  EXPECT_EQ(Input::Kind::unknown, line.inputs[5].kind);
  EXPECT_EQ(Input::Kind::cuda, line.inputs[6].kind);
}

TEST(CommandLine, AcceptsWhatConcernsGpusWithoutEffect) {
  const auto line =
      read_command_line({"-arch=sm_80", "-gencode", "arch=compute_90,code=sm_90", "-Xptxas", "-v",
                         "-maxrregcount=64", "--expt-relaxed-constexpr", "-lineinfo", "a.cu"});
  EXPECT_THAT(paths(line), ElementsAre("a.cu"));
  EXPECT_TRUE(line.host.empty());
}

TEST(CommandLine, TellsTheVerbosityOfPtxasFromItsOwn) {
  for (const auto& form : std::vector<std::vector<std::string>>{{"-Xptxas", "-v"},
                                                                {"-Xptxas=-O3,-v"},
                                                                {"--ptxas-options=-v"},
                                                                {"-Xptxas", "-O3 --verbose"},
                                                                {"--resource-usage"}}) {
    const auto line = read_command_line(form);
    EXPECT_TRUE(line.resources) << form[0];
    EXPECT_FALSE(line.verbose) << form[0];
  }
  EXPECT_TRUE(read_command_line({"-v"}).verbose);
  EXPECT_FALSE(read_command_line({"-v", "-Xptxas", "-O3"}).resources);
}

TEST(CommandLine, TellsTheGpusThatPtxIsFor) {
  const auto line = read_command_line({"-arch=sm_90a", "-gencode", "arch=compute_75,code=compute_75", "-arch",
                                       "native", "--cuda-path", "/cuda", "--ptx=off", "a.cu"});
  EXPECT_THAT(line.architectures, ElementsAre("sm_90a", "compute_75", "compute_75"));
  EXPECT_EQ("/cuda", line.cuda_path);
  EXPECT_FALSE(line.ptx);
  EXPECT_EQ(Goal::ptx, read_command_line({"--ptx", "a.cu"}).goal);
  EXPECT_THAT([] { read_command_line({"--ptx=on", "a.cu"}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("expected auto or off")));
  EXPECT_THAT(
      read_command_line({"--generate-code=arch=compute_80,code=[compute_80,lto_80,sm_86]", "-arch=all-major"})
          .architectures,
      ElementsAre("compute_80", "compute_80", "sm_86"));
  for (const char* wrong : {"-arch=foo", "-gencode=arch=compute_,code=sm_80", "-arch=80"})
    EXPECT_THAT([&] { read_command_line({wrong, "a.cu"}); },
                ThrowsMessage<std::runtime_error>(HasSubstr("expected sm_80, compute_80 or the like")))
        << wrong;
}

TEST(CommandLine, HandsTheHostCompilersOptionsOn) {
  const auto line = read_command_line(
      {"-Xcompiler", "-Wall,-fopenmp", "-O3", "-fno-strict-aliasing", "-Xlinker", "-z,now", "a.cu"});
  EXPECT_THAT(line.host, ElementsAre("-Wall", "-fopenmp", "-O3", "-fno-strict-aliasing"));
  EXPECT_THAT(line.linking, ElementsAre("-Xlinker", "-z", "-Xlinker", "now"));
}

TEST(CommandLine, KeepsACommaBehindABackslash) {
  EXPECT_THAT(read_command_line({"-Xcompiler", "-Wall -fPIC,-O1", "a.cu"}).host,
              ElementsAre("-Wall", "-fPIC", "-O1"));
  EXPECT_THAT(read_command_line({"-Xcompiler", "-Wl\\,-z\\,now", "a.cu"}).host, ElementsAre("-Wl,-z,now"));
}

TEST(CommandLine, ReadsOptionsFromFiles) {
  const auto file = testing::TempDir() + "/options";
  std::ofstream(file) << "-DTEXT=\"two words\" -I'a b'\n-O2";
  const auto line = read_command_line({"--options-file", file, "a.cu"});
  EXPECT_THAT(line.preprocessing, ElementsAre("-DTEXT=two words", "-Ia b"));
  EXPECT_THAT(line.host, ElementsAre("-O2"));
}

TEST(CommandLine, RefusesWithTheArgumentsName) {
  auto reading = [](std::vector<std::string> arguments) {
    return [arguments] { read_command_line(arguments); };
  };
  EXPECT_THAT(reading({"--frobnicate"}), ThrowsMessage<std::runtime_error>(HasSubstr("--frobnicate")));
  EXPECT_THAT(reading({"a.cu", "-o"}),
              ThrowsMessage<std::runtime_error>(HasSubstr("-o: a value is missing")));
  EXPECT_THAT(reading({"-rdc=perhaps"}),
              ThrowsMessage<std::runtime_error>(HasSubstr("expected true or false")));
  EXPECT_THAT(reading({"-x", "rust"}), ThrowsMessage<std::runtime_error>(HasSubstr("expected cu, c++")));
  EXPECT_THAT(reading({"@no-such-file"}), ThrowsMessage<std::runtime_error>(HasSubstr("no-such-file")));
}

TEST(CommandLine, ForwardsWhatNobodyKnowsWhereThatIsAskedFor) {
  EXPECT_THAT(read_command_line({"-forward-unknown-to-host-compiler", "--param=x", "a.cu"}).host,
              ElementsAre("--param=x"));
}

TEST(CommandLine, AuditsWhereItIsAskedTo) {
  EXPECT_TRUE(read_command_line({"--audit", "a.cu"}).audit);
  EXPECT_FALSE(read_command_line({"a.cu"}).audit);
}

}  // namespace
}  // namespace nuna::compiler
