#include <cmath>
#include <memory>

#include "cuda/programs.hpp"

namespace nuna::programs {
namespace {

template <class T, int N>
std::vector<T> contents(Buffer<T, N>& buffer) {
  const auto view = buffer.host(Access::read);
  return {view.begin(), view.end()};
}

struct Jacobi {
  NUNA_KERNEL void operator()(Thread t, View<const float, 2> in, View<float, 2> out) const {
    const auto [y, x] = t.global<2>();
    if (on_border(in, y, x)) {
      out(y, x) = in(y, x);
      return;
    }
    out(y, x) = 0.25f * in(y - 1, x) + 0.24f * in(y + 1, x) + 0.26f * in(y, x - 1) + 0.25f * in(y, x + 1);
  }
};

struct Start {
  NUNA_KERNEL void operator()(Thread t, View<float, 2> out, float scale) const {
    const auto [y, x] = t.global<2>();
    out(y, x) = scale * static_cast<float>((y * 31 + x * 17) % 101) - 3.5f;
  }
};

constexpr int kTile = 8;

struct Product {
  using Block = nuna::Block<kTile, kTile>;
  struct Shared {
    float a[kTile][kTile];
    float b[kTile][kTile];
  };
  NUNA_KERNEL void operator()(const Block& block, Shared& tile, View<const float, 2> a,
                              View<const float, 2> b, View<float, 2> c) const {
    typename Block::template PerThread<float> sum;
    block.threads([&](auto thread) { sum(thread) = 0; });
    const Index inner = a.extent(1);
    for (Index k = 0; k < inner; k += kTile) {
      block.threads([&](auto thread) {
        const auto [i, j] = thread.template global<2>();
        const auto y = thread.local(0);
        const auto x = thread.local(1);
        tile.a[y][x] = i < a.extent(0) && k + x < inner ? a(i, k + x) : 0.0f;
        tile.b[y][x] = k + y < inner && j < b.extent(1) ? b(k + y, j) : 0.0f;
      });
      block.threads([&](auto thread) {
        for (int n = 0; n < kTile; ++n)
          sum(thread) += tile.a[thread.local(0)][n] * tile.b[n][thread.local(1)];
      });
    }
    block.threads([&](auto thread) {
      const auto [i, j] = thread.template global<2>();
      if (thread.inside()) c(i, j) = sum(thread);
    });
  }
};

struct Arithmetic {
  NUNA_KERNEL void operator()(Thread t, View<double, 1> out, std::int64_t seed) const {
    const Index i = t.global(0);
    std::uint64_t bits =
        (static_cast<std::uint64_t>(i) + static_cast<std::uint64_t>(seed)) * 6364136223846793005U;
    bits ^= bits >> 29;
    const double x = static_cast<double>(static_cast<std::int64_t>(bits)) * 1e-9;
    const float f = static_cast<float>(x) / 3.7f;
    const auto whole = static_cast<std::int32_t>(bits >> 40) % 97;
    const double root = std::sqrt(std::fabs(x)) / (1.0 + x * x);
    out(i) = root + static_cast<double>(std::sqrt(f < 0 ? -f : f)) * whole +
             static_cast<double>(static_cast<std::int64_t>(bits) / 1000003 % 1009);
  }
};

#if defined(__CUDACC__)
__global__ void sum_rows_on_device(View<const std::int32_t, 2> in, View<std::int64_t, 1> out, Interval rows) {
  const Index row = rows.begin + static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows.end) return;
  std::int64_t sum = 0;
  for (Index c = 0; c < in.extent(1); ++c) sum += in(row, c);
  out(row) = sum;
}
#endif

struct RowSums {
  void operator()(const Part& part, View<const std::int32_t, 2> in, View<std::int64_t, 1> out) const {
    const Interval rows = part.box()[0];
#if defined(__CUDACC__)
    if (part.on_cuda()) {
      const auto blocks = static_cast<unsigned>((rows.size() + 31) / 32);
      sum_rows_on_device<<<blocks, 32, 0, part.stream<cudaStream_t>()>>>(in, out, rows);
      return;
    }
#endif
    for (Index r = rows.begin; r < rows.end; ++r) {
      out(r) = 0;
      for (Index c = 0; c < in.extent(1); ++c) out(r) += in(r, c);
    }
  }
};

struct Scale {
  NUNA_KERNEL void operator()(Thread t, View<float, 1> v, float factor) const { v(t.global(0)) *= factor; }
};

struct Scale2 {
  NUNA_KERNEL void operator()(Thread t, View<float, 2> v, float factor) const {
    v(t.global(0), t.global(1)) *= factor;
  }
};

struct Ramp {
  NUNA_KERNEL void operator()(Thread t, View<float, 1> v) const {
    v(t.global(0)) = static_cast<float>(t.global(0) % 1000);
  }
};

struct HalfTurn {
  NUNA_KERNEL void operator()(Thread t, View<const float, 1> in, View<float, 1> out) const {
    out(t.global(0)) = in((t.global(0) + in.extent(0) / 2) % in.extent(0));
  }
};

struct Between {
  NUNA_KERNEL void operator()(Thread t, View<const float, 1> left, View<const float, 1> mine,
                              View<const float, 1> right, View<float, 1> out) const {
    const Index i = t.global(0);
    const Index last = mine.extent(0) - 1;
    out(i) = 0.5f * mine(i) + 0.3f * (i > 0 ? mine(i - 1) : left(last)) +
             0.2f * (i < last ? mine(i + 1) : right(0));
  }
};

struct Wild {
  NUNA_KERNEL void operator()(Thread, View<float, 1> out) const { out(Index{1} << 50) = 1; }
};

struct Uncopyable {
  std::shared_ptr<int> held = std::make_shared<int>(7);
  void operator()(Thread t, View<std::int32_t, 1> out) const { out(t.global(0)) = *held; }
};

template <int N>
struct Numbers {
  NUNA_KERNEL void operator()(Thread t, View<std::int32_t, N> out, std::int32_t first) const {
    if constexpr (N == 1) out(t.global(0)) = first + static_cast<std::int32_t>(t.global(0));
    if constexpr (N == 2) {
      out(t.global(0), t.global(1)) = first + static_cast<std::int32_t>(t.global(0) * 1000 + t.global(1));
    }
    if constexpr (N == 3) {
      out(t.global(0), t.global(1), t.global(2)) =
          first + static_cast<std::int32_t>(t.global(0) * 10000 + t.global(1) * 100 + t.global(2));
    }
  }
};

}  // namespace

