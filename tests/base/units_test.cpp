#include "base/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

#include "nuna/error.hpp"

namespace nuna::base {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::string refusal(std::int64_t (*parse)(std::string_view), std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_setting);
    return error.what();
  }
  ADD_FAILURE() << text << " was accepted";
  return "";
}

TEST(Units, SizesAreReadWithBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("16 GiB"), std::int64_t{16} << 30);
  EXPECT_EQ(parse_bytes("512M"), std::int64_t{512} << 20);
  EXPECT_EQ(parse_bytes("512m"), std::int64_t{512} << 20);
  EXPECT_EQ(parse_bytes("4k"), 4096);
  EXPECT_EQ(parse_bytes("4 kB"), 4000);
  EXPECT_EQ(parse_bytes("3 TB"), 3'000'000'000'000);
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("  7 B\t"), 7);
  EXPECT_EQ(parse_bytes("0"), 0);
}

TEST(Units, TimesAreReadInPicoseconds) {
  EXPECT_EQ(parse_picoseconds("100 ns"), 100'000);
  EXPECT_EQ(parse_picoseconds("1.5us"), 1'500'000);
  EXPECT_EQ(parse_picoseconds("2 ms"), 2'000'000'000);
  EXPECT_EQ(parse_picoseconds("5 s"), 5 * kPicosecondsPerSecond);
  EXPECT_EQ(parse_picoseconds("2 min"), 120 * kPicosecondsPerSecond);
  EXPECT_EQ(parse_picoseconds("1 h"), 3600 * kPicosecondsPerSecond);
}

TEST(Units, RatesAreReadInBytesPerSecond) {
  EXPECT_EQ(parse_bytes_per_second("16 GB/s"), 16'000'000'000);
  EXPECT_EQ(parse_bytes_per_second("1 GiB/s"), std::int64_t{1} << 30);
  EXPECT_EQ(parse_bytes_per_second("100 Gbit/s"), 12'500'000'000);
  EXPECT_EQ(parse_bytes_per_second("250"), 250);
}

TEST(Units, FractionsAreExactAndRoundToTheNearest) {
  EXPECT_EQ(parse_bytes("1.5 GiB"), std::int64_t{3} << 29);
  EXPECT_EQ(parse_bytes(".5k"), 512);
  EXPECT_EQ(parse_bytes("3.k"), 3072);
  EXPECT_EQ(parse_bytes("1.1 KiB"), 1126);       // 1126.4
  EXPECT_EQ(parse_picoseconds("0.0005 ns"), 1);  // 0.5
  EXPECT_EQ(parse_picoseconds("0.000000000001 s"), 1);
  EXPECT_EQ(parse_picoseconds("0.1 s"), 100'000'000'000);
}

TEST(Units, TheLargestNumberIsReadAndTheNextRefused) {
  EXPECT_EQ(parse_bytes("9223372036854775807"), kLargest);
  EXPECT_THAT(refusal(parse_bytes, "9223372036854775808"), HasSubstr("too large"));
  EXPECT_EQ(parse_bytes("8191 PiB"), std::int64_t{8191} << 50);
  EXPECT_THAT(refusal(parse_bytes, "8192 PiB"), HasSubstr("too large"));
  EXPECT_THAT(refusal(parse_bytes, "99999999999999999999999 B"), HasSubstr("no usable number"));
  EXPECT_THAT(refusal(parse_bytes, "0.0000000000000000001 PiB"), HasSubstr("no usable number"));
}

TEST(Units, ARefusalQuotesTheTextAndSaysWhatIsAccepted) {
  EXPECT_EQ(refusal(parse_bytes, "16 GiBs"),
            "\"16 GiBs\" is not a size (unknown unit): write a number and one of B, KiB, MiB, GiB, TiB, PiB, "
            "kB, MB, "
            "GB, TB or PB, as in \"16 GiB\"");
  EXPECT_THAT(refusal(parse_picoseconds, "100"), HasSubstr("\"100\" is not a time (the unit is missing)"));
  EXPECT_THAT(refusal(parse_bytes_per_second, "16 GB"), HasSubstr("GB/s"));
}

TEST(Units, TextWithoutMeaningIsRefused) {
  for (const char* text :
       {"", " ", ".", "GiB", "-1", "+1", "1.2.3", "1e9", "0x10", "1 2", "1,5 k", "nan", "inf"}) {
    refusal(parse_bytes, text);
    refusal(parse_picoseconds, text);
    refusal(parse_bytes_per_second, text);
  }
  refusal(parse_picoseconds, "1 Ms");
  refusal(parse_bytes, "1 gib");
}

TEST(Units, PrintedNumbersUseTheLargestUnitThatIsShortAndExact) {
  EXPECT_EQ(print_bytes(std::int64_t{16} << 30), "16 GiB");
  EXPECT_EQ(print_bytes(std::int64_t{3} << 29), "1.5 GiB");
  EXPECT_EQ(print_bytes(1023), "1023 B");
  EXPECT_EQ(print_bytes(0), "0 B");
  EXPECT_EQ(print_bytes(1'234'567'891), "1234567891 B");
  EXPECT_EQ(print_picoseconds(100'000), "100 ns");
  EXPECT_EQ(print_picoseconds(5 * kPicosecondsPerSecond), "5 s");
  EXPECT_EQ(print_picoseconds(1'005'000), "1.005 us");
  EXPECT_EQ(print_bytes_per_second(12'500'000'000), "12.5 GB/s");
  EXPECT_EQ(print_bytes(-1536), "-1.5 KiB");
  EXPECT_EQ(print_bytes(std::numeric_limits<std::int64_t>::min()), "-8192 PiB");
}

TEST(Units, WhatIsPrintedReadsBackAsTheSameNumber) {
  std::mt19937_64 random(1);
  const auto expect_same = [](std::int64_t value) {
    EXPECT_EQ(parse_bytes(print_bytes(value)), value);
    EXPECT_EQ(parse_picoseconds(print_picoseconds(value)), value);
    EXPECT_EQ(parse_bytes_per_second(print_bytes_per_second(value)), value);
  };
  expect_same(kLargest);
  for (int i = 0; i < 2000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    expect_same(value);
    expect_same(value >> 20 << 20);
    expect_same(value / 1'000'000 * 1'000'000);
  }
}

TEST(Units, RoundedNumbersHaveThreeDigits) {
  EXPECT_EQ(rounded_bytes(1'234'567'891), "1.15 GiB");
  EXPECT_EQ(rounded_bytes(std::int64_t{16} << 30), "16 GiB");
  EXPECT_EQ(rounded_bytes(1'048'000), "1023 KiB");
  EXPECT_EQ(rounded_bytes(0), "0 B");
  EXPECT_EQ(rounded_bytes(1), "1 B");
  EXPECT_EQ(rounded_picoseconds(1'234), "1.23 ns");
  EXPECT_EQ(rounded_picoseconds(12'345), "12.3 ns");
  EXPECT_EQ(rounded_picoseconds(123'456), "123 ns");
  EXPECT_EQ(rounded_picoseconds(-123'456), "-123 ns");
  EXPECT_EQ(rounded_bytes_per_second(9'999'000'000), "10 GB/s");
}

}  // namespace
}  // namespace nuna::base
