// What nunacc --explain says of these kernels: "//=" is a line of it, up to where the source's line stands; "//!" is not in it.
#include <cstddef>
#include <cstdio>

//= reads argument 0
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x)
//= where blockDim.x*blockIdx.x + threadIdx.x < arg3
//= writes argument 2
//= blockDim.x*blockIdx.x + threadIdx.x: 32 bits
//= split along x: yes
//= split along y: no: blocks write the same bytes of argument 2
//! perhaps
__global__ void vector_sum(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

//= 4 bytes at 4*(blockDim.x*blockIdx.x + blockDim.y*arg2*blockIdx.y + threadIdx.x + arg2*threadIdx.y - arg2)
//= where 0 < blockDim.x*blockIdx.x + threadIdx.x
//= and blockDim.x*blockIdx.x + threadIdx.x + 2 <= arg2
//= split along x: yes
//= split along y: yes
//= split along z: no: blocks write the same bytes of argument 1
//! perhaps
__global__ void stencil(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
    const int i = y * width + x;
    out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
  }
}

//= 4 bytes at 4*(16*arg3*blockIdx.y + threadIdx.x + arg3*threadIdx.y + 16*k1)
//= split along x: if blockDim.x <= 16, else each launch decides
//= split along y: if blockDim.y <= 16, else each launch decides
//! perhaps
__global__ void tiled_product(const float* a, const float* b, float* c, int n) {
  __shared__ float at[16][16], bt[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    at[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0.0f;
    bt[ty][tx] = k + ty < n && column < n ? b[(k + ty) * n + column] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += at[ty][j] * bt[j][tx];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

//= 4 bytes at 4*(32*arg3*blockIdx.x + 32*blockIdx.y + threadIdx.x + arg3*threadIdx.y + 8*arg3*k1)
//= and 8*k1 <= 31
//= split along x: if blockDim.y <= 8, else each launch decides
//= split along y: if blockDim.x <= 32, else each launch decides
__global__ void tiled_transpose(float* out, const float* in, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

//= 4 bytes at 16*(blockDim.x*blockIdx.x + threadIdx.x)
//= 16 bytes at 16*(threadIdx.x + blockDim.x*k1)
//= and blockDim.x*k1 < arg2
//= split along x: yes
__global__ void bodies(const float4* from, float4* to, int n) {
  extern __shared__ float4 some[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 all = from[i];
  for (int tile = 0; tile < n; tile += blockDim.x) {
    some[threadIdx.x] = from[tile + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < blockDim.x; ++j) all.x += some[j].x * some[j].w;
    __syncthreads();
  }
  to[i] = all;
}

// CODA's stride: arg3, which only the launch knows.
//= 4 bytes at 4*(blockDim.x*arg3*blockIdx.x + arg3*threadIdx.x + k1)
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x + arg2*k1)
//= split along x: yes
__global__ void points_to_features(const float* in, float* out, int points, int features) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < points)
    for (int k = 0; k < features; ++k) out[k * points + i] = in[i * features + k];
}

//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x + blockDim.x*gridDim.x*k1)
//= and blockDim.x*blockIdx.x + threadIdx.x + blockDim.x*gridDim.x*k1 < arg0
//= split along x: yes
//! perhaps
__global__ void grid_stride(std::size_t n, float* y) {
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += std::size_t(gridDim.x) * blockDim.x)
    y[i] *= 2.0f;
}

//= 4 bytes at 4*k1
//= and 2*k1 <= blockDim.x*blockIdx.x + threadIdx.x
//= and blockDim.x*blockIdx.x + threadIdx.x <= 2*k1 + 1
//! split along x: yes
//! perhaps
__global__ void halves(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i / 2] = 1.0f;
}

