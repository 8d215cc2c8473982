// Many short launches of one kernel, with the same scalars each time or with others (overhead.py --launches).
//
//   launches KERNEL same|new COUNT [elements]
//
//   scale      a factor, which no address depends on
//   window     where in an array a launch reads
//   eliminate  Gaussian elimination: ever fewer rows
//   spline     where a launch reads 64 rows and writes 10, beside each other, ever further
//   add        nothing to change: two arrays are added
//
// Prints a line that ends in PASS or FAIL; what launches with the same scalars leave is what one of them does.

#include <algorithm>

#include "../../../apps/cuda/check.hpp"

namespace {

constexpr int kThreads = 128;
constexpr int kRows = 4;  // of the spline, along each axis

int blocks_for(int threads) { return (threads + kThreads - 1) / kThreads; }

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void scale(float* values, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= factor;
}

__global__ void window(const float* from, float* to, int offset, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i + offset];
}

// Rows below `pivot` of n rows of m.
__global__ void eliminate(float* rows, int pivot, int n, int m) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = pivot + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < m && column > pivot)
    rows[row * m + column] -= rows[row * m + pivot] * rows[pivot * m + column];
}

__global__ void spline(const float* coefficients, long xs, long ys, long zs, const float* weights,
                       float* values, float* gradients, int n, int at, int ix, int iy, int iz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* const mine = coefficients + ix * xs + iy * ys + iz * zs + i;
  float value = 0, slope = 0;
  for (int x = 0; x < kRows; ++x) {
    for (int y = 0; y < kRows; ++y) {
      const float* const row = mine + x * xs + y * ys;
      const float sum =
          weights[0] * row[0] + weights[1] * row[zs] + weights[2] * row[2 * zs] + weights[3] * row[3 * zs];
      value += weights[x] * sum;
      slope += weights[y] * sum;
    }
  }
  values[at * n + i] = value;
  for (int k = 0; k < 9; ++k) gradients[at * (9 * n + 9) + 9 * i + k] = slope * (k + 1);
}

struct Array {
  float* device = nullptr;
  std::vector<float> host;

  explicit Array(std::size_t count, unsigned seed) : host(random_values(count, seed)) {
    CHECK_CUDA(cudaMalloc(&device, count * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  }
  ~Array() { cudaFree(device); }
  bool is_as_expected() const {
    std::vector<float> found(host.size());
    CHECK_CUDA(cudaMemcpy(found.data(), device, found.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return std::memcmp(found.data(), host.data(), found.size() * sizeof(float)) == 0;
  }
};

bool run_add(bool, int count, int n) {
  Array a(n, 1), b(n, 2), c(n, 3);
  for (int k = 0; k < count; ++k) add<<<blocks_for(n), kThreads>>>(a.device, b.device, c.device, n);
  for (int i = 0; i < n; ++i) c.host[i] = a.host[i] + b.host[i];
  return c.is_as_expected();
}

bool run_scale(bool is_new, int count, int n) {
  Array values(n, 1);
  for (int k = 0; k < count; ++k) {
    const float factor = 1 + (is_new ? k + 1 : 1) / 1048576.0f;
    scale<<<blocks_for(n), kThreads>>>(values.device, factor, n);
    for (float& value : values.host) value *= factor;
  }
  return values.is_as_expected();
}

bool run_window(bool is_new, int count, int n) {
  Array from(n + count, 1), to(n, 2);
  for (int k = 0; k < count; ++k) {
    const int offset = is_new ? k : 0;
    window<<<blocks_for(n), kThreads>>>(from.device, to.device, offset, n);
    for (int i = 0; i < n; ++i) to.host[i] += from.host[i + offset];
  }
  return to.is_as_expected();
}

// Of many matrices, as a pivot is used once. With the same scalars: the first pivot again and again, of rows that are zero there.
bool run_eliminate(bool is_new, int count, int) {
  const int n = 96;
  const dim3 threads(16, 8), blocks((n + 15) / 16, (n + 7) / 8);
  Array rows(n * n, 1);
  for (int k = 0; k < count; ++k) {
    const int pivot = is_new ? k % n : 0;
    eliminate<<<blocks, threads>>>(rows.device, pivot, n, n);
    for (int row = pivot + 1; row < n; ++row) {
      for (int column = pivot + 1; column < n; ++column)
        rows.host[row * n + column] -= rows.host[row * n + pivot] * rows.host[pivot * n + column];
    }
  }
  return rows.is_as_expected();
}

bool run_spline(bool is_new, int count, int n) {
  const int side = 12, places = side - kRows + 1;
  const long zs = n, ys = zs * side, xs = ys * side;
  const std::size_t gradients_each = 9 * n + 9;
  Array coefficients(xs * side, 1), weights(kRows, 2);
  Array values(std::size_t(count) * n, 3), gradients(count * gradients_each, 4);
  for (int k = 0; k < count; ++k) {
    const int at = is_new ? k : 0;
    const int ix = at % places, iy = at / places % places, iz = at / 7 % places;
    spline<<<blocks_for(n), kThreads>>>(coefficients.device, xs, ys, zs, weights.device, values.device,
                                        gradients.device, n, at, ix, iy, iz);
    const float* const w = weights.host.data();
    for (int i = 0; i < n && (is_new || k == 0); ++i) {
      const float* const mine = coefficients.host.data() + ix * xs + iy * ys + iz * zs + i;
      float value = 0, slope = 0;
      for (int x = 0; x < kRows; ++x) {
        for (int y = 0; y < kRows; ++y) {
          const float* const row = mine + x * xs + y * ys;
          const float sum = w[0] * row[0] + w[1] * row[zs] + w[2] * row[2 * zs] + w[3] * row[3 * zs];
          value += w[x] * sum;
          slope += w[y] * sum;
        }
      }
      values.host[std::size_t(at) * n + i] = value;
      for (int j = 0; j < 9; ++j) gradients.host[at * gradients_each + 9 * i + j] = slope * (j + 1);
    }
  }
  return values.is_as_expected() && gradients.is_as_expected();
}

struct Case {
  const char* name;
  bool (*run)(bool is_new, int count, int n);
};
constexpr Case kCases[] = {{"add", run_add},
                           {"scale", run_scale},
                           {"window", run_window},
                           {"eliminate", run_eliminate},
                           {"spline", run_spline}};

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 4, "add|scale|window|eliminate|spline same|new COUNT [elements]");
  const char* const kernel = arguments.text(1);
  const char* const scalars = arguments.text(2);
  if (kernel == nullptr || scalars == nullptr) arguments.fail();
  const bool is_new = std::strcmp(scalars, "new") == 0;
  if (!is_new && std::strcmp(scalars, "same") != 0) arguments.fail();
  const int count = arguments.number(3, 2000, 1, 100000);
  const int n = arguments.number(4, 2003, 1, 1 << 24);
  const auto named = std::find_if(std::begin(kCases), std::end(kCases),
                                  [&](const Case& each) { return std::strcmp(each.name, kernel) == 0; });
  if (named == std::end(kCases)) arguments.fail();
  return report(named->run(is_new, count, n), "%d launches of %s", count, kernel);
}
