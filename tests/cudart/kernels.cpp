#include "cudart/kernels.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "driver_types.h"

namespace cudart_test {

std::atomic<long> counted{0};
int appended[kMostAppended];
std::atomic<int> appended_count{0};
std::mutex added_mutex;
std::set<const float*> added;
float device_variable[16];
int* managed_pointer = nullptr;
std::uint64_t texture_handle = 0;
textureReference texture_reference{};

namespace {

int managed_value = 42;

template <class T>
T argument(const nuna_block_call* call, int number) {
  T value;
  std::memcpy(&value, call->arguments[number], sizeof value);
  return value;
}

template <class Each>
void for_blocks(const nuna_block_call* call, Each each) {
  for (std::uint32_t z = call->first[2]; z < call->last[2]; ++z)
    for (std::uint32_t y = call->first[1]; y < call->last[1]; ++y)
      for (std::uint32_t x = call->first[0]; x < call->last[0]; ++x) {
        const std::uint32_t index[] = {x, y, z};
        std::copy(index, index + 3, call->block_index);
        each((std::size_t{z} * call->grid[1] + y) * call->grid[0] + x);
      }
}

void run_add(const nuna_block_call* call) {
  auto* const data = argument<float*>(call, 0);
  {
    const std::lock_guard lock(added_mutex);
    added.insert(data);
  }
  const auto count = static_cast<std::size_t>(argument<int>(call, 1));
  const auto value = argument<float>(call, 2);
  for_blocks(call, [&](std::size_t block) {
    for (std::size_t t = 0; t < call->block[0]; ++t) {
      const std::size_t i = block * call->block[0] + t;
      if (i < count) data[i] += value;
    }
  });
}
// As code of nunacc --audit does `add`. `beyond` the count by that, but for the first element of block `without`.
void tell_and_add(const nuna_block_call* call, std::size_t beyond, std::size_t without) {
  auto* const data = argument<float*>(call, 0);
  const auto count = static_cast<std::size_t>(argument<int>(call, 1));
  for_blocks(call, [&](std::size_t block) {
    for (std::size_t t = block == without ? 1 : 0; t < call->block[0]; ++t) {
      const std::size_t i = block * call->block[0] + t;
      if (i >= count + beyond) continue;
      const std::uint32_t line = i < count ? 3 : 5;
      __nuna_audit(&data[i], sizeof(float), NUNA_AUDIT_READ, "add.cu", line);
      __nuna_audit(&data[i], sizeof(float), NUNA_AUDIT_WRITE, "add.cu", line);
      data[i] += argument<float>(call, 2);
    }
  });
}
constexpr std::size_t kNoBlock = ~std::size_t{0};
void run_told(const nuna_block_call* call) { tell_and_add(call, 0, kNoBlock); }
void run_told_beyond(const nuna_block_call* call) { tell_and_add(call, 1, kNoBlock); }
void run_told_short(const nuna_block_call* call) { tell_and_add(call, 0, 1); }
void run_count(const nuna_block_call* call) {
  for_blocks(call, [](std::size_t) { counted.fetch_add(1); });
}
void run_empty(const nuna_block_call*) {}
void run_append(const nuna_block_call* call) {
  const int at = appended_count.fetch_add(1);
  if (at < kMostAppended) appended[at] = argument<int>(call, 0);
}
void run_wide(const nuna_block_call* call) {
  for (int a = 0; a < 20; ++a) counted.fetch_add(argument<int>(call, a));
}
void run_mark(const nuna_block_call* call) {
  auto* const marks = argument<int*>(call, 0);
  for_blocks(call, [&](std::size_t block) { marks[block] += 1; });
}
void run_sleep(const nuna_block_call* call) {
  std::this_thread::sleep_for(std::chrono::milliseconds(argument<int>(call, 0)));
}
void run_meet(const nuna_block_call* call) {
  auto* const counts = argument<std::atomic<int>*>(call, 0);
  const auto blocks = static_cast<int>(call->grid[0]);
  for_blocks(call, [&](std::size_t) {
    for (int round = 0; round < argument<int>(call, 1); ++round) {
      counts[round].fetch_add(1);
      __nuna_grid_barrier();
      if (counts[round].load() % blocks != 0) __nuna_end_kernel(cudaErrorUnknown);
    }
  });
}
void run_assert(const nuna_block_call* call) {
  for_blocks(call, [](std::size_t block) {
    if (block == 3) __nuna_end_kernel(cudaErrorAssert);
    counted.fetch_add(1);
  });
}

// NOLINTBEGIN(performance-no-int-to-ptr): that is what they are about
volatile int* wild(std::uintptr_t address) { return reinterpret_cast<volatile int*>(address); }

[[gnu::noinline]] int recurse(volatile int* depth) {
  volatile int frame[1000];
  frame[*depth % 1000] = *depth;
  *depth = *depth + 1;
  return *depth > 0 ? recurse(depth) + frame[0] : 0;
}

void misdo(Misdeed misdeed) {
  volatile int zero = 0;
  switch (misdeed) {
    case Misdeed::write_null:
      *wild(0x10) = 1;
      break;
    case Misdeed::read_null:
      zero = *wild(0x20);
      break;
    case Misdeed::stray:
      *wild(0x1234'5678'9abc'def0) = 1;
      break;
    case Misdeed::divide:
      zero = 7 / zero;
      break;
    case Misdeed::recurse:
      zero = recurse(&zero);
      break;
    case Misdeed::call_nothing: {
      const auto volatile nothing = reinterpret_cast<void (*)()>(std::uintptr_t{0x40});
      nothing();
      break;
    }
    case Misdeed::no_instruction:
      asm volatile("ud2");
  }
}
// NOLINTEND(performance-no-int-to-ptr)

void run_misdo(const nuna_block_call* call) {
  for_blocks(call, [&](std::size_t block) {
    if (block == 3) misdo(argument<Misdeed>(call, 0));
  });
}
void run_astray(const nuna_block_call* call) {
  run_add(call);
  misdo(Misdeed::read_null);
}

constexpr std::uint64_t kFixedBytes = 1024;
constexpr std::uint64_t kThreadBytes = 8;
void run_shared(const nuna_block_call* call) {
  const std::uint64_t threads =
      (std::uint64_t{call->block[0]} * call->block[1] * call->block[2] + 63) / 64 * 64;
  std::memset(call->scratch, 0x5a, kFixedBytes + threads * kThreadBytes + call->dynamic_shared_bytes);
  if (reinterpret_cast<std::uintptr_t>(call->scratch) % 64 != 0)
    __nuna_end_kernel(cudaErrorMisalignedAddress);
  for_blocks(call, [](std::size_t) { counted.fetch_add(1); });
}

constexpr std::uint32_t kAddBytes[] = {8, 4, 4};
constexpr std::uint32_t kOneInt[] = {4};
constexpr std::uint32_t kOnePointer[] = {8};
constexpr std::uint32_t kPointerAndInt[] = {8, 4};
constexpr std::uint32_t kWideBytes[] = {16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
                                        16, 16, 16, 16, 16, 16, 16, 16, 16, 16};

// What nunacc says of `add` (access/kernel_model.hpp): data[blockIdx.x * blockDim.x + threadIdx.x] where that is below count.
#define SIZES                                                                              \
  R"({"kind":"block size","axis":0,"argument":0,"offset":0,"bytes":4,"is_signed":false},)" \
  R"({"kind":"block size","axis":1,"argument":0,"offset":0,"bytes":4,"is_signed":false},)" \
  R"({"kind":"block size","axis":2,"argument":0,"offset":0,"bytes":4,"is_signed":false},)" \
  R"({"kind":"grid size","axis":0,"argument":0,"offset":0,"bytes":4,"is_signed":false},)"  \
  R"({"kind":"grid size","axis":1,"argument":0,"offset":0,"bytes":4,"is_signed":false},)"  \
  R"({"kind":"grid size","axis":2,"argument":0,"offset":0,"bytes":4,"is_signed":false},)"
#define ADD_ACCESS(kind)                                                                                    \
  R"({"kind":")" kind R"(","pointer":0,"bytes":4,"extra":0,"exact":true,"at":{"file":"add.cu","line":3},)"  \
  R"("first_byte":[{"factor":4,"parameters":[0],"variable":0},{"factor":4,"parameters":[],"variable":3}],)" \
  R"("domain":[{"is_equality":false,"left":[{"factor":1,"parameters":[6],"variable":-1},)"                  \
  R"({"factor":-1,"parameters":[0],"variable":0},{"factor":-1,"parameters":[],"variable":3},)"              \
  R"({"factor":-1,"parameters":[],"variable":-1}]}]})"
constexpr char kAddModel[] =
    R"({"name":"add","parameters":[)" SIZES
    R"({"kind":"scalar","axis":0,"argument":1,"offset":0,"bytes":4,"is_signed":true}],)"
    R"("pointers":[{"argument":0,"offset":0,"variable":""}],"accesses":[)" ADD_ACCESS("read") "," ADD_ACCESS(
        "write") R"(],"assumptions":[],"refusals":[],"prints":false,"work":[]})";
#undef ADD_ACCESS
#undef SIZES

// `add` for GPUs.
constexpr char kPtx[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 data, .param .u32 count, .param .f32 value)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<5>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	ld.param.u32 %r5, [count];
	setp.ge.s32 %p1, %r4, %r5;
	@%p1 bra $L_end;
	ld.param.u64 %rd1, [data];
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.s32 %rd3, %r4, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.f32 %f1, [%rd4];
	ld.param.f32 %f2, [value];
	add.f32 %f3, %f1, %f2;
	st.global.f32 [%rd4], %f3;
$L_end:
	ret;
}
)";

const nuna_kernel kKernels[] = {
    {"add", run_add, kAddBytes, 3, 0, 0, 1024, 0, 0, kAddModel},
    {"count", run_count, nullptr, 0, 0, 0, 1024, 0, 0},
    {"empty", run_empty, nullptr, 0, 0, 0, 1024, 0, 0},
    {"append", run_append, kOneInt, 1, 0, 0, 1024, 0, 0},
    {"wide", run_wide, kWideBytes, 20, 0, 0, 1024, 0, 0},
    {"mark", run_mark, kOnePointer, 1, 0, 0, 1024, 0, 0},
    {"sleep", run_sleep, kOneInt, 1, 0, 0, 1024, 0, 0},
    {"assert", run_assert, nullptr, 0, 0, 0, 1024, 0, 0},
    {"shared", run_shared, nullptr, 0, 0, 1000, 1024, kFixedBytes, kThreadBytes},
    {"small", run_count, nullptr, 0, 0, 0, 64, 0, 0},
    {"narrow", run_count, nullptr, 0, NUNA_KERNEL_31_BIT_INDICES, 0, 1024, 0, 0},
    {"meet", run_meet, kPointerAndInt, 2, 0, 0, 1024, 0, 0},
    {"told", run_told, kAddBytes, 3, NUNA_KERNEL_AUDITED, 0, 1024, 0, 0, kAddModel},
    {"told_beyond", run_told_beyond, kAddBytes, 3, NUNA_KERNEL_AUDITED, 0, 1024, 0, 0, kAddModel},
    {"told_short", run_told_short, kAddBytes, 3, NUNA_KERNEL_AUDITED, 0, 1024, 0, 0, kAddModel},
    {"misdo", run_misdo, kOneInt, 1, 0, 0, 1024, 0, 0},
    {"_Z6astrayPfif", run_astray, kAddBytes, 3, 0, 0, 1024, 0, 0, kAddModel},
};
const nuna_kernel kFutureKernels[] = {{"future", run_empty, nullptr, 0, 0, 0, 1024, 0, 0}};
const nuna_kernel kLinkedKernels[] = {{"linked", run_count, nullptr, 0, 0, 0, 1024, 0, 0}};
const nuna_variable kVariables[] = {{"variable", device_variable, sizeof device_variable},
                                    {"managed", &managed_value, sizeof managed_value},
                                    {"texture", &texture_handle, sizeof texture_handle}};

constexpr char kNothingHas[] = "+avx512bf16,+avx512vbmi2,+amx-of-tests";
const nuna_image kImage{NUNA_IMAGE_VERSION, 17, 3, 0, "tests", "+sse3", kKernels, kVariables, kPtx,
                        sizeof kPtx - 1};
const nuna_image kFutureImage{NUNA_IMAGE_VERSION, 1,       0,       0, "future", kNothingHas,
                              kFutureKernels,     nullptr, nullptr, 0};
const nuna_image kLinkedImage{NUNA_IMAGE_VERSION, 1, 0, 0, "", "", kLinkedKernels, nullptr, nullptr, 0};

struct Wrapper {
  int magic;
  int version;
  const void* data;
  void* more;
};
Wrapper wrapper{0x466243b1, 1, "nuna:tests\n", nullptr};
Wrapper future_wrapper{0x466243b1, 1, "nuna:future", nullptr};

char stubs[20];
char variable_stub;

void register_functions() {
  static const char* const names[] = {"add",         "count",      "empty",  "append",       "wide",
                                      "mark",        "sleep",      "assert", "shared",       "small",
                                      "narrow",      "missing",    "linked", "meet",         "told",
                                      "told_beyond", "told_short", "misdo",  "_Z6astrayPfif"};
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  for (std::size_t i = 0; i < std::size(names); ++i)
    __cudaRegisterFunction(handle, &stubs[i], stubs, names[i], -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
  __cudaRegisterVar(handle, &variable_stub, &variable_stub, "variable", 0, sizeof device_variable, 0, 0);
  __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&managed_pointer), &variable_stub, "managed", 4,
                           4);
  __cudaRegisterTexture(handle, &texture_reference, nullptr, "texture", 1, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  void** const future = __cudaRegisterFatBinary(&future_wrapper);
  __cudaRegisterFunction(future, &stubs[19], stubs, "future", -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  __cudaRegisterFatBinaryEnd(future);
}

}  // namespace

const void* const kAdd = &stubs[0];
const void* const kCount = &stubs[1];
const void* const kEmpty = &stubs[2];
const void* const kAppend = &stubs[3];
const void* const kWide = &stubs[4];
const void* const kMark = &stubs[5];
const void* const kSleep = &stubs[6];
const void* const kAssert = &stubs[7];
const void* const kShared = &stubs[8];
const void* const kSmall = &stubs[9];
const void* const kNarrow = &stubs[10];
const void* const kMissing = &stubs[11];
const void* const kLinked = &stubs[12];
const void* const kMeet = &stubs[13];
const void* const kTold = &stubs[14];
const void* const kToldBeyond = &stubs[15];
const void* const kToldShort = &stubs[16];
const void* const kMisdo = &stubs[17];
const void* const kAstray = &stubs[18];
const void* const kFuture = &stubs[19];
const void* const kVariable = &variable_stub;

void register_all() {
  static std::once_flag once;
  std::call_once(once, [] {
    __nuna_register_image(&kImage);  // before the host's side; the others after it
    register_functions();
    __nuna_register_image(&kFutureImage);
    __nuna_register_image(&kLinkedImage);
  });
}

}  // namespace cudart_test
