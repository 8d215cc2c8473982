// What threads do together, and memory.
#include "check.hpp"

constexpr unsigned kAll = 0xffffffffu;

__device__ u32 lane() {
  u32 lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__device__ void registers() {
  u32 r;
#define CHECK_REGISTER(name, wanted)                 \
  do {                                               \
    asm volatile("mov.u32 %0, " name ";" : "=r"(r)); \
    same(name, r, (u32)(wanted));                    \
  } while (0)
  const u32 linear = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  CHECK_REGISTER("%%tid.x", threadIdx.x);
  CHECK_REGISTER("%%tid.y", threadIdx.y);
  CHECK_REGISTER("%%ntid.x", blockDim.x);
  CHECK_REGISTER("%%ctaid.x", blockIdx.x);
  CHECK_REGISTER("%%nctaid.x", gridDim.x);
  CHECK_REGISTER("%%laneid", linear % 32);
  CHECK_REGISTER("%%warpid", linear / 32);
  CHECK_REGISTER("%%nwarpid", (blockDim.x * blockDim.y * blockDim.z + 31) / 32);
  CHECK_REGISTER("%%lanemask_eq", 1u << linear % 32);
  CHECK_REGISTER("%%lanemask_lt", (1u << linear % 32) - 1);
  CHECK_REGISTER("%%lanemask_le", (2u << linear % 32) - 1);
  CHECK_REGISTER("%%lanemask_ge", ~((1u << linear % 32) - 1));
  CHECK_REGISTER("%%lanemask_gt", ~((2u << linear % 32) - 1));
  CHECK_REGISTER("WARP_SZ", 32);
#undef CHECK_REGISTER
  u64 before, after;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
  asm volatile("nanosleep.u32 20;");
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
  same("%globaltimer", (u32)(before != 0 && after >= before), 1u);
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(before));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(after));
  same("%clock64", (u32)(after >= before), 1u);
}

__device__ void warps() {
  const u32 value = threadIdx.x * 3 + 1;
  u32 r, inside;
  asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 3, 0, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(r), "=r"(inside)
               : "r"(value));
  same("shfl.sync.up.b32", r, __shfl_up_sync(kAll, value, 3));
  same("shfl.sync.up.b32 p", inside, (u32)(lane() >= 3));
  asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 5, 0x101f, %3; selp.u32 %1, 1, 0, p; }"
               : "=r"(r), "=r"(inside)
               : "r"(value), "r"(kAll));
  same("shfl.sync.down.b32 of half warps", r, __shfl_down_sync(kAll, value, 5, 16));
  same("shfl.sync.down.b32 p", inside, (u32)(lane() % 16 + 5 < 16));
  asm volatile("shfl.sync.bfly.b32 %0, %1, 9, 0x1f, %2;" : "=r"(r) : "r"(value), "r"(kAll));
  same("shfl.sync.bfly.b32", r, __shfl_xor_sync(kAll, value, 9));
  float real;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x181f, %3;"
               : "=f"(real)
               : "f"((float)value), "r"(lane() + 2), "r"(kAll));
  same("shfl.sync.idx.b32", real, __shfl_sync(kAll, (float)value, (int)lane() + 2, 8));
  // What a scan does: a lane adds where there is one below.
  asm volatile(
      "{ .reg .s32 r0; .reg .pred p; shfl.sync.up.b32 r0|p, %1, %2, %3, %5; @p add.s32 r0, r0, %4; mov.s32 "
      "%0, r0; }"
      : "=r"(r)
      : "r"(value), "r"(1), "r"(0), "r"(value), "r"(kAll));
  same("@p add.s32", r, lane() > 0 ? value + value - 3 : value);
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 40; vote.sync.ballot.b32 %0, p, %2; }"
               : "=r"(r)
               : "r"(value), "r"(kAll));
  same("vote.sync.ballot.b32", r, __ballot_sync(kAll, value > 40));
  asm volatile(
      "{ .reg .pred p, q; setp.gt.u32 p, %1, 40; vote.sync.any.pred q, p, -1; selp.u32 %0, 1, 0, q; }"
      : "=r"(r)
      : "r"(value));
  same("vote.sync.any.pred", r, (u32)__any_sync(kAll, value > 40));
  asm volatile(
      "{ .reg .pred p, q; setp.gt.u32 p, %1, 40; vote.all.sync.pred q, p, -1; selp.u32 %0, 1, 0, q; }"
      : "=r"(r)
      : "r"(value));
  same("vote.all.sync.pred", r, (u32)__all_sync(kAll, value > 40));
  // The lanes that have a bit in common, as a radix sort finds them.
  asm volatile(
      "{ .reg .pred p; and.b32 %0, %1, %2; setp.eq.u32 p, %0, %2; vote.ballot.sync.b32 %0, p, 0xffffffff; "
      "@!p not.b32 %0, %0; }"
      : "=r"(r)
      : "r"(value), "r"(4));
  const u32 with_bit = __ballot_sync(kAll, (value & 4) != 0);
  same("@!p not.b32", r, (value & 4) != 0 ? with_bit : ~with_bit);
  asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(value % 5), "r"(kAll));
  same("match.any.sync.b32", r, __match_any_sync(kAll, value % 5));
  asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %2, %3; selp.u32 %1, 1, 0, p; }"
               : "=r"(r), "=r"(inside)
               : "l"((u64)(threadIdx.x / 32)), "r"(kAll));
  same("match.all.sync.b64", r, kAll);
  same("match.all.sync.b64 p", inside, 1u);
  asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(value));
  same("redux.sync.add.u32", r, __reduce_add_sync(kAll, value));
  asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(value - 50));
  same("redux.sync.min.s32", (s32)r, __reduce_min_sync(kAll, (s32)value - 50));
  if (lane() % 4 == 1) {
    asm volatile("activemask.b32 %0;" : "=r"(r));
    same("activemask.b32", r & ~0x22222222u, 0u);
  }
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

