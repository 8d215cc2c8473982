#pragma once
// Sizes, times and rates as people write them: "16 GiB", "100 ns", "16 GB/s".
//
// All are whole numbers inside: bytes, picoseconds, bytes per second; never negative when parsed. Parsing is
// exact (decimal arithmetic, no floating point) and rounds to the nearest whole number. Pure functions, any
// thread, independent of the locale.
//
// Units of size: B; KiB, MiB, GiB, TiB, PiB (powers of 1024); kB, MB, GB, TB, PB (powers of 1000); a lone k,
// M, G, T, P in either case is the power of 1024. Without a unit: bytes. Units of time: ps, ns, us, ms, s,
// min, h. The unit is required. Units of rate: any size unit with "/s", and kbit/s, Mbit/s, Gbit/s, Tbit/s.
// Without a unit: bytes per second.
//
// Failure: nuna::Error (bad_setting) that quotes the text and says what is accepted.

#include <cstdint>
#include <string>
#include <string_view>

namespace nuna::base {

inline constexpr std::int64_t kPicosecondsPerNanosecond = 1'000;
inline constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

std::int64_t parse_bytes(std::string_view text);
std::int64_t parse_picoseconds(std::string_view text);
std::int64_t parse_bytes_per_second(std::string_view text);

/// Exact: parsing the result gives the same number. The largest unit that needs at most three decimals: "1.5
/// GiB", "100 ns", "12.5 GB/s".
std::string print_bytes(std::int64_t bytes);
std::string print_picoseconds(std::int64_t time_ps);
std::string print_bytes_per_second(std::int64_t rate);

/// For people: three significant digits in the largest unit that leaves at least one: "1.37 GiB".
std::string rounded_bytes(std::int64_t bytes);
std::string rounded_picoseconds(std::int64_t time_ps);
std::string rounded_bytes_per_second(std::int64_t rate);

}  // namespace nuna::base