// i / width is a row, i % width a column.
//= 4 bytes at 4*(blockDim.x*arg2*blockIdx.x + arg2*threadIdx.x + k1 - arg1*arg2*k1)
//= and arg1*k1 <= blockDim.x*blockIdx.x + threadIdx.x
//= arg1 - 1: 32 bits, unsigned
//! perhaps
__global__ void transposed_by_one_index(float* out, int width, int height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) out[(i % width) * height + i / width] = 1.0f;
}

struct Field {
  float* cells;
  int width;
  int first;
};
//= writes argument 0
//= reads argument 1+8
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x + arg1+20)
//= where blockDim.x*blockIdx.x + threadIdx.x < arg1+16
struct Two {
  long id;
  Field field;
};
__global__ void of_struct(float* out, Two two) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < two.field.width) out[i] = two.field.cells[i + two.field.first];
}

//= where blockDim.x*blockIdx.x + threadIdx.x < arg2
//= 4 bytes at 8*(blockDim.x*blockIdx.x + threadIdx.x)
//= split along x: yes
//! perhaps
__global__ void leaves_early(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i * 2];
}

//= void of_template<double, 4>(double*, int)
//= 8 bytes at 8*(4*blockDim.x*blockIdx.x + 4*threadIdx.x + k1)
//= split along x: yes
template <class T, int N>
__global__ void of_template(T* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < N; ++k)
    if (i * N + k < n) data[i * N + k] += 1;
}
template __global__ void of_template<double, 4>(double*, int);

//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x - 3)
//= where 0 < blockDim.x*blockIdx.x + threadIdx.x
__global__ void behind(float* out, const float* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0) out[i] = (in - 3)[i];
}

// Unsigned, i - 1 of 0 would be 2^32 - 1: the guard keeps it from that.
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x - 1)
//= blockDim.x*blockIdx.x + threadIdx.x - 1: 32 bits, unsigned
__global__ void one_before(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n) out[i] = in[i - 1];
}

//= reads argument 0
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x + arg1)
//= writes argument 0
__global__ void two_halves(float* both, int half) {
  float* const second = both + half;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) both[i] = second[i];
}

//= 4 bytes at 4*(blockDim.x*arg1*blockIdx.x + arg1*threadIdx.x + k1)
//= and k1 <= blockDim.x*blockIdx.x + threadIdx.x
//! perhaps
__global__ void triangle(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int j = 0; j <= i; ++j) out[i * n + j] = 0.0f;
}

//= reads argument 1
//= anywhere
//= split along x: yes
__global__ void gather(float* out, const float* in, const int* index, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

//= split along x: no: where it writes in argument 0 is known by running it only
__global__ void scatter(float* out, const float* in, const int* index, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

//= counts in argument 0
//= split along x: no: its blocks count together in argument 0
__global__ void histogram(int* bins, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i]], 1);
}

//= not to be split: it keeps the address of what it was given in memory
__global__ void linked(float** nodes, float* values) { nodes[threadIdx.x] = values + threadIdx.x; }

//= not to be split: it compares the address of what it was given with one from memory
__global__ void found(float* const* nodes, float* values) {
  if (nodes[threadIdx.x] == values) values[threadIdx.x] = 1;
}

//= not to be split: it computes with the address of what it was given
__global__ void hashed(unsigned long long* keys, float* values) {
  keys[threadIdx.x] = reinterpret_cast<unsigned long long>(values + threadIdx.x) * 31;
}

//= split along x: yes
//! not to be split
__global__ void aligned_only(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && (reinterpret_cast<unsigned long long>(values) & 15) == 0) values[i] = 1;
}

//= not to be split: it reads through a pointer that comes out of memory or is computed
__global__ void of_pointers(float* out, float** rows) { out[threadIdx.x] = rows[blockIdx.x][threadIdx.x]; }

__constant__ float weights[16];
__device__ int seen;
//= reads the variable weights
//= 4 bytes at 4*k1
//= and k1 <= 15
//= writes the variable seen
__global__ void weighted(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += weights[k] * in[i + k];
  out[i] = sum;
  seen = 1;
}

