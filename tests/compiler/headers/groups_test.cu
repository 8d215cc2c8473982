// Runs on a CPU device: cooperative groups of all sizes, and grids that synchronise. Built by nunacc.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>

namespace cg = cooperative_groups;

__device__ int failed;
#define CHECK(condition) \
  if (!(condition))      \
  atomicAdd(&failed, 1), \
      printf("line %d, thread %d of %d: %s\n", __LINE__, (int)threadIdx.x, (int)blockDim.x, #condition)

struct Wide {
  double sum;
  long most;
  int number;
};
struct Join {
  __device__ Wide operator()(const Wide& a, const Wide& b) const {
    return {a.sum + b.sum, a.most > b.most ? a.most : b.most, a.number + b.number};
  }
};
/* Not commutative: digits one behind the other. */
struct Digits {
  unsigned long long value, scale;
};
struct Behind {
  __device__ Digits operator()(const Digits& a, const Digits& b) const {
    return {a.value * b.scale + b.value, a.scale * b.scale};
  }
};

template <unsigned Size, class Block>
__device__ void check_tile(const Block& block) {
  auto tile = cg::tiled_partition<Size>(block);
  const unsigned t = threadIdx.x, n = blockDim.x, first = t / Size * Size;
  const unsigned size = first + Size < n ? Size : n - first;  // of the last tile
  CHECK(tile.size() == Size && tile.thread_rank() == t % Size && tile.meta_group_rank() == t / Size);
  CHECK(tile.meta_group_size() == (n + Size - 1) / Size);
  unsigned sum = 0, before = 0;
  for (unsigned i = first; i < first + size; ++i) sum += i, before += i < t ? i : 0;
  CHECK(cg::reduce(tile, t, cg::plus<unsigned>()) == sum);
  CHECK(cg::reduce(tile, (double)t, cg::greater<double>()) == first + size - 1);
  CHECK(cg::inclusive_scan(tile, t) == before + t && cg::exclusive_scan(tile, t) == before);
  const Wide wide = cg::reduce(tile, Wide{1.5, (long)t, 1}, Join());
  CHECK(wide.sum == 1.5 * size && wide.most == (long)(first + size - 1) && wide.number == (int)size);
  const Digits mine = {t % 10, 10}, row = cg::inclusive_scan(tile, mine, Behind());
  Digits wanted = {first % 10, 10};
  for (unsigned i = first + 1; i <= t; ++i) wanted = Behind()(wanted, Digits{i % 10, 10});
  CHECK(row.value == wanted.value);
  CHECK(tile.any(t == first) && !tile.any(t > 2000) && tile.all(t < 2000) && tile.all(t != first) == 0);
  __shared__ unsigned cells[1024];
  cells[t] = t;
  tile.sync();
  CHECK(cells[first + (t - first + 1) % size] == first + (t - first + 1) % size);
  tile.sync();
  CHECK(cg::invoke_one_broadcast(tile, [&](int more) { return (int)t + more; }, 5) == (int)first + 5);
  cg::invoke_one(tile, [&] { cells[t] = 77; });
  tile.sync();
  CHECK(cells[first] == 77);
  block.sync();
}

__global__ void tiles() {
  __shared__ cg::block_tile_memory<1024> memory;
  auto block = cg::this_thread_block(memory);
  check_tile<1>(block);
  check_tile<4>(block);
  check_tile<32>(block);
  check_tile<64>(block);
  check_tile<128>(block);
  check_tile<512>(block);
  check_tile<1024>(block);
  auto wide = cg::tiled_partition<64>(block);
  auto warp = cg::tiled_partition<32>(wide);
  auto four = cg::tiled_partition<4>(warp);
  const unsigned t = threadIdx.x;
  CHECK(warp.meta_group_rank() == t % 64 / 32 && warp.meta_group_size() == 2);
  CHECK(four.meta_group_rank() == t % 32 / 4 && four.meta_group_size() == 8 && four.thread_rank() == t % 4);
  const cg::thread_block_tile<4> plain = four;
  CHECK(plain.shfl(t, 1) == t / 4 * 4 + 1 && plain.meta_group_size() == 8);
}

__global__ void parts(const int* from) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  const unsigned lane = threadIdx.x % 32;
  auto third = cg::labeled_partition(warp, (int)(lane % 3));
  CHECK(third.size() == (lane % 3 == 2 ? 10u : 11u) && third.thread_rank() == lane / 3);
  CHECK(third.meta_group_size() == 3 && third.meta_group_rank() == lane % 3);
  CHECK(cg::reduce(third, 1, cg::plus<int>()) == (int)third.size());
  CHECK(cg::inclusive_scan(third, 1) == (int)third.thread_rank() + 1);
  CHECK(cg::binary_partition(warp, lane < 5).size() == (lane < 5 ? 5u : 27u));
  if (lane % 2 == 1) {
    auto odd = cg::coalesced_threads();
    CHECK(odd.size() == 16 && odd.thread_rank() == lane / 2 && odd.shfl(lane, 3) == 7);
    CHECK(cg::invoke_one_broadcast(odd, [&] { return lane; }) == 1);
    auto five = cg::tiled_partition<4>(odd);
    CHECK(five.size() == 4 && five.meta_group_rank() == lane / 8);
  }
  __shared__ int cells[100];
  cg::memcpy_async(block, cells, from, sizeof cells);
  cg::wait(block);
  CHECK(cells[threadIdx.x % 100] == 3 * (int)(threadIdx.x % 100));
}

