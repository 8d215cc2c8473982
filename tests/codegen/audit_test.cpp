#include "codegen/audit.hpp"
#include "codegen/parsed.hpp"

#include <gmock/gmock.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "nuna_cudart/image.h"

namespace nuna::compiler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr unsigned kLine = 7;

/// A kernel k with the given body; arguments %p (ptr), %n (i64) and %s, the address of a struct; @shared is __shared__, @table a
/// constant.
class AuditTest : public testing::Test {
 protected:
  /// What is told before what: the kind, the bytes, and the instruction behind the call.
  struct Told {
    std::uint64_t kind;
    std::string bytes;
    std::string before;
  };
  std::vector<Told> told(const std::string& body) {
    const std::string text = R"(
@shared = global [64 x i32] undef
@table = private constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@variable = global i32 0
declare ptr @__nuna_dynamic_shared() memory(none)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @k(ptr %p, i64 %n, ptr "nuna.by_reference" %s) !dbg !3 {
)" + body + R"( ret void
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k.cu", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "k", file: !1, line: 1, unit: !0, spFlags: DISPFlagDefinition)
!4 = !DILocation(line: 7, scope: !3)
)";
    DeviceModule device;
    device.module = parsed(text, context_);
    device.shared.push_back({device.module->getNamedGlobal("shared")});
    tell_of_accesses(device);
    EXPECT_FALSE(llvm::verifyModule(*device.module, &llvm::errs()));
    std::vector<Told> all;
    for (auto& instruction : llvm::instructions(*device.module->getFunction("k"))) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call == nullptr || call->getCalledFunction()->getName() != "__nuna_audit") continue;
      const auto* line = llvm::cast<llvm::ConstantInt>(call->getArgOperand(4));
      EXPECT_EQ(kLine, line->getZExtValue());
      const auto* next = call->getNextNonDebugInstruction();
      while (llvm::isa<llvm::CallInst>(next) &&
             llvm::cast<llvm::CallInst>(next)->getCalledFunction() == call->getCalledFunction())
        next = next->getNextNonDebugInstruction();
      EXPECT_TRUE(call->hasOneUse() && call->user_back() == next) << "it does not go where it is told";
      all.push_back({llvm::cast<llvm::ConstantInt>(call->getArgOperand(2))->getZExtValue(),
                     text_of(*call->getArgOperand(1)), next->getOpcodeName()});
    }
    return all;
  }

 private:
  static std::string text_of(const llvm::Value& value) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    value.printAsOperand(stream);
    return text;
  }

  llvm::LLVMContext context_;
};

MATCHER_P3(Tells, kind, bytes, before, "") {
  return arg.kind == static_cast<std::uint64_t>(kind) && arg.bytes == bytes && arg.before == before;
}

TEST_F(AuditTest, LoadsAndStoresAreToldBeforeTheyHappen) {
  EXPECT_THAT(
      told("%v = load i32, ptr %p, !dbg !4\n store i8 1, ptr %p, !dbg !4\n"),
      ElementsAre(Tells(NUNA_AUDIT_READ, "i64 4", "load"), Tells(NUNA_AUDIT_WRITE, "i64 1", "store")));
}

TEST_F(AuditTest, AtomicsAreAKindOfTheirOwn) {
  EXPECT_THAT(
      told("%v = atomicrmw add ptr %p, i64 1 monotonic, !dbg !4\n"
           "%w = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic, !dbg !4\n"
           "%x = load atomic i32, ptr %p monotonic, align 4, !dbg !4\n"),
      ElementsAre(Tells(NUNA_AUDIT_ATOMIC, "i64 8", "atomicrmw"),
                  Tells(NUNA_AUDIT_ATOMIC, "i64 4", "cmpxchg"), Tells(NUNA_AUDIT_ATOMIC, "i64 4", "load")));
}

TEST_F(AuditTest, CopiesAreAReadAndAWriteOfTheirLength) {
  EXPECT_THAT(told("%q = getelementptr i8, ptr %p, i64 64\n"
                   "call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 %n, i1 false), !dbg !4\n"
                   "call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 16, i1 false), !dbg !4\n"),
              ElementsAre(Tells(NUNA_AUDIT_READ, "i64 %n", "call"), Tells(NUNA_AUDIT_WRITE, "i64 %n", "call"),
                          Tells(NUNA_AUDIT_WRITE, "i64 16", "call")));
}

TEST_F(AuditTest, MemoryOfThreadsBlocksAndTheCodeIsLeftOut) {
  EXPECT_THAT(told("%a = alloca i32\n store i32 1, ptr %a, !dbg !4\n"
                   "store i32 1, ptr @shared, !dbg !4\n"
                   "%d = call ptr @__nuna_dynamic_shared()\n store i32 1, ptr %d, !dbg !4\n"
                   "%t = load i32, ptr @table, !dbg !4\n %f = load i32, ptr %s, !dbg !4\n"
                   "%e = select i1 true, ptr %a, ptr @shared\n store i32 %t, ptr %e, !dbg !4\n"),
              IsEmpty());
}

TEST_F(AuditTest, VariablesAndPointersThatMayLeadAnywhereAreTold) {
  EXPECT_THAT(
      told("store i32 1, ptr @variable, !dbg !4\n"
           "%c = icmp eq i64 %n, 0\n %e = select i1 %c, ptr %p, ptr @shared\n"
           "store i32 1, ptr %e, !dbg !4\n"),
      ElementsAre(Tells(NUNA_AUDIT_WRITE, "i64 4", "store"), Tells(NUNA_AUDIT_WRITE, "i64 4", "store")));
}

}  // namespace
}  // namespace nuna::compiler