//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x + arg2)
//= where blockDim.x*blockIdx.x + threadIdx.x + arg2 < arg1
//! 32 bits
__global__ void counts_in_64_bits(float* out, long n, long first) {
  const long i = first + long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.0f;
}

// The first round always is; of the others, the condition at the end of the one before.
//= where 0 <= k1
//= and 0 == k1
//= and k1 <= arg1
//! perhaps
__global__ void ends_with_its_condition(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = 0;
  do {
    out[i * 100 + k] = 0.0f;
    ++k;
  } while (k <= n);
}

//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x + blockDim.x*gridDim.x*k1), perhaps
__global__ void until_found(int* out, const int* in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    if (in[i] == 0) break;
    out[i] = 1;
  }
}

//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x), perhaps
__global__ void where_positive(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0.0f) out[i] = 1.0f;
}

// Either side writes: together, every thread.
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x)
//= where blockDim.x*blockIdx.x + threadIdx.x <= 9
//= where 91 <= blockDim.x*blockIdx.x + threadIdx.x
//! perhaps
__global__ void at_either_end(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 10 || i > 90) out[i] = 1.0f;
}

// Borders are clamped: three accesses for one.
//= 4 bytes at 4*(arg2 - 1)
//= 4 bytes at 4*min(0, arg2 - 1)
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x - 1)
//! anywhere
__global__ void clamped(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[min(max(i - 1, 0), n - 1)];
}

// A byte of a table is one of 256.
//= and k1 <= 255
__global__ void table(float* out, const unsigned char* in, const float* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = values[in[i]];
}

// Down to zero, and until it is reached.
//= and k1 < arg1
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x - k1 + arg1)
//! perhaps
__global__ void downwards(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = n; k > 0; --k) out[i + k] = 0.0f;
}

//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x + 32*k1)
//! perhaps
__global__ void by_pointer(float* out, int n) {
  float* end = out + n;
  out += blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 4; ++k, out += 32) *out = 0.0f;
}

//= where 0 < arg1
//! perhaps
__global__ void if_given(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in != nullptr) out[i] = 1.0f;
}

//= split along x: no: it calls elsewhere(int), whose body is elsewhere
extern __device__ int elsewhere(int);
__global__ void calls(int* out) { out[threadIdx.x] = elsewhere(1); }

//= split along x: yes
//! not to be split
__global__ void says_and_computes(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s, c;
  sincosf(in[i], &s, &c);
  if (i == 0) printf("%f\n", s);
  out[i] = s * expf(c);
}

// Of conditions that LLVM makes one of, each is seen.
//= where 0 == threadIdx.x
//= and 0 == threadIdx.y
//! perhaps
__global__ void first_of_block(float* out) {
  if (threadIdx.x == 0 && threadIdx.y == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = 1.0f;
}

// Blocks compute more than they write. Who writes is who has set the flag in the last round: i is arg0 - 1 there.
//= and arg0 == k1 + 1
//= 4 bytes at 4*(32*blockIdx.x - 2*arg0*blockIdx.x + threadIdx.x - arg0), perhaps
//! k1 <= 255
__global__ void ghost_zone(int rounds, const float* in, float* out, int n) {
  __shared__ float a[32], b[32];
  const int t = threadIdx.x, first = blockIdx.x * (32 - 2 * rounds) - rounds, x = first + t;
  const int low = first < 0 ? -first : 0, high = first + 31 > n - 1 ? 31 - (first + 32 - n) : 31;
  if (x >= 0 && x < n) a[t] = in[x];
  __syncthreads();
  bool done;
  for (int i = 0; i < rounds; ++i) {
    done = false;
    if (t >= i + 1 && t <= 32 - i - 2 && t >= low && t <= high) {
      done = true;
      b[t] = a[max(t - 1, low)] + a[t] + a[min(t + 1, high)];
    }
    __syncthreads();
    if (i == rounds - 1) break;
    if (done) a[t] = b[t];
    __syncthreads();
  }
  if (done) out[x] = b[t];
}

// Found in some round, and kept.
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x), perhaps
//= and blockDim.x*blockIdx.x + threadIdx.x + k2 < arg2
__global__ void found_before(const int* in, int* out, int n, int rounds) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  bool found = false;
  for (int i = 0; i < rounds; ++i)
    if (x + i < n && in[x + i] == 3) found = true;
  if (found) out[x] = 1;
}

