// Kernels of PTX text that run a part of a grid.

#include "ptx_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ptx_names.hpp"
#include "ptx_tokens.hpp"

namespace nuna::cudart {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kHead = ".version 7.0\n.target sm_75\n.address_size 64\n";

/// Reads blocks in all ways that are understood; calls a function that does, by name and by pointer.
constexpr const char* kCalls = R"(
.func (.param .b32 result) where ();
.global .align 4 .u32 counter = 3;
.const .align 4 .b8 weights[16] = {1, 2, 3};
.global .attribute(.managed) .align 4 .u32 shown;
.global .align 8 .u64 table[2] = {where, 0};
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 result) where ()
{
	.reg .b32 %r<3>;
	mov.u32 %r1, %ctaid.z;
	mov.u32 %r2, %nctaid.y;
	mad.lo.s32 %r1, %r1, %r2, %r2;
	st.param.b32 [result], %r1;
	ret;
}
.visible .entry calls(.param .u64 .ptr .global .align 8 to, .param .align 4 .b8 shape[12])
.maxntid 256, 1, 1
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	// %ctaid.x in a comment; /* so here */
	/* %gridid */
	mov.u32 %r1, %tid.x;
	setp.ne.s32 %p1, %r1, 0;
	@%p1 mov.u32 %r2, %ctaid.x;
	cvt.u64.u32 %rd2, %nctaid.x;
$L_again:
	{ .reg .b32 %t;
	  .param .b32 back;
	  call.uni (back), where, ();
	  ld.param.b32 %t, [back]; mov.b32 %r4, %t; }
	ld.global.u64 %rd4, [table];
	{ .param .b32 back;
	  prototype_0 : .callprototype (.param .b32 _) _ ();
	  call (back), %rd4, (), prototype_0;
	  ld.param.b32 %r5, [back]; }
	ld.param.u64 %rd1, [to];
	cvta.to.global.u64 %rd3, %rd1;
	st.global.v2.u32 [%rd3], {%r2, %r4};
	ret;
}
.entry alone
{
	ret;
}
)";