std::vector<float> heat(Context& context, Index rows, Index columns, int steps) {
  Buffer<float, 2> now(context, {rows, columns});
  Buffer<float, 2> next(context, {rows, columns});
  context.launch("start", {rows, columns}, block(4, 16), Start{}, write(now), 0.37f);
  for (int step = 0; step < steps; ++step) {
    context.launch("jacobi", {rows, columns}, block(4, 16), Jacobi{}, read(now, halo(1)), write(next));
    swap(now, next);
  }
  return contents(now);
}

std::vector<float> product(Context& context, Index rows, Index inner, Index columns) {
  Buffer<float, 2> a(context, {rows, inner});
  Buffer<float, 2> b(context, {inner, columns});
  Buffer<float, 2> c(context, {rows, columns});
  context.launch("start a", {rows, inner}, block(1, 32), Start{}, write(a), 0.25f);
  context.launch("start b", {inner, columns}, block(1, 32), Start{}, write(b), 0.5f);
  context.launch("product", {rows, columns}, block(kTile, kTile), Product{}, read(a, nuna::rows()),
                 read(b, whole()), write(c));
  return contents(c);
}

std::vector<double> arithmetic(Context& context, Index count) {
  Buffer<double, 1> out(context, {count});
  context.launch("arithmetic", {count}, block(64), Arithmetic{}, write(out), std::int64_t{12345});
  return contents(out);
}

