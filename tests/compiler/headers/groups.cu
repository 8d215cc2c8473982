// Compiled in both passes by run.sh; names every function of its topic at least once, and runs nothing.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
template <class G>
__device__ int f(G g, int v) {
  for (int i = g.size() / 2; i > 0; i /= 2) v += g.shfl_down(v, i);
  return v;
}
__device__ int fg(cg::thread_group g, int* x, int v) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    x[lane] = v;
    g.sync();
    if (lane < i) v += x[lane + i];
    g.sync();
  }
  return v;
}
__global__ void k(int* a, float* b, double2* dd) {
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8> t8 = cg::tiled_partition<8>(tile);
  cg::sync(block);
  block.sync();
  tile.sync();
  a[0] = f(tile, a[1]) + f(t8, a[2]) + fg(block, s, 3) + fg(cg::tiled_partition(block, 16), s, 3);
  a[1] = cg::reduce(tile, a[2], cg::plus<int>()) + cg::inclusive_scan(t8, a[3]) +
         cg::exclusive_scan(tile, a[3], cg::plus<int>());
  auto c = cg::coalesced_threads();
  a[2] = c.size() + c.thread_rank() + c.shfl(a[3], 0) + c.ballot(a[4]) + tile.match_any(a[2]) +
         block.group_index().x + block.thread_index().y + block.dim_threads().x + block.thread_rank();
  auto l = cg::labeled_partition(tile, a[3] % 4);
  a[4] =
      l.size() + cg::reduce(l, a[4], cg::greater<int>()) + cg::binary_partition(tile, a[3] > 2).thread_rank();
  dd[0] = tile.shfl(dd[0], 3);
  cg::memcpy_async(block, s, a, sizeof(int) * 64);
  cg::wait(block);
  cg::this_grid().sync();
  b[3] = tile.shfl_xor(b[2], 4) + tile.any(a[3]) + tile.meta_group_rank();
}