// i & (stride - 1), where the stride is a power of two; if not, it is not known where.
//= where 1 == is_power_of_two(arg1)
//= where 0 == is_power_of_two(arg1)
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x + 3*arg1*k1)
//= and arg1*k1 <= blockDim.x*blockIdx.x + threadIdx.x
//= split along x: each launch decides: whether it is known where it writes in argument 0
__global__ void butterfly(float* data, unsigned stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned pos = i & (stride - 1), base = ((i - pos) << 2) + pos;
  const float a = data[base], b = data[base + stride];
  data[base] = a + b;
  data[base + stride] = a - b;
}

// One bit of i turned: the pair is one thread's.
//= where 1 == is_power_of_two(arg1 + lowest_bit(arg1))
__global__ void pairs(int* data, int bit) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned other = i ^ bit;
  if (other > i) {
    data[i] += 1;
    data[other] += 2;
  }
}

//= 4 bytes at 4*(blockDim.x*blockIdx.x + blockDim.y*arg1*blockIdx.y + threadIdx.x + arg1*threadIdx.y)
__global__ void in_24_bits(float* out, int width, int height) {
  const int x = __mul24(blockIdx.x, blockDim.x) + threadIdx.x,
            y = __mul24(blockIdx.y, blockDim.y) + threadIdx.y;
  if (x < width && y < height) out[__mul24(y, width) + x] = 1.0f;
}

//= 4 bytes at 4*((1 << arg1)*blockIdx.x + threadIdx.x + blockDim.x*k1)
//= and threadIdx.x + blockDim.x*k1 < (1 << arg1)
//! anywhere
__global__ void rows_of_a_power(float* out, int log) {
  const int first = blockIdx.x << log, n = 1 << log;
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[first + i] = 1.0f;
}

//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x)
//! anywhere
__global__ void warps_and_lanes(float* out) {
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  out[blockIdx.x * blockDim.x + (warp << 5 | lane)] = 1.0f;
}

//= 4 bytes at 4*(4*blockDim.x*blockIdx.x + 4*threadIdx.x + k1 - 4*(arg1 / 4)*k1)
__global__ void quarters(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, quarter = n / 4;
  if (i / quarter < 4) out[i % quarter * 4 + i / quarter] = 1.0f;
}

//= 4 bytes at 4*(((gridDim.x + arg1 - 1) / gridDim.x)*blockIdx.x + threadIdx.x + blockDim.x*k1)
//! anywhere
//! perhaps
__global__ void chunks(float* out, unsigned n) {
  const unsigned chunk = (n + gridDim.x - 1) / gridDim.x, first = blockIdx.x * chunk;
  for (unsigned i = first + threadIdx.x; i < min(first + chunk, n); i += blockDim.x) out[i] = 1.0f;
}

// Unsigned, x - 1 is kept from going below zero.
//= 4 bytes at 4*(blockDim.x*blockIdx.x + threadIdx.x - 1)
//= 4 bytes at 0
//= and blockDim.x*blockIdx.x + threadIdx.x <= 0
//! anywhere
__global__ void clamped_unsigned(float* out, const float* in, unsigned n) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) out[x] = in[x > 0 ? x - 1 : 0] + in[min(x + 1, n - 1)];
}

// Whatever the value, which block comes last decides: refused at the launch.
//= 4 bytes at 0, perhaps
//! split along x: yes
__global__ void raises_a_flag(int* flag, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 1.0f) *flag = 1;
}