__device__ u32 plain[64];
__device__ u32 counter;
__device__ float real_counter;

__device__ void memory(u32* global, u64* wide) {
  const u32 t = threadIdx.x;
  u32 r, q;
  asm volatile("st.global.u32 [%0], %1;" ::"l"(global + t), "r"(t * 7) : "memory");
  asm volatile("ld.global.nc.u32 %0, [%1+0];" : "=r"(r) : "l"(global + t));
  same("st.global.u32", r, t * 7);
  asm volatile("bar.sync 0;" ::: "memory");
  asm volatile("ld.global.cg.L1::no_allocate.v2.u32 {%0, %1}, [%2+8];"
               : "=r"(r), "=r"(q)
               : "l"(global + (t & 28)));
  same("ld.global.v2.u32", (u64)q << 32 | r, (u64)((t & 28) + 3) * 7 << 32 | ((t & 28) + 2) * 7);
  u32 s, u;
  asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(r), "=r"(q), "=r"(s), "=r"(u)
               : "l"(global + (t & 28)));
  same("ld.relaxed.gpu.v4.u32", r + q + s + u, (4 * (t & 28) + 6) * 7);
  asm volatile("barrier.sync 0;" ::: "memory");
  asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(wide + 2 * t), "l"((u64)t), "l"(~(u64)t)
               : "memory");
  u64 low, high;
  asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(low) : "l"(wide + 2 * t));
  asm volatile("ld.volatile.global.u64 %0, [%1+8];" : "=l"(high) : "l"(wide + 2 * t));
  same("st.relaxed.gpu.v2.u64", low, (u64)t);
  same("ld.volatile.global.u64", high, ~(u64)t);
  asm volatile("st.global.u8 [%0], %1;" ::"l"(wide + 2 * t), "r"(0x1ffu) : "memory");
  asm volatile("ld.global.s8 %0, [%1];" : "=r"(r) : "l"(wide + 2 * t));
  same("ld.global.s8", r, ~0u);
  asm volatile("atom.global.add.u32 %0, [%1], 2;" : "=r"(r) : "l"(&counter) : "memory");
  same("atom.global.add.u32", r & 1, 0u);
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], 0f3f000000;" ::"l"(&real_counter) : "memory");
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 10; @p red.global.add.u32 [%0], 1000; }" ::"l"(&counter),
               "r"(t)
               : "memory");
  asm volatile("membar.gl; fence.acq_rel.gpu;" ::: "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  same("red.global.add.u32", counter, 2 * blockDim.x + 10000);
  same("red.relaxed.gpu.global.add.f32", real_counter, 0.5f * blockDim.x);
  asm volatile("atom.cas.acq_rel.gpu.b32 %0, [%1], %2, %3;"
               : "=r"(r)
               : "l"(plain + t), "r"(0), "r"(t + 1)
               : "memory");
  same("atom.cas.b32", r, 0u);
  asm volatile("atom.max.s32 %0, [%1], %2;" : "=r"(r) : "l"(plain + t), "r"(-5) : "memory");
  same("atom.max.s32", r, t + 1);
  asm volatile("atom.inc.u32 %0, [%1], %2;" : "=r"(r) : "l"(plain + t), "r"(t + 1) : "memory");
  same("atom.inc.u32", plain[t], 0u);
  asm volatile("atom.exch.b32 %0, [%1], 9;" : "=r"(r) : "l"(plain + t) : "memory");
  same("atom.exch.b32", plain[t], 9u);
  double untouched = t;
  asm volatile("" : "+d"(untouched) : : "memory");  // of compilers only
  same("an empty statement", untouched, (double)t);
  asm volatile("prefetch.global.L2 [%0];" ::"l"(global));
}