std::vector<std::int64_t> row_sums(Context& context, Index rows, Index columns) {
  Buffer<std::int32_t, 2> in(context, {rows, columns});
  Buffer<std::int64_t, 1> out(context, {rows});
  context.launch("numbers", {rows, columns}, block(1, 32), Numbers<2>{}, write(in), -300);
  context.launch("row sums", {rows}, block(1), RowSums{}, read(in, nuna::rows()), write(out));
  context.launch("numbers", {rows, columns}, block(1, 32), Numbers<2>{}, write(in), 5);  // after it
  return contents(out);
}

std::vector<std::int32_t> fills_and_copies(Context& context) {
  struct Wide {
    std::int32_t number[5];
  };
  std::vector<std::int32_t> all;
  const auto add = [&](auto& buffer) {
    for (const auto& value : contents(buffer)) all.push_back(static_cast<std::int32_t>(value));
  };
  Buffer<std::int32_t, 1> line(context, {500});
  Buffer<std::int32_t, 2> sheet(context, {30, 40});
  Buffer<std::int32_t, 3> cube(context, {7, 11, 13});
  Buffer<unsigned char, 2> bytes(context, {9, 70});
  Buffer<Wide, 1> wide(context, {21});
  context.fill(line, -7);
  context.launch("numbers", {30, 40}, block(2, 8), Numbers<2>{}, write(sheet), 1);
  context.launch("numbers", {7, 11, 13}, block(1, 1, 13), Numbers<3>{}, write(cube), 2);
  context.fill(bytes, static_cast<unsigned char>(0xa5));
  context.fill(bytes, Box{{2, 5}, {3, 60}}, static_cast<unsigned char>(9));
  context.fill(wide, Wide{{1, 2, 3, 4, 5}});
  context.copy_box(sheet, Box{{3, 10}, {20, 31}}, cube, Box{{0, 7}, {0, 11}, {5, 6}});
  context.copy_box(line, Box{{100, 113}}, cube, Box{{6, 7}, {10, 11}, {0, 13}});
  context.copy_box(cube, Box{{1, 2}, {0, 11}, {0, 13}}, sheet, Box{{11, 22}, {2, 15}});
  {
    auto view = sheet.host(Box{{28, 30}, {0, 40}}, Access::read_write);
    for (auto& value : view) value = -value;
  }
  std::vector<std::int32_t> host(60, 77);
  context.copy(static_cast<std::int32_t*>(line.address()) + 200, host.data(), 60 * sizeof(std::int32_t));
  context.copy(host.data(), static_cast<std::int32_t*>(sheet.address()) + 17, 60 * sizeof(std::int32_t));
  all.insert(all.end(), host.begin(), host.end());
  add(line);
  add(sheet);
  add(cube);
  add(bytes);
  for (const Wide& w : contents(wide)) all.insert(all.end(), w.number, w.number + 5);
  return all;
}

#if defined(__CUDACC__)
__global__ void count_on_device(float* out, int count) {
  for (int i = 0; i < count; ++i) out[i] = static_cast<float>(i);
}

// Work of a stream of the program's own comes first: the part's stream waits for it.
struct Follow {
  cudaEvent_t done;
  void operator()(const Part& part, View<float, 2>) const {
    if (part.on_cuda()) cudaStreamWaitEvent(part.stream<cudaStream_t>(), done, 0);
  }
};

std::vector<float> adopted_on_device(Context& context, int count) {
  float* memory = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t counted = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&memory), sizeof(float) * static_cast<std::size_t>(count));
  cudaStreamCreate(&stream);
  cudaEventCreate(&counted);
  count_on_device<<<1, 1, 0, stream>>>(memory, count);
  cudaEventRecord(counted, stream);
  std::vector<float> result(static_cast<std::size_t>(count));
  {
    auto buffer = Buffer<float, 2>::adopt(context, memory, {count / 4, 4});
    context.launch("follow", {1}, block(1), Follow{counted}, read_write(buffer, whole()));
    // cut into columns, whose short rows cross between cards
    context.launch("scale", Domain{count / 4, 4}.along(1), block(8, 1), Scale2{}, read_write(buffer), 3.0f);
    buffer.give_back();
    cudaMemcpy(result.data(), memory, sizeof(float) * result.size(), cudaMemcpyDeviceToHost);
  }
  cudaEventDestroy(counted);
  cudaStreamDestroy(stream);
  cudaFree(memory);
  return result;
}
#endif

