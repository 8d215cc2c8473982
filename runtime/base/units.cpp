#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include "nuna/error.hpp"

namespace nuna::base {
namespace {

__extension__ using Wide = unsigned __int128;

struct Unit {
  std::string_view name;
  std::int64_t scale;
  bool printed = false;  // the others are only understood
};

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = kKi * kKi;
constexpr std::int64_t kGi = kMi * kKi;
constexpr std::int64_t kTi = kGi * kKi;
constexpr std::int64_t kPi = kTi * kKi;

// Printed units ascend in scale.
constexpr std::array kSizes = {
    Unit{"B", 1, true},
    Unit{"KiB", kKi, true},
    Unit{"MiB", kMi, true},
    Unit{"GiB", kGi, true},
    Unit{"TiB", kTi, true},
    Unit{"PiB", kPi, true},
    Unit{"kB", 1'000},
    Unit{"MB", 1'000'000},
    Unit{"GB", 1'000'000'000},
    Unit{"TB", 1'000'000'000'000},
    Unit{"PB", 1'000'000'000'000'000},
    Unit{"", 1},
    Unit{"k", kKi},
    Unit{"K", kKi},
    Unit{"m", kMi},
    Unit{"M", kMi},
    Unit{"g", kGi},
    Unit{"G", kGi},
    Unit{"t", kTi},
    Unit{"T", kTi},
    Unit{"p", kPi},
    Unit{"P", kPi},
};
constexpr std::array kTimes = {
    Unit{"ps", 1, true},
    Unit{"ns", kPicosecondsPerNanosecond, true},
    Unit{"us", 1'000'000, true},
    Unit{"ms", 1'000'000'000, true},
    Unit{"s", kPicosecondsPerSecond, true},
    Unit{"min", 60 * kPicosecondsPerSecond},
    Unit{"h", 3600 * kPicosecondsPerSecond},
};
constexpr std::array kRates = {
    Unit{"B/s", 1, true},
    Unit{"kB/s", 1'000, true},
    Unit{"MB/s", 1'000'000, true},
    Unit{"GB/s", 1'000'000'000, true},
    Unit{"TB/s", 1'000'000'000'000, true},
    Unit{"KiB/s", kKi},
    Unit{"MiB/s", kMi},
    Unit{"GiB/s", kGi},
    Unit{"TiB/s", kTi},
    Unit{"kbit/s", 125},
    Unit{"Mbit/s", 125'000},
    Unit{"Gbit/s", 125'000'000},
    Unit{"Tbit/s", 125'000'000'000},
    Unit{"", 1},
};

struct Quantity {
  std::span<const Unit> units;
  std::string_view kind;
  std::string_view accepted;
};
constexpr Quantity kSize{kSizes, "size",
                         "B, KiB, MiB, GiB, TiB, PiB, kB, MB, GB, TB or PB, as in \"16 GiB\""};
constexpr Quantity kTime{kTimes, "time", "ps, ns, us, ms, s, min or h, as in \"100 ns\""};
constexpr Quantity kRate{kRates, "rate", "B/s, kB/s, MB/s, GB/s, TB/s or Gbit/s, as in \"16 GB/s\""};

[[noreturn]] void refuse(std::string_view text, const Quantity& quantity, std::string_view why) {
  std::string line = "\"" + std::string(text) + "\" is not a " + std::string(quantity.kind) + " (" +
                     std::string(why) + "): write a number and one of " + std::string(quantity.accepted);
  throw Error(ErrorCode::bad_setting, line);
}

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// A decimal number, digits / 10^decimals.
struct Decimal {
  std::uint64_t digits = 0;
  int decimals = 0;
};

// Takes a number such as "12" or "1.5" off the front of `rest`; null if there is none or it has too many
// digits.
std::optional<Decimal> take_number(std::string_view& rest) {
  constexpr int kMostDecimals = 18;  // 10^18 fits 64 bits
  Decimal number;
  bool any = false;
  bool point = false;
  for (; !rest.empty() && (is_digit(rest.front()) || (rest.front() == '.' && !point));
       rest.remove_prefix(1)) {
    if (rest.front() == '.') {
      point = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(rest.front() - '0');
    if (number.digits > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
    number.digits = number.digits * 10 + digit;
    any = true;
    if (point && ++number.decimals > kMostDecimals) return std::nullopt;
  }
  if (!any) return std::nullopt;
  return number;
}

std::int64_t parse(std::string_view text, const Quantity& quantity) {
  std::string_view rest = trimmed(text);
  const std::optional<Decimal> number = take_number(rest);
  if (!number) refuse(text, quantity, "no usable number in front");
  rest = trimmed(rest);
  const auto unit = std::find_if(quantity.units.begin(), quantity.units.end(),
                                 [&](const Unit& u) { return u.name == rest; });
  if (unit == quantity.units.end())
    refuse(text, quantity, rest.empty() ? "the unit is missing" : "unknown unit");
  Wide divisor = 1;
  for (int i = 0; i < number->decimals; ++i) divisor *= 10;
  const Wide value =
      (static_cast<Wide>(number->digits) * static_cast<Wide>(unit->scale) + divisor / 2) / divisor;
  if (value > static_cast<Wide>(std::numeric_limits<std::int64_t>::max()))
    refuse(text, quantity, "too large");
  return static_cast<std::int64_t>(value);
}

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string print(std::int64_t value, const Quantity& quantity) {
  const Wide thousandths = static_cast<Wide>(magnitude(value)) * 1000;
  const Unit* best = quantity.units.data();
  for (const Unit& u : quantity.units) {
    const auto scale = static_cast<Wide>(u.scale);
    if (u.printed && thousandths >= scale * 1000 && thousandths % scale == 0) best = &u;
  }
  const auto shown = static_cast<std::uint64_t>(thousandths / static_cast<Wide>(best->scale) / 1000);
  const auto decimals = static_cast<std::uint64_t>(thousandths / static_cast<Wide>(best->scale) % 1000);
  std::string text = std::to_string(shown) + "." + std::to_string(1000 + decimals).substr(1);
  return (value < 0 ? "-" : "") + without_trailing_zeros(text) + " " + std::string(best->name);
}

// Three significant digits; `x` is at least 1, or 0.
std::string three_digits(double x) {
  int precision = 0;
  if (x < 9.995) {
    precision = 2;
  } else if (x < 99.95) {
    precision = 1;
  }
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, std::chars_format::fixed, precision);
  return without_trailing_zeros(std::string(buffer.data(), end.ptr));
}

std::string rounded(std::int64_t value, const Quantity& quantity) {
  const auto size = static_cast<double>(magnitude(value));
  const Unit* best = quantity.units.data();
  for (const Unit& u : quantity.units) {
    if (u.printed && magnitude(value) >= static_cast<std::uint64_t>(u.scale)) best = &u;
  }
  return (value < 0 ? "-" : "") + three_digits(size / static_cast<double>(best->scale)) + " " +
         std::string(best->name);
}

}  // namespace

std::int64_t parse_bytes(std::string_view text) { return parse(text, kSize); }
std::int64_t parse_picoseconds(std::string_view text) { return parse(text, kTime); }
std::int64_t parse_bytes_per_second(std::string_view text) { return parse(text, kRate); }

std::string print_bytes(std::int64_t bytes) { return print(bytes, kSize); }
std::string print_picoseconds(std::int64_t time_ps) { return print(time_ps, kTime); }
std::string print_bytes_per_second(std::int64_t rate) { return print(rate, kRate); }

std::string rounded_bytes(std::int64_t bytes) { return rounded(bytes, kSize); }
std::string rounded_picoseconds(std::int64_t time_ps) { return rounded(time_ps, kTime); }
std::string rounded_bytes_per_second(std::int64_t rate) { return rounded(rate, kRate); }

}  // namespace nuna::base
