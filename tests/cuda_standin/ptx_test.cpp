// The parser and decoder, and instructions that the compiler writes seldom, in hand-written PTX.

#include <bit>
#include <cstring>

#include "ptx/decoder.hpp"
#include "ptx/image.hpp"
#include "test_card.hpp"

namespace standin {
namespace {

std::string text_with(const std::string& body) {
  return ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
         ".reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<5>; .reg .b16 %h<5>; .reg .f32 %f<9>;\n"
         "ld.param.u64 %d1, [out];\n" +
         body + "\nret;\n}\n";
}

std::string complaint_of(const std::string& text) {
  try {
    ptx::decode(ptx::parse(text), {});
  } catch (const ptx::Error& error) {
    return error.what();
  }
  return "";
}

class PtxTest : public CardTest {
 protected:
  /// What 32 threads (or fewer) leave in 64 words.
  std::vector<unsigned> run(const std::string& body, unsigned threads = 1) {
    const std::string text = text_with(body);
    CUmodule module = nullptr;
    EXPECT_OK(cuModuleLoadData(&module, text.c_str()));
    if (module == nullptr) return std::vector<unsigned>(64);
    CUfunction function = nullptr;
    EXPECT_OK(cuModuleGetFunction(&function, module, "k"));
    Array<unsigned> out(64);
    void* arguments[] = {&out.address};
    EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT_OK(cuCtxSynchronize());
    auto values = out.values();
    EXPECT_OK(cuModuleUnload(module));
    return values;
  }
};

TEST(PtxErrorTest, NamesTheInstructionAndTheLine) {
  EXPECT_EQ("PTX line 8: instruction 'wmma.load': not known", complaint_of(text_with("wmma.load %r1;")));
  EXPECT_EQ("PTX line 8: instruction 'add.sideways.u32': '.sideways' is not known",
            complaint_of(text_with("add.sideways.u32 %r1, %r2, %r3;")));
  EXPECT_EQ("PTX line 8: instruction 'add.pred' has a type that is not known",
            complaint_of(text_with("add.pred %p1, %p2, %p3;")));
  EXPECT_NE("", complaint_of(text_with("bra nowhere;")));
  EXPECT_NE("", complaint_of(text_with("mov.u32 %r1, nothing;")));
  EXPECT_NE("", complaint_of(text_with("call (out), nothing;")));
  EXPECT_NE("", complaint_of(text_with("add.u32 %r1, %r2;")));
  EXPECT_NE("", complaint_of("nonsense"));
  EXPECT_NE("", complaint_of(".version 9.0 .visible .entry k() {"));
  EXPECT_EQ("", complaint_of(text_with("")));
}

TEST_F(PtxTest, RefusesModulesItCannotRun) {
  CUmodule module = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, text_with("wmma.load %r1;").c_str()));
}

TEST_F(PtxTest, BranchesByIndex) {
  const auto values =
      run("mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
          "table: .branchtargets A, B, C;\n"
          "rem.u32 %r2, %r1, 3;\n"
          "brx.idx %r2, table;\n"
          "A: mov.u32 %r3, 10; bra.uni E;\n"
          "B: mov.u32 %r3, 20; bra.uni E;\n"
          "C: mov.u32 %r3, 30;\n"
          "E: st.global.u32 [%d3], %r3;",
          6);
  EXPECT_EQ((std::vector<unsigned>{10, 20, 30, 10, 20, 30}),
            std::vector<unsigned>(values.begin(), values.begin() + 6));
}

TEST_F(PtxTest, GuardsInstructions) {
  const auto values =
      run("mov.u32 %r1, 5; setp.gt.and.s32 %p1|%p2, %r1, 3, 1;\n"
          "@%p1 st.global.u32 [%d1], 1; @!%p1 st.global.u32 [%d1+4], 2; @%p2 st.global.u32 [%d1+8], 3;\n"
          "selp.u32 %r2, 7, 8, !%p1; st.global.u32 [%d1+12], %r2;");
  EXPECT_EQ((std::vector<unsigned>{1, 0, 0, 8}), std::vector<unsigned>(values.begin(), values.begin() + 4));
}

