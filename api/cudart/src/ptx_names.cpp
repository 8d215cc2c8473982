#include "ptx_names.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace nuna::cudart {
namespace {

constexpr std::string_view kNameless = "_GLOBAL__N_";
constexpr std::string_view kNamelessOfClang = "_GLOBAL__N_1";
constexpr std::string_view kOfFile = "_INTERNAL_";

bool is_digit(char c) { return '0' <= c && c <= '9'; }

/// Takes "L", length and identifier from the front; nothing where there is none.
std::string_view take_identifier(std::string_view& mangled) {
  std::string_view rest = mangled;
  if (rest.size() > 1 && rest[0] == 'L' && is_digit(rest[1])) rest.remove_prefix(1);
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
  if (error != std::errc()) return {};
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (length > rest.size()) return {};
  const std::string_view identifier = rest.substr(0, length);
  mangled = rest.substr(length);
  return identifier;
}

bool is_hash(std::string_view text) {
  return text.size() == 9 && text[0] == '_' && std::all_of(text.begin() + 1, text.end(), [](char c) {
           return is_digit(c) || ('a' <= c && c <= 'f');
         });
}

/// Behind the digits from `begin` to `end`, which may belong to the name before in part, stands a nameless namespace of nvcc's:
/// where its length begins, and its length. No length: it is none.
std::pair<std::size_t, std::size_t> length_before(std::string_view mangled, std::size_t begin,
                                                  std::size_t end) {
  for (; begin < end; ++begin) {
    std::size_t length = 0;
    std::from_chars(mangled.data() + begin, mangled.data() + end, length);
    if (length < kNameless.size() + 9 || length > mangled.size() - end) continue;
    if (is_hash(mangled.substr(end + length - 9, 9))) return {begin, length};
  }
  return {end, 0};
}

/// nvcc's nameless namespaces, which end with a hash, as clang has them.
std::string with_plain_namespaces(std::string_view mangled) {
  std::string plain;
  std::size_t copied = 0;
  for (std::size_t at = mangled.find(kNameless); at != std::string_view::npos;
       at = mangled.find(kNameless, at + 1)) {
    std::size_t digits = at;
    while (digits > copied && is_digit(mangled[digits - 1])) --digits;
    const auto [begin, length] = length_before(mangled, digits, at);
    if (length == 0) continue;
    plain += mangled.substr(copied, begin - copied);
    plain += std::to_string(kNamelessOfClang.size());
    plain += kNamelessOfClang;
    copied = at + length;
  }
  plain += mangled.substr(copied);
  return plain;
}

}  // namespace

std::string name_of_both(std::string_view given) {
  if (!given.starts_with("_Z")) return std::string(given);
  std::string mangled = with_plain_namespaces(given);
  std::string_view rest = std::string_view(mangled).substr(2);
  const bool nested = rest.starts_with('N');
  if (nested) rest.remove_prefix(1);
  std::vector<std::string_view> path;
  for (std::string_view each = take_identifier(rest); !each.empty(); each = take_identifier(rest)) {
    if (each.starts_with(kOfFile)) continue;
    path.push_back(each);
  }
  if (path.empty()) return mangled;
  // A variable outside of all namespaces has no mangled name.
  if (path.size() == 1 && rest == (nested ? "E" : "")) return std::string(path.front());
  std::string name = nested ? "_ZN" : "_Z";
  for (const std::string_view each : path) name += std::to_string(each.size()) + std::string(each);
  return name + std::string(rest);
}

}  // namespace nuna::cudart