std::string with_head(const std::string& body) { return kHead + body; }
std::string entry(const std::string& code) {
  return with_head(".entry k() {\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" + code + "\nret; }\n");
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(PtxTokens, AreWordsDirectivesNumbersTextsAndMarks) {
  std::vector<std::string> texts;
  for (const PtxToken& token :
       ptx_tokens("@!%p1 ld.shared::cta.f32 %f1, [a$b+4]; // c\n.file 1 \"x.cu\" 0f3F80 1.5"))
    texts.emplace_back(token.text);
  EXPECT_THAT(texts, ElementsAre("@", "!", "%p1", "ld", ".shared::cta", ".f32", "%f1", ",", "[", "a$b", "+",
                                 "4", "]", ";", ".file", "1", "\"x.cu\"", "0f3F80", "1.5", ""));
}

TEST(PtxTokens, KnowTheirLines) {
  const auto tokens = ptx_tokens("a /* b\n\n */ c // d\n e \"f\n\" g");
  ASSERT_EQ(tokens.size(), 6u);
  EXPECT_EQ(tokens[0].line, 1);
  EXPECT_EQ(tokens[1].line, 3);
  EXPECT_EQ(tokens[2].line, 4);
  EXPECT_EQ(tokens[4].line, 5);
}

TEST(PtxTokens, AreRefusedWhereACommentDoesNotEnd) {
  EXPECT_THROW(ptx_tokens("a\n/* b"), std::runtime_error);
  EXPECT_THROW(ptx_tokens("a \"b"), std::runtime_error);
}

TEST(PtxForParts, GivesEachEntryOneMoreParameter) {
  const PartsPtx made = ptx_for_parts(with_head(kCalls));
  ASSERT_EQ(made.entries.size(), 2u);
  EXPECT_EQ(made.entries[0].name, "calls");
  EXPECT_THAT(made.entries[0].parameter_bytes, ElementsAre(8, 12));
  EXPECT_THAT(made.entries[1].parameter_bytes, IsEmpty());
  EXPECT_THAT(made.text, HasSubstr("shape[12], .param .align 4 .b8 __nuna_part[24])"));
  EXPECT_THAT(made.text, HasSubstr(".entry alone(.param .align 4 .b8 __nuna_part[24])"));
}

TEST(PtxForParts, ReadsBlocksFromWhatTheLaunchSays) {
  const PartsPtx made = ptx_for_parts(entry("mov.u32 %r1, %ctaid.y;\nadd.s32 %r2, %r1, %nctaid.x;"));
  EXPECT_THAT(made.text, HasSubstr("mov.u32 %r1, %nuna_block1;"));
  EXPECT_THAT(made.text, HasSubstr("add.s32 %r2, %r1, %nuna_grid0;"));
  EXPECT_THAT(made.text, HasSubstr("ld.param.b32 %nuna_block1, [__nuna_part+4];"));
  EXPECT_THAT(made.text, HasSubstr("ld.param.b32 %nuna_grid0, [__nuna_part+12];"));
  EXPECT_THAT(made.text, Not(HasSubstr("shared")));
}

TEST(PtxForParts, LeavesTheBlockForFunctionsThatAreCalled) {
  const PartsPtx made = ptx_for_parts(with_head(kCalls));
  EXPECT_THAT(made.text, HasSubstr("st.volatile.shared.b32 [__nuna_part_of_block+8], %nuna_block2;"));
  EXPECT_THAT(made.text, HasSubstr("ld.volatile.shared.b32 %nuna_block2, [__nuna_part_of_block+8];"));
  EXPECT_THAT(made.text, HasSubstr("mov.u32 %r1, %nuna_block2;"));
  EXPECT_LT(made.text.find(".shared .align 4 .b8 __nuna_part_of_block[24];"), made.text.find(".func"));
  // Of the two entries the one that calls.
  EXPECT_EQ(count(made.text, "st.volatile.shared.b32"), 6u);
}

TEST(PtxForParts, LeavesCommentsAndOtherTextAsTheyAre) {
  const PartsPtx made = ptx_for_parts(with_head(kCalls));
  EXPECT_THAT(made.text, HasSubstr("// %ctaid.x in a comment; /* so here */"));
  EXPECT_THAT(made.text, HasSubstr("/* %gridid */"));
  const std::string plain = with_head(".func f() { ret; }\n.global .b8 x[4];\n");
  EXPECT_EQ(ptx_for_parts(plain).text, plain);
}

TEST(PtxForParts, TellsVariablesWithTheirBytes) {
  const PartsPtx made = ptx_for_parts(with_head(kCalls));
  EXPECT_THAT(made.variables, ElementsAre(PtxVariable{"counter", 4}, PtxVariable{"weights", 16},
                                          PtxVariable{"shown", 4}, PtxVariable{"table", 16}));
  EXPECT_THAT(made.text, Not(HasSubstr(".managed")));
}

TEST(PtxForParts, RefusesByNameWhatDependsOnTheGridOtherwise) {
  const auto refusal = [](const std::string& code) {
    return ptx_for_parts(entry(code)).entries.front().refusal;
  };
  EXPECT_EQ(refusal("mov.u32 %r1, %ctaid.x;"), "");
  EXPECT_EQ(refusal("mov.u64 %rd1, %gridid;"), "line 7: %gridid");
  EXPECT_EQ(refusal("mov.u32 %r1, %envreg2;"), "line 7: %envreg2");
  EXPECT_EQ(refusal("mov.u32 %r1, %clusterid.x;"), "line 7: %clusterid");
  EXPECT_EQ(refusal("mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid;"), "line 7: %ctaid as a vector");
  EXPECT_EQ(refusal("mov.u16 %r1, %nctaid.x;"), "line 7: %nctaid read as .u16");
  EXPECT_EQ(ptx_for_parts(with_head(".entry k() .reqnctapercluster 2 { ret; }")).entries.front().refusal,
            "line 4: .reqnctapercluster");
}

TEST(PtxForParts, RefusesEntriesThatCallAFunctionThatIsRefused) {
  const PartsPtx made =
      ptx_for_parts(with_head(".func f() { .reg .b64 %rd; mov.u64 %rd, %gridid; ret; }\n.entry a() { call f; "
                              "ret; }\n.entry b() { ret; }"));
  EXPECT_EQ(made.entries[0].refusal, "line 4: %gridid");
  EXPECT_EQ(made.entries[1].refusal, "");
  EXPECT_THAT(made.text, HasSubstr(".entry a() {"));
}

TEST(PtxForParts, RefusesTextThatIsNone) {
  EXPECT_THROW(ptx_for_parts("int main() {}"), std::runtime_error);
  EXPECT_THROW(ptx_for_parts(with_head(".entry k() { ret;")), std::runtime_error);
  EXPECT_THROW(ptx_for_parts(with_head(".entry __nuna_part() { ret; }")), std::runtime_error);
}

/// ptxas and nvcc, of a toolkit that the build has found.
class OfToolkit : public testing::Test {
 protected:
  void SetUp() override {
    if (toolkit_.empty()) GTEST_SKIP() << "there is no NVIDIA toolkit: ptxas does not judge";
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void expect_taken(const std::string& text) const {
    std::ofstream(folder_ / "parts.ptx") << text;
    EXPECT_TRUE(runs("ptxas -arch=sm_80 -o /dev/null " + (folder_ / "parts.ptx").string())) << text;
  }
  /// What nvcc makes of a program of tests/compiler/gpu.
  std::string compiled(const std::string& program, const std::string& options) const {
    const std::string to = (folder_ / "nvcc.ptx").string();
    EXPECT_TRUE(runs("nvcc -ptx -arch=compute_80 -std=c++17 --extended-lambda -w " + options + " -o " + to +
                     " " + NUNA_TEST_CUDA_SOURCES "/" + program));
    std::ifstream file(to);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  bool runs(const std::string& command) const { return std::system((toolkit_ / command).c_str()) == 0; }

  const std::filesystem::path toolkit_ = std::filesystem::path(NUNA_TEST_PTXAS).parent_path();
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("nuna_ptx_" + std::to_string(getpid()));
};

TEST_F(OfToolkit, PtxasTakesWhatIsMade) {
  expect_taken(ptx_for_parts(with_head(kCalls)).text);
  expect_taken(ptx_for_parts(entry("mov.u32 %r1, %ctaid.y; cvt.u64.u32 %rd1, %nctaid.z;")).text);
}

TEST_F(OfToolkit, PtxasTakesWhatIsMadeOfNvccsText) {
  for (const char* options : {"-O3", "-lineinfo", "-G"}) {
    const PartsPtx made = ptx_for_parts(compiled("parts.cu", options));
    EXPECT_GT(made.entries.size(), 10u);
    for (const auto& each : made.entries) EXPECT_EQ(each.refusal, "") << each.name << options;
    expect_taken(made.text);
  }
}

TEST_F(OfToolkit, GridsThatSynchroniseAreRefused) {
  const PartsPtx made = ptx_for_parts(compiled("host.cu", "-O3"));
  for (const auto& each : made.entries)
    EXPECT_EQ(each.refusal.empty(), each.name != "_Z7in_turnPii") << each.name;
  expect_taken(made.text);
}

TEST(NameOfBoth, IsTheSameForBothCompilers) {
  EXPECT_EQ(name_of_both("_ZL4fillPf"), name_of_both("_Z4fillPf"));
  EXPECT_EQ(name_of_both("_ZN12_GLOBAL__N_14anonEPf"),
            name_of_both("_ZN36_GLOBAL__N__b5d337d9_4_a_cu_305b0ee34anonEPf"));
  EXPECT_EQ(name_of_both("_ZL7counter"), "counter");
  EXPECT_EQ(name_of_both("_ZN34_INTERNAL_b5d337d9_4_a_cu_305b0ee37counterE"), "counter");
  EXPECT_EQ(
      name_of_both("_ZN12_GLOBAL__N_14coefE"),
      name_of_both("_ZN34_INTERNAL_b5d337d9_4_a_cu_305b0ee336_GLOBAL__N__b5d337d9_4_a_cu_305b0ee34coefE"));
  EXPECT_EQ(name_of_both("_Z5applyIN12_GLOBAL__N_16NegateES1_EvPiT_"),
            name_of_both("_Z5applyIN40_GLOBAL__N__9cd6bbec_8_parts_cu_b83a4fea6NegateES1_EvPiT_"));
  EXPECT_EQ(name_of_both("_Z1fI2x1N12_GLOBAL__N_16NegateEEvv"),
            name_of_both("_Z1fI2x1N40_GLOBAL__N__9cd6bbec_8_parts_cu_b83a4fea6NegateEEvv"));
  EXPECT_EQ(name_of_both("_ZN1n1mL3addEi"), name_of_both("_ZN1n1m3addEi"));
}

TEST(NameOfBoth, TellsDifferentThingsApart) {
  EXPECT_NE(name_of_both("_Z4fillPf"), name_of_both("_Z4fillPd"));
  EXPECT_NE(name_of_both("_Z4fillv"), name_of_both("fill"));
  EXPECT_NE(name_of_both("_ZN1n4fillEv"), name_of_both("_Z4fillv"));
  EXPECT_EQ(name_of_both("_Z3sumIiLi4EEvPT_"), "_Z3sumIiLi4EEvPT_");
  EXPECT_EQ(name_of_both("plain"), "plain");
}

}  // namespace
}  // namespace nuna::cudart