TEST_F(PtxTest, WorksOnFieldsOfBits) {
  const auto v =
      run("mov.u32 %r1, 0xF0A5C312;\n"
          "bfe.u32 %r2, %r1, 4, 8; st.global.u32 [%d1], %r2;\n"
          "bfe.s32 %r2, %r1, 24, 8; st.global.u32 [%d1+4], %r2;\n"
          "bfi.b32 %r2, 0x3C, %r1, 8, 8; st.global.u32 [%d1+8], %r2;\n"
          "popc.b32 %r2, %r1; st.global.u32 [%d1+12], %r2;\n"
          "clz.b32 %r2, 0x00F00000; st.global.u32 [%d1+16], %r2;\n"
          "brev.b32 %r2, %r1; st.global.u32 [%d1+20], %r2;\n"
          "prmt.b32 %r2, %r1, 0x44332211, 0x5140; st.global.u32 [%d1+24], %r2;\n"
          "lop3.b32 %r2, %r1, 0xFF00FF00, 0x12345678, 0xCA; st.global.u32 [%d1+28], %r2;\n"
          "shf.l.wrap.b32 %r2, %r1, 0x12345678, 8; st.global.u32 [%d1+32], %r2;\n"
          "bfind.u32 %r2, %r1; st.global.u32 [%d1+36], %r2;\n"
          "shl.b32 %r2, %r1, 40; st.global.u32 [%d1+40], %r2;\n"
          "shr.s32 %r2, %r1, 40; st.global.u32 [%d1+44], %r2;");
  EXPECT_EQ(0x31u, v[0]);
  EXPECT_EQ(0xfffffff0u, v[1]);
  EXPECT_EQ(0xF0A53C12u, v[2]);
  EXPECT_EQ(14u, v[3]);
  EXPECT_EQ(8u, v[4]);
  EXPECT_EQ(0x48c3a50fu, v[5]);
  EXPECT_EQ(0x22c31112u, v[6]);
  EXPECT_EQ((0xF0A5C312u & 0xFF00FF00u) | (~0xF0A5C312u & 0x12345678u), v[7]);
  EXPECT_EQ(0x345678F0u, v[8]);
  EXPECT_EQ(31u, v[9]);
  EXPECT_EQ(0u, v[10]);
  EXPECT_EQ(0xffffffffu, v[11]);
}

TEST_F(PtxTest, MultipliesHalvesByBytes) {
  const auto values =
      run("mov.u32 %r1, 0xfffe0003; mov.u32 %r2, 0xff04f005;\n"
          "dp2a.lo.u32.u32 %r3, %r1, %r2, 7; st.global.u32 [%d1], %r3;\n"
          "dp2a.hi.s32.u32 %r3, %r1, %r2, 7; st.global.u32 [%d1+4], %r3;\n"
          "dp2a.hi.u32.s32 %r3, %r1, %r2, 7; st.global.u32 [%d1+8], %r3;\n");
  EXPECT_EQ(values[0], 7u + 3 * 0x05 + 0xfffeu * 0xf0);
  EXPECT_EQ(values[1], static_cast<unsigned>(7 + 3 * 4 - 2 * 0xff));
  EXPECT_EQ(values[2], static_cast<unsigned>(7 + 3 * 4 - 0xfffe));
}

TEST_F(PtxTest, CarriesBetweenWords) {
  const auto v =
      run("mov.u32 %r1, 0xFFFFFFFF; mov.u32 %r2, 2;\n"
          "add.cc.u32 %r3, %r1, %r2; addc.u32 %r4, %r2, 0; st.global.v2.u32 [%d1], {%r3, %r4};\n"
          "sub.cc.u32 %r3, %r2, %r1; subc.u32 %r4, %r2, 0; st.global.v2.u32 [%d1+8], {%r3, %r4};\n"
          "mad.lo.cc.u32 %r3, %r1, %r1, %r2; madc.hi.u32 %r4, %r1, %r1, 0; st.global.v2.u32 [%d1+16], {%r3, "
          "%r4};");
  EXPECT_EQ((std::vector<unsigned>{1, 3, 3, 1}), std::vector<unsigned>(v.begin(), v.begin() + 4));
  const std::uint64_t product = 0xFFFFFFFFull * 0xFFFFFFFFull + 2;
  EXPECT_EQ(static_cast<unsigned>(product), v[4]);
  EXPECT_EQ(static_cast<unsigned>(product >> 32), v[5]);
}

TEST_F(PtxTest, PacksAndUnpacks) {
  const auto v =
      run("mov.b64 %d2, {0x11223344, 0x55667788}; mov.b64 {%r1, %r2}, %d2; st.global.u64 [%d1], %d2;\n"
          "st.global.u32 [%d1+8], %r2; mov.b32 {%h1, %h2}, %r1; mov.b32 %r3, {%h2, %h1}; st.global.u32 "
          "[%d1+12], %r3;\n"
          "{ .reg .b16 %h1; mov.u16 %h1, 9; st.global.u16 [%d1+16], %h1; } st.global.u16 [%d1+18], %h1;");
  EXPECT_EQ((std::vector<unsigned>{0x11223344, 0x55667788, 0x55667788, 0x33441122, 0x33440009}),
            std::vector<unsigned>(v.begin(), v.begin() + 5));
}

