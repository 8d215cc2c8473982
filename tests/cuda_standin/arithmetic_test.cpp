// The interpreter's arithmetic, bit by bit against the host's, over random numbers and all the awkward ones.

#include <bit>
#include <cstring>
#include <limits>
#include <random>

#include "test_card.hpp"
#include "test_functions.hpp"

namespace standin {
namespace {

template <class T>
std::vector<T> awkward() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> list = {T{0},         T{1}, T{2}, T{3}, T{7}, T{100}, Limits::max(), Limits::lowest(),
                         Limits::min()};
  if constexpr (std::is_signed_v<T>)
    for (const int each : {-1, -2, -7}) list.push_back(static_cast<T>(each));
  if constexpr (std::is_floating_point_v<T>)
    for (const T each : {T(-0.0), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                         Limits::denorm_min(), -Limits::denorm_min() * 5, Limits::min() / 2, T(0.5), T(1.5),
                         T(2.5), T(-0.5), T(1e9), T(0.1), Limits::epsilon(), T(16777217.0)})
      list.push_back(each);
  return list;
}

template <class T>
T random_bits(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  T value;
  std::memcpy(&value, &bits, sizeof value);
  // Half of the floats of ordinary size, so that sums and products are not all infinite.
  if constexpr (std::is_floating_point_v<T>)
    if ((random() & 1) != 0)
      value = static_cast<T>(static_cast<double>(static_cast<std::int64_t>(bits)) * 1e-16);
  // fmin and fmax of a signalling NaN are not the same everywhere.
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
  return value;
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}

class ArithmeticTest : public KernelTest {
 protected:
  template <class Function>
  void check(const char* name) {
    using Operand = typename Function::operand;
    using Result = typename Function::result;
    std::vector<Operand> a, b;
    for (const Operand x : awkward<Operand>())
      for (const Operand y : awkward<Operand>()) a.push_back(x), b.push_back(y);
    std::mt19937_64 random(12345);
    for (int n = 0; n < 3000; ++n)
      a.push_back(random_bits<Operand>(random)), b.push_back(random_bits<Operand>(random));
    const int count = static_cast<int>(a.size());
    Array<Operand> a_array(a), b_array(b);
    Array<Result> out(a.size());
    run(name, {static_cast<unsigned>(count + 127) / 128, 128}, a_array.address, b_array.address, out.address,
        count);
    const auto results = out.values();
    int wrong = 0;
    for (std::size_t i = 0; i < a.size() && wrong < 5; ++i) {
      const Result expected = Function::of(a[i], b[i]);
      if (same(expected, results[i])) continue;
      ++wrong;
      ADD_FAILURE() << name << "(" << +a[i] << ", " << +b[i] << ") is " << +results[i] << ", not "
                    << +expected;
    }
  }
};

#define CHECK(name, Operand, Result, expression) \
  TEST_F(ArithmeticTest, name) { check<name##_function>(#name); }
STANDIN_FUNCTIONS(CHECK)
#undef CHECK

TEST_F(ArithmeticTest, ConversionsOutOfRangeAreCut) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  Array<float> in(std::vector<float>{3e9f, -3e9f, nan, inf, -inf, 300.f, -1.5f, 2.5f});
  Array<int> ints(8);
  Array<unsigned char> bytes(8);
  Array<long> longs(8);
  run("saturate", {1, 8}, in.address, ints.address, bytes.address, longs.address);
  EXPECT_EQ((std::vector<int>{INT32_MAX, INT32_MIN, 0, INT32_MAX, INT32_MIN, 300, -1, 2}), ints.values());
  EXPECT_EQ(44, bytes.value(5));
  EXPECT_EQ(0, bytes.value(6));
  EXPECT_EQ(2, bytes.value(7));
  EXPECT_EQ((std::vector<long>{3000000000, -3000000000, 0, INT64_MAX, INT64_MIN, 300, -2, 2}),
            longs.values());
}

TEST_F(ArithmeticTest, RoundsAsTheInstructionSays) {
  Array<float> out(8);
  run("rounded", {1, 1}, 1.0f, 3e-8f, out.address);
  const auto v = out.values();
  EXPECT_EQ(1.0f, v[0]);
  EXPECT_EQ(std::nextafter(1.0f, 2.0f), v[1]);
  EXPECT_EQ(1.0f, v[2]);
  EXPECT_EQ(3e-8f, v[3]);
  EXPECT_GE(static_cast<double>(v[4]), 1.0 / static_cast<double>(3e-8f));
  EXPECT_EQ(1.0f, v[5]);
  EXPECT_GT(static_cast<double>(v[6]), 0.1);
  EXPECT_EQ(2147483520.0f, v[7]);
}

}  // namespace
}  // namespace standin
