#include "common/sizes.hpp"

#include <absl/strings/str_split.h>

#include <algorithm>

#include "base/units.hpp"
#include "nuna/error.hpp"

namespace apps {
namespace {

constexpr std::string_view kRange = "..";

[[noreturn]] void refuse(std::string_view text, const std::string& option, const std::string& why) {
  throw nuna::Error(nuna::ErrorCode::invalid_argument, option + " \"" + std::string(text) + "\" " + why);
}

void add_range(std::string_view text, const std::string& option, nuna::Index factor,
               std::vector<nuna::Index>& sizes) {
  const std::size_t dots = text.find(kRange);
  const nuna::Index first = parse_size(text.substr(0, dots), option);
  const nuna::Index last = parse_size(text.substr(dots + kRange.size()), option);
  if (first > last) refuse(text, option, "is a range that ends before it begins");
  for (nuna::Index size = first; size < last; size *= factor) sizes.push_back(size);
  sizes.push_back(last);
}

}  // namespace

nuna::Index parse_size(std::string_view text, const std::string& option) {
  nuna::Index bytes = 0;
  try {
    bytes = nuna::base::parse_bytes(text);
  } catch (const nuna::Error&) {
    refuse(text, option, "is no size: write 64KiB, 1MiB or a number of bytes");
  }
  if (bytes < 1 || bytes > kMostSizeBytes) refuse(text, option, "is no size to move: use 1 byte to 64 GiB");
  return bytes;
}

std::vector<nuna::Index> parse_sizes(std::string_view text, const std::string& option, nuna::Index factor) {
  std::vector<nuna::Index> sizes;
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), ',');
  for (const std::string& part : parts) {
    if (part.find(kRange) != std::string::npos) {
      add_range(part, option, factor, sizes);
    } else {
      sizes.push_back(parse_size(part, option));
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace apps