TEST_F(PtxTest, ReachesBlockMemoryByGenericAddresses) {
  const auto v =
      run(".shared .align 4 .b8 s[16]; .local .align 4 .b8 l[16];\n"
          "cvta.shared.u64 %d2, s; st.u32 [%d2+4], 11; ld.shared.u32 %r1, [s+4]; st.global.u32 [%d1], %r1;\n"
          "mov.u64 %d3, l; cvta.local.u64 %d4, %d3; st.u32 [%d4+8], 12; ld.local.u32 %r1, [l+8];\n"
          "st.u32 [%d1+4], %r1; isspacep.shared %p1, %d2; isspacep.local %p2, %d2;\n"
          "selp.u32 %r2, 1, 0, %p1; selp.u32 %r3, 1, 0, %p2; st.u32 [%d1+8], %r2; st.u32 [%d1+12], %r3;\n"
          "ld.shared.u32 %r1, [s+8]; st.u32 [%d1+16], %r1;");
  EXPECT_EQ((std::vector<unsigned>{11, 12, 1, 0, 0xffffffff}),
            std::vector<unsigned>(v.begin(), v.begin() + 5));
}

TEST_F(PtxTest, SharesVariablesOfTheModuleWithFunctionsThatAreCalled) {
  const std::string text =
      ".version 9.0\n.target sm_75\n.address_size 64\n.shared .align 4 .b8 own[64];\n.shared .align 4 .b32 "
      "left;\n"
      ".func (.param .b32 result) taken()\n{\n.reg .b32 %r<3>;\nld.volatile.shared.b32 %r1, [left];\n"
      "st.param.b32 [result], %r1;\nret;\n}\n"
      ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %d<3>;\nld.param.u64 %d1, [out];\n"
      "mov.u32 %r1, %ctaid.x;\nst.shared.b32 [own+4], 99;\nst.volatile.shared.b32 [left+0], %r1;\n"
      "{ .param .b32 back; call (back), taken, (); ld.param.b32 %r2, [back]; }\n"
      "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\nst.global.b32 [%d1], %r2;\nret;\n}\n";
  CUmodule module = nullptr;
  ASSERT_OK(cuModuleLoadData(&module, text.c_str()));
  CUfunction function = nullptr;
  ASSERT_OK(cuModuleGetFunction(&function, module, "k"));
  Array<unsigned> out(8);
  void* arguments[] = {&out.address};
  ASSERT_OK(cuLaunchKernel(function, 8, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  const auto values = out.values();
  for (unsigned block = 0; block < 8; ++block) EXPECT_EQ(values[block], block);
  EXPECT_OK(cuModuleUnload(module));
}

TEST_F(PtxTest, ComputesWithHalves) {
  const auto v =
      run("mov.f32 %f1, 0f3FC00000; cvt.rn.f16.f32 %h1, %f1; fma.rn.f16 %h2, %h1, %h1, %h1; cvt.f32.f16 %f2, "
          "%h2;\n"
          "st.global.f32 [%d1], %f2; cvt.rn.f16.f32 %h3, 0f477FE100; st.global.u16 [%d1+4], %h3;\n"
          "setp.lt.f16 %p1, %h1, %h2; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%d1+8], %r1;");
  EXPECT_EQ(3.75f, std::bit_cast<float>(v[0]));
  EXPECT_EQ(0x7bffu, v[1]);
  EXPECT_EQ(1u, v[2]);
}

/// A fat binary with one entry of PTX text.
std::vector<unsigned char> fat_binary(const std::string& text, unsigned architecture, std::uint64_t flags) {
  std::vector<unsigned char> bytes(16 + 64 + text.size() + 1);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(&bytes[at], &value, sizeof value); };
  put(0, 0xba55ed50u), put(4, std::uint16_t{1}), put(6, std::uint16_t{16}),
      put(8, std::uint64_t{bytes.size() - 16});
  put(16, std::uint16_t{1}), put(20, 64u), put(24, std::uint64_t{text.size() + 1}), put(44, architecture);
  put(56, flags);
  std::memcpy(&bytes[80], text.c_str(), text.size());
  return bytes;
}

TEST(ImageTest, TakesPtxFromFatBinaries) {
  std::string complaint;
  auto image = fat_binary("hello", 75, 0x11);
  struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* data;
    const void* none = nullptr;
  } wrapper{.data = image.data()};
  EXPECT_EQ("hello", ptx::text_of_image(&wrapper, 90, complaint));
  EXPECT_EQ("hello", ptx::text_of_image(image.data(), 75, complaint));
  EXPECT_EQ(std::nullopt, ptx::text_of_image(image.data(), 70, complaint));
  EXPECT_NE(std::string::npos, complaint.find("compute_75"));
  image = fat_binary("hello", 75, 0x8011);
  EXPECT_EQ(std::nullopt, ptx::text_of_image(image.data(), 90, complaint));
  EXPECT_NE(std::string::npos, complaint.find("--no-compress"));
  EXPECT_EQ(std::nullopt, ptx::text_of_image("\x7f"
                                             "ELF",
                                             90, complaint));
}

}  // namespace
}  // namespace standin