std::vector<float> adopted_on_card(Context& context) {
#if defined(__CUDACC__)
  return adopted_on_device(context, 200);
#else
  static_cast<void>(context);
  return {};
#endif
}

std::vector<float> adopted(Context& context) {
  constexpr int kCount = 200;
  std::vector<float> memory(kCount);
  for (int i = 0; i < kCount; ++i) memory[static_cast<std::size_t>(i)] = static_cast<float>(i);
  {
    auto buffer = Buffer<float, 1>::adopt(context, memory.data(), {kCount});
    context.launch("scale", {kCount}, block(8), Scale{}, read_write(buffer), 3.0f);
  }
  return memory;
}

std::vector<float> adopted_pinned(Context& context) {
  constexpr int kCount = 200;
  std::vector<float> result(kCount);
#if defined(__CUDACC__)
  float* memory = nullptr;
  cudaMallocHost(reinterpret_cast<void**>(&memory), sizeof(float) * kCount);
  for (int i = 0; i < kCount; ++i) memory[i] = static_cast<float>(i);
  {
    auto buffer = Buffer<float, 1>::adopt(context, memory, {kCount});
    context.launch("scale", {kCount}, block(8), Scale{}, read_write(buffer), 3.0f);
  }
  for (int i = 0; i < kCount; ++i) result[static_cast<std::size_t>(i)] = memory[i];
  cudaFreeHost(memory);
#endif
  heat(context, 20, 20, 1);
  return result;
}

std::vector<float> half_turn(Context& context, Index count) {
  Buffer<float, 1> in(context, {count});
  Buffer<float, 1> out(context, {count});
  context.launch("ramp", {count}, block(64), Ramp{}, write(in));
  context.launch("half turn", {count}, block(64), HalfTurn{}, read(in, whole()), write(out));
  return contents(out);
}

std::vector<float> neighbours_in_place(Context& context, Index count) {
  constexpr int kSlabs = 4;
  const int devices = context.ranks() * context.devices();
  std::vector<Buffer<float, 1>> now;
  std::vector<Buffer<float, 1>> next;
  for (int s = 0; s < kSlabs; ++s) {
    now.emplace_back(context, Extents{count});
    next.emplace_back(context, Extents{count});
    context.launch("ramp", on(s % devices), {count}, block(64), Ramp{}, write(now.back()));
    context.launch("scale", on(s % devices), {count}, block(64), Scale{}, read_write(now.back()),
                   0.1f * static_cast<float>(s + 1));
  }
  for (int step = 0; step < 5; ++step) {
    for (int s = 0; s < kSlabs; ++s) {
      const int left = (s + kSlabs - 1) % kSlabs;
      const int right = (s + 1) % kSlabs;
      const auto of = [&](int slab) -> Buffer<float, 1>& { return now[static_cast<std::size_t>(slab)]; };
      context.launch("between", on(s % devices), {count}, block(64), Between{}, on(left % devices, of(left)),
                     read(of(s), whole()), on(right % devices, read(of(right), fixed(Box{{0, 1}}))),
                     write(next[static_cast<std::size_t>(s)]));
    }
    std::swap(now, next);
  }
  std::vector<float> all;
  for (Buffer<float, 1>& slab : now) {
    for (const float value : contents(slab)) all.push_back(value);
  }
  return all;
}

void fault(Context& context) {
  Buffer<float, 1> out(context, {16});
  context.launch("wild", {1}, block(1), Wild{}, write(out, whole()));
  context.wait();
}

void host_only(Context& context) {
  Buffer<std::int32_t, 1> out(context, {16});
  context.launch("host only", {16}, block(4), Uncopyable{}, write(out));
  context.wait();
}

}  // namespace nuna::programs
