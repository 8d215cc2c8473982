#pragma once
// Which features of CPUs a compiled kernel needs, and whether this CPU has them. Pure, but for has_cpu_feature.

#include <string>
#include <string_view>

namespace nuna::cudart {

/// Whether this CPU has a feature, by clang's name for it; true for names that it does not know.
bool has_cpu_feature(std::string_view name);

/// The first feature of a list such as "+avx2,+fma,-avx512f" that `has` denies, empty if there is none.
template <class Has>
std::string missing_feature(std::string_view list, Has has) {
  while (!list.empty()) {
    const auto end = list.find(',');
    const std::string_view item = list.substr(0, end);
    if (item.size() > 1 && item.front() == '+' && !has(item.substr(1))) return std::string(item.substr(1));
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
  }
  return {};
}

}  // namespace nuna::cudart
