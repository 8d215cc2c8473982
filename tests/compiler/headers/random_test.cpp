// XORWOW's jumps equal its steps; Philox against the known answers of Random123.
#include <nuna/device/philox.h>
#include <nuna/device/xorwow.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

static int failures = 0;
#define CHECK(condition) \
  if (!(condition)) ++failures, std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)

static bool same(const curandState& a, const curandState& b) {
  return a.d == b.d && std::memcmp(a.v, b.v, sizeof(a.v)) == 0;
}

int main() {
  curandState a, b;
  for (unsigned n : {1u, 159u, 160u, 161u, 4096u, 70001u, 1000003u}) {
    curand_init(42, 0, 0, &a);
    b = a;
    for (unsigned i = 0; i < n; ++i) curand(&a);
    skipahead(n, &b);
    CHECK(same(a, b));
  }
  // 2^67 n numbers, as 16 jumps of 2^63 n.
  curand_init(7, 5, 0, &a);
  curand_init(7, 0, 0, &b);
  for (int i = 0; i < 16 * 5; ++i) skipahead(1ull << 63, &b);
  CHECK(same(a, b));
  curand_init(7, 3, 0, &b);
  skipahead_sequence(2, &b);
  CHECK(same(a, b));

  uint4 zero = {0, 0, 0, 0};
  uint2 key = {0, 0};
  uint4 r = curand_Philox4x32_10(zero, key);
  CHECK(r.x == 0x6627e8d5u && r.y == 0xe169c58du && r.z == 0xbc57ac4cu && r.w == 0x9b00dbd8u);
  uint4 ones = {~0u, ~0u, ~0u, ~0u};
  uint2 key_ones = {~0u, ~0u};
  r = curand_Philox4x32_10(ones, key_ones);
  CHECK(r.x == 0x408f276du && r.y == 0x41c83b0eu && r.z == 0xa20bc7c6u && r.w == 0x6d5451fdu);
  curandStatePhilox4_32_10_t p, q;
  curand_init(9ull, 1ull, 0ull, &p);
  curand_init(9ull, 1ull, 6ull, &q);
  for (int i = 0; i < 6; ++i) curand(&p);
  CHECK(curand(&p) == curand(&q));
  return failures != 0;
}
