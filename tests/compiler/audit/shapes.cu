// Kernels whose access is of many shapes. The audit is the test; results are looked at roughly only.

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (const cudaError_t error = (call); error != cudaSuccess) {              \
      std::printf("FAIL: line %d: %s\n", __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (false)

struct Image {
  float* pixels;
  int width, height;
  size_t pitch;  // in bytes
};

struct Record {
  int key;
  double value;
};

__device__ int counter[8];
__constant__ float weights[9];

__global__ void blur(Image in, Image out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= in.width - 1 || y >= in.height - 1) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      const float* row =
          reinterpret_cast<const float*>(reinterpret_cast<const char*>(in.pixels) + (y + dy) * in.pitch);
      sum += weights[(dy + 1) * 3 + dx + 1] * row[x + dx];
    }
  }
  reinterpret_cast<float*>(reinterpret_cast<char*>(out.pixels) + y * out.pitch)[x] = sum;
}

// Rows of a triangle: no two threads write as much.
__global__ void triangle(float* matrix, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  for (int column = 0; column <= row; ++column) matrix[row * n + column] = row - column;
}

__global__ void stride_over_grid(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 2 * in[i];
}

__global__ void backwards(const char* in, char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}

// What is written depends on what is read.
__global__ void keep_positive(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) out[i] = in[i];
}

// A sum that the compiler keeps in a register, and stores once.
__global__ void sum_rows(const float* matrix, float* sums, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  sums[row] = 0;
  for (int c = 0; c < columns; ++c) sums[row] += matrix[row * columns + c];
}

// Loops that become memset and memcpy.
__global__ void fill_rows(char* to, const char* from, int bytes) {
  char* row = to + (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * bytes;
  if (threadIdx.x % 2 == 0) {
    for (int i = 0; i < bytes; ++i) row[i] = 7;
  } else {
    for (int i = 0; i < 64 && i < bytes; ++i) row[i] = from[i];
  }
}

__global__ void records(Record* all, const Record* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i % 3 == 0) {
    all[i] = from[i];
  } else {
    all[i].key = i;
  }
}

__global__ void vectors(float4* out, const float2* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = make_float4(in[2 * i].x, in[2 * i].y, in[2 * i + 1].x, in[2 * i + 1].y);
}

// Through an index from memory.
__global__ void gather(const int* indices, const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[indices[i]];
}
__global__ void scatter(const int* indices, const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[indices[i]] = from[i];
}

__global__ void count(const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counter[in[i] & 7], 1);
}

// Both pointers lead into one allocation.
__global__ void halves(const float* low, float* high, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) high[i] = low[i] + (i > 0 ? low[i - 1] : 0);
}

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[16][17];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  const int to_x = blockIdx.y * 16 + threadIdx.x, to_y = blockIdx.x * 16 + threadIdx.y;
  if (to_x < n && to_y < n) out[to_y * n + to_x] = tile[threadIdx.x][threadIdx.y];
}

// One thread of a block writes; all rounds of a loop with a step of its own.
__global__ void maxima(const float* in, float* out, int n) {
  __shared__ float best[128];
  float mine = -1;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine = fmaxf(mine, in[blockIdx.x * n + i]);
  best[threadIdx.x] = mine;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = best[0];
}

__global__ void planes(float* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  for (int z = blockIdx.z; z < nz; z += gridDim.z) out[(z * ny + y) * nx + x] = x + y + z;
}

__global__ void every_third(float* out, int n) {
  const int i = 3 * (blockIdx.x * blockDim.x + threadIdx.x) + 1;
  if (i < n) out[i] = i;
}

__global__ void quotients(float* out, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int row = i / width, column = i % width;
  out[row * (width + 3) + column] = i;
}

template <class T>
T* device(size_t count) {
  T* memory = nullptr;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  CHECK(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

int main() {
  const int n = 1000, side = 100;
  std::vector<float> numbers(n * 16);
  std::vector<int> indices(n);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(int(i * 2654435761u % 200) - 100);
  for (int i = 0; i < n; ++i) indices[i] = (i * 7) % n;
  float* in = device<float>(n * 16);
  float* out = device<float>(n * 16);
  int* index = device<int>(n);
  CHECK(cudaMemcpy(in, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(index, indices.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  const float third[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
  CHECK(cudaMemcpyToSymbol(weights, third, sizeof third));

  Image from{nullptr, side, side, 0}, to{nullptr, side, side, 0};
  CHECK(cudaMallocPitch(&from.pixels, &from.pitch, side * sizeof(float), side));
  CHECK(cudaMallocPitch(&to.pixels, &to.pitch, side * sizeof(float), side));
  CHECK(cudaMemset2D(from.pixels, from.pitch, 0, side * sizeof(float), side));
  const dim3 square(16, 16), squares((side + 15) / 16, (side + 15) / 16);
  blur<<<squares, square>>>(from, to);
  triangle<<<4, 32>>>(out, 110);
  stride_over_grid<<<5, 64>>>(in, out, n);
  backwards<<<8, 128>>>(reinterpret_cast<char*>(in), reinterpret_cast<char*>(out), n);
  keep_positive<<<8, 128>>>(in, out, n);
  sum_rows<<<4, 16>>>(in, out, 60, 100);
  fill_rows<<<4, 32>>>(reinterpret_cast<char*>(out), reinterpret_cast<char*>(in), 100);
  records<<<4, 64>>>(reinterpret_cast<Record*>(out), reinterpret_cast<Record*>(in), 250);
  vectors<<<4, 64>>>(reinterpret_cast<float4*>(out), reinterpret_cast<float2*>(in), 200);
  gather<<<8, 128>>>(index, in, out, n);
  scatter<<<8, 128>>>(index, in, out, n);
  count<<<8, 128>>>(index, n);
  halves<<<8, 128>>>(in, in + 8 * n, n);
  transpose<<<squares, square>>>(in, out, side);
  maxima<<<7, 128>>>(in, out, 500);
  planes<<<dim3(3, 4, 3), dim3(8, 8)>>>(out, 20, 30, 10);
  every_third<<<4, 64>>>(out, 700);
  quotients<<<8, 128>>>(out, n, 37);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(numbers.data(), out, numbers.size() * sizeof(float), cudaMemcpyDeviceToHost));
  const bool right = numbers[36] == 36 && numbers[40] == 37;  // quotients wrote 37 of 40 columns
  std::printf(right ? "PASS\n" : "FAIL: results\n");
  return right ? 0 : 1;
}