// Each block adds what its neighbour has, again and again.
__global__ void ring(long long* cells, int rounds) {
  auto grid = cg::this_grid();
  CHECK(grid.is_valid());
  const unsigned b = blockIdx.x, next = (b + 1) % gridDim.x;
  if (threadIdx.x == 5) return;  // others synchronise without it
  for (int i = 0; i < rounds; ++i) {
    const long long other = *(volatile long long*)(cells + next);
    grid.sync();
    if (threadIdx.x == 0) cells[b] += other;
    auto token = grid.barrier_arrive();
    grid.barrier_wait(static_cast<cg::grid_group::arrival_token&&>(token));
  }
}
__global__ void fails(int* reached) {
  if (blockIdx.x == 1) assert(reached == nullptr);
  cg::this_grid().sync();
  *reached = 1;
}

int main() {
  int* numbers;
  long long* cells;
  cudaMallocManaged(&numbers, 400);
  cudaMallocManaged(&cells, 1000 * sizeof *cells);
  for (int i = 0; i < 100; ++i) numbers[i] = 3 * i;
  for (int size : {32, 64, 96, 256, 1000, 1024}) {
    if (size % 32 == 0) tiles<<<2, size>>>();
    parts<<<1, size / 32 * 32>>>(numbers);
  }
  int bad = cudaDeviceSynchronize() != cudaSuccess, counted = 1;
  int perProcessor = 0, processors = 0, cooperative = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perProcessor, ring, 64, 0);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
  if (cooperative != 1) bad = 1, std::printf("no cooperative launches\n");
  int rounds = 20;
  void* arguments[] = {&cells, &rounds};
  for (int blocks : {1, 2, 3, perProcessor * processors}) {
    for (int i = 0; i < blocks; ++i) cells[i] = 1;
    bad |= cudaLaunchCooperativeKernel((void*)ring, blocks, 64, arguments, 0, nullptr) != cudaSuccess;
    bad |= cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < blocks; ++i) {
      if (cells[i] == 1 << rounds) continue;
      bad = 1;
      std::printf("block %d of %d has %lld\n", i, blocks, cells[i]);
    }
  }
  if (cudaLaunchCooperativeKernel((void*)ring, perProcessor * processors + 1, 64, arguments, 0, nullptr) !=
      cudaErrorCooperativeLaunchTooLarge)
    bad = 1, std::printf("a grid too large for a cooperative launch\n");
  cudaMemcpyFromSymbol(&counted, failed, sizeof(int));
  bad |= counted != 0;
  numbers[0] = 0;
  void* reached[] = {&numbers};
  cudaLaunchCooperativeKernel((void*)fails, 4, 32, reached, 0, nullptr);
  if (cudaDeviceSynchronize() != cudaErrorAssert || numbers[0] != 0)
    bad = 1, std::printf("a block that fails\n");
  std::printf(bad ? "FAIL\n" : "PASS\n");
  return bad;
}
