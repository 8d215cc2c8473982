#pragma once
// Kernels whose threads go many ways: what they write is compared with their models, and nothing else.

__global__ void skips_rounds(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < n; ++k) {
    if (k == 3 || (i & 1) == k % 2) continue;
    out[i * 32 + k] = 1.0f;
    if (k > 5) out[i * 32 + k + 16] = 1.0f;
  }
}
__global__ void breaks_off(float* out, int n, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < n; ++k) {
    out[i * 32 + k] = 1.0f;
    if (k >= last) break;
    out[i * 32 + k + 16] = 1.0f;
  }
  out[i * 32 + 31] = 1.0f;
}
__global__ void leaves_from_loop(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < n; ++k) {
    if (k == i) return;
    out[i * 32 + k] = 1.0f;
  }
  out[i * 32 + 20] = 1.0f;
}
__global__ void do_and_continue(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = 0;
  do {
    if (k % 3 == 1) continue;
    out[i * 32 + k] = 1.0f;
  } while (++k < n);
}
__global__ void one_or_other(float* out, int n, bool swapped) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = i;
  if (swapped)
    at = n - 1 - i;
  else if (i > 5)
    at = i + 40;
  if (at >= 0 && at < 100 && (i < 4 || i > 7)) out[at] = 1.0f;
}
__global__ void chooses(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  switch (i % 4) {
    case 0:
      out[i] = 1.0f;
      break;
    case 2:
      out[i + 64] = 1.0f;  // and on
    case 3:
      out[i + 128] = 1.0f;
      break;
    default:
      out[n - i] = 1.0f;
  }
}
__global__ void until_equal(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = n; k != 0; --k) out[i * 16 + k] = 1.0f;
  for (int k = 0; k != 4; k += 2) out[i * 16 + 8 + k] = 1.0f;
}
__global__ void by_steps(float* out, int first, int n, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = first + i; k < n; k += step) out[k * 2] = 1.0f;
}
__global__ void carries_on(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = 0;
  for (; k < n; k += 4) out[i * 64 + k] = 1.0f;
  for (; k < n + 6; ++k) out[i * 64 + k] = 1.0f;
  out[i * 64 + k + 3] = 1.0f;
}
__global__ void nested(float* out, int n) {
  const int tx = threadIdx.x, ty = threadIdx.y, linear = (blockIdx.x * blockDim.y + ty) * blockDim.x + tx;
  for (int a = ty; a < n; a += blockDim.y)
    for (int b = a; b >= 0; --b)
      if (b != tx) out[linear * 64 + a * 8 + b] = 1.0f;
}
__global__ void bits(float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((i & 3) == 1 || i >> 4 == 1) out[(i & ~7u) + (i >> 2) % 8 + (i << 6)] = 1.0f;
  if (!(i - 3 < n)) out[2048 + i] = 1.0f;
}
__global__ void between(float* out, int low, int high) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) - 8;
  if (i >= low && i < high && !(i > 2 && i < 5)) out[i] = 1.0f;
  if (i < -4 || i > 12) out[100 + i] = 1.0f;
}
__global__ void absolute(float* out, int centre) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[abs(i - centre)] = 1.0f;
  out[100 + max(i, centre) - min(i, 7)] = 1.0f;
}
__global__ void lanes(float* out) {
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  if (thread % 32 == 0) out[thread / 32 + blockIdx.x * 8] = 1.0f;
}
__global__ void two_guards(float* out, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    if (i >= m) return;
    out[i + 64] = 1.0f;
  }
  __syncthreads();
  out[i] = 1.0f;
}
__global__ void corners(float* out, int dx, int dy) {
  const int x = (int)threadIdx.x - dx, y = (int)threadIdx.y - dy, place = threadIdx.y * 16 + threadIdx.x;
  if (threadIdx.x == 0 && threadIdx.y == 0) out[600 + blockIdx.x] = 1.0f;
  if (threadIdx.x != 0 || blockIdx.x != 0) out[place + 900] = 1.0f;
  if (x >= 0 && y >= 0) out[place] = 1.0f;
  if (x < 0 && y < 0) out[place + 256] = 1.0f;
  if (threadIdx.x < 4 && threadIdx.y < 4) out[place + 1300] = 1.0f;
  if (threadIdx.x >= 8 || threadIdx.y >= 8) out[place + 1600] = 1.0f;
}