__device__ void shared_memory(const u32* global) {
  __shared__ u32 fixed[64];
  extern __shared__ u32 dynamic[];
  const u32 t = threadIdx.x;
  const u32 place = (u32)__cvta_generic_to_shared(fixed + t);
  u32 r;
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(place), "r"(t + 5) : "memory");
  same("st.shared.u32", fixed[t], t + 5);
  asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(r) : "r"(place) : "memory");
  same("atom.shared.add.u32", r, t + 5);
  u64 inner;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(inner) : "l"(dynamic + t));
  asm volatile("st.shared.u32 [%0+4], %1;" ::"r"((u32)inner), "r"(t) : "memory");
  same("cvta.to.shared.u64", dynamic[t + 1], t);
  u64 outer;
  asm("cvta.shared.u64 %0, %1;" : "=l"(outer) : "l"((u64)(u32)inner));
  same("cvta.shared.u64", outer, (u64)(dynamic + t));
  asm volatile("bar.sync 0;" ::: "memory");
  u32 address;
  asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }"
      : "=r"(address)
      : "l"(fixed + (t & 60)));
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;" ::"r"(
          address),
      "l"(global + (t & 60))
      : "memory");
  asm volatile("barrier.cta.sync.aligned 0;" ::: "memory");
  same("cp.async.ca.shared.global", fixed[t], global[t]);
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 10; bar.red.popc.u32 %0, 0, p; }"
               : "=r"(r)
               : "r"(t)
               : "memory");
  same("bar.red.popc.u32", r, 10u);
  asm volatile(
      "{ .reg .pred p, q; setp.lt.u32 p, %1, 10; barrier.red.or.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
      : "=r"(r)
      : "r"(t)
      : "memory");
  same("barrier.red.or.pred", r, 1u);
}

__global__ void together(u32* global, u64* wide) {
  registers();
  warps();
  memory(global, wide);
  shared_memory(global);
}

__global__ void plane() { registers(); }

__device__ void leave_if(bool leaves) {
  if (leaves) asm volatile("exit;");
}

__global__ void leave(u32* met) {
  leave_if(threadIdx.x % 3 == 0);
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %0, 50; @p exit; }" ::"r"(threadIdx.x));
  const u32 all = (u32)__syncthreads_count(1);
  met[threadIdx.x] = all;
}

__global__ void stop(u32 at) {
  if (threadIdx.x == at) asm volatile("trap;");
}

int count_of(const int& symbol) {
  int count = -1;
  cudaMemcpyFromSymbol(&count, symbol, sizeof(int));
  return count;
}

int main() {
  u32* words = nullptr;
  u64* wide = nullptr;
  cudaMallocManaged(&words, 64 * sizeof(u32));
  cudaMallocManaged(&wide, 128 * sizeof(u64));
  together<<<1, 64, 65 * sizeof(u32)>>>(words, wide);
  plane<<<dim3(2, 1, 1), dim3(8, 5, 2)>>>();
  cudaMemset(words, 0, 64 * sizeof(u32));
  leave<<<1, 64>>>(words);
  if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 1;
  }
  int failed = count_of(failures);
  for (u32 t = 0; t < 64; ++t) failed += words[t] != (t % 3 == 0 || t > 50 ? 0u : 34u);
  std::printf("threads: %d checks, %d failures\n", count_of(checks), failed);
  stop<<<1, 64>>>(7);
  if (cudaDeviceSynchronize() != cudaErrorLaunchFailure) {
    std::puts("trap does not stop a kernel");
    ++failed;
  }
  return failed != 0;
}
