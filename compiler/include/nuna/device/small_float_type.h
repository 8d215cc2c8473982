/* A floating type of 16 bits and its pair: NUNA_T, NUNA_T2, NUNA_RAW, NUNA_RAW2, with conversions __nuna_widen(bits) and
 * NUNA_NARROW(float). cuda_fp16.h and cuda_bf16.h each include this once, so it has no guard. */

struct NUNA_RAW {
  unsigned short x;
};
struct __align__(4) NUNA_RAW2 {
  unsigned short x, y;
};

struct __align__(2) NUNA_T {
  unsigned short __x;

  NUNA_T() = default;
  __host__ __device__ NUNA_T(const NUNA_RAW& raw) : __x(raw.x) {}
  __host__ __device__ NUNA_T(float value) : __x(NUNA_NARROW(value)) {}
  __host__ __device__ NUNA_T(double value) : __x(NUNA_NARROW(__nuna_round_to_odd(value))) {}
  template <class Integer, class = decltype((Integer{} & 1) == 0)>
  __host__ __device__ NUNA_T(Integer value) : NUNA_T((double)value) {}
  __host__ __device__ operator float() const { return NUNA_WIDEN(__x); }
  __host__ __device__ operator NUNA_RAW() const {
    NUNA_RAW raw = {__x};
    return raw;
  }
};

struct __align__(4) NUNA_T2 {
  NUNA_T x, y;

  NUNA_T2() = default;
  __host__ __device__ NUNA_T2(const NUNA_T& low, const NUNA_T& high) : x(low), y(high) {}
  __host__ __device__ NUNA_T2(const NUNA_RAW2& raw) {
    x.__x = raw.x;
    y.__x = raw.y;
  }
  __host__ __device__ operator NUNA_RAW2() const {
    NUNA_RAW2 raw = {x.__x, y.__x};
    return raw;
  }
};
