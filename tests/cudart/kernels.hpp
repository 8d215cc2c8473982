#pragma once
// Kernels as nunacc's objects hold them, written by hand, and the registration that clang's host code does.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>

#include "cuda_runtime_api.h"
#include "nuna_cudart/image.h"

namespace cudart_test {

/// What a launch names: the address of the host's stub.
extern const void* const kAdd;     // (float* data, int count, float value): adds to each; blocks along x
extern const void* const kCount;   // (): one more call of blocks in `counted`, for each block
extern const void* const kEmpty;   // ()
extern const void* const kAppend;  // (int value): appends to `appended`
extern const void* const kWide;    // 20 arguments of 16 bytes, sums their first bytes into `counted`
extern const void* const kMark;    // (int* marks): adds 1 to marks[linear block]
extern const void* const kSleep;   // (int milliseconds)
extern const void* const
    kMeet;  // (std::atomic<int>* counts, int rounds): all blocks count, then meet, each round
extern const void* const kAssert;      // fails an assertion in block 3
extern const void* const kShared;      // writes all of its scratch memory; 1000 bytes of static shared memory
extern const void* const kSmall;       // __launch_bounds__(64)
extern const void* const kNarrow;      // counts in 31 bits
extern const void* const kTold;        // as kAdd, and tells the audit
extern const void* const kToldBeyond;  // and adds to one element more, in line 5
extern const void* const kToldShort;   // but not to the first of block 1
extern const void* const kMisdo;       // (Misdeed): block 3 does it
extern const void* const kAstray;      // as kAdd, and the last block of a part reads from address 32
extern const void* const kFuture;      // needs a CPU that nobody has
extern const void* const kMissing;     // registered by the host, in no image
extern const void* const kLinked;      // in a device link's image: found by name

extern float device_variable[16];  // the device's; kVariable is the host's name of it
extern const void* const kVariable;
extern int* managed_pointer;          // filled with the address of a managed variable
extern std::uint64_t texture_handle;  // the device's side of a texture reference
extern textureReference texture_reference;

extern std::atomic<long> counted;
constexpr int kMostAppended = 10000;
extern int appended[kMostAppended];
extern std::atomic<int> appended_count;

extern std::mutex added_mutex;
extern std::set<const float*> added;  // the addresses that `add` was given; guarded by added_mutex

/// What makes the processor stop.
enum class Misdeed : int { write_null, read_null, stray, divide, recurse, call_nothing, no_instruction };

/// Registers everything, once.
void register_all();

inline cudaError_t launch(const void* kernel, dim3 grid = 1, dim3 block = 1, void** arguments = nullptr,
                          std::size_t shared = 0, cudaStream_t stream = nullptr) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
inline cudaError_t append(int value, cudaStream_t stream = nullptr) {
  void* arguments[] = {&value};
  return launch(kAppend, 1, 1, arguments, 0, stream);
}
inline cudaError_t add(float* data, int count, float value, cudaStream_t stream = nullptr) {
  void* arguments[] = {&data, &count, &value};
  return launch(kAdd, static_cast<unsigned>((count + 255) / 256), 256, arguments, 0, stream);
}
inline cudaError_t sleep_on(int milliseconds, cudaStream_t stream = nullptr) {
  void* arguments[] = {&milliseconds};
  return launch(kSleep, 1, 1, arguments, 0, stream);
}

}  // namespace cudart_test
