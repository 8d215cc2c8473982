#pragma once
// The NUNA_* environment variables: one list of what exists, one typed way to read them.
//
// A Settings is a snapshot: reading it is thread-safe, later changes of the environment do not reach it. A
// variable that is unset or empty gives the fallback; blanks around a number or a word do not count. A value
// without meaning is nuna::Error (bad_setting) that names the variable, the value and what is accepted. Reading a
// name that known_settings() lacks is a broken invariant: every variable is listed there, so that a user's
// misspelling can be told from a real one. The table of docs/environment.md is printed from the same list.

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace nuna::base {

struct SettingInfo {
  std::string_view name;
  std::string_view accepted;
  std::string_view standard;      ///< the value of an unset variable, in words if it depends on the machine
  std::string_view meaning;       ///< a half-sentence
  std::string_view program = {};  ///< what in the program wins over the variable, if anything does
};

/// Every variable that Nuna reads, in alphabetical order.
std::span<const SettingInfo> known_settings();

class Settings {
 public:
  using Variables = std::map<std::string, std::string, std::less<>>;

  /// Nothing set.
  Settings() = default;
  explicit Settings(Variables variables) : variables_(std::move(variables)) {}
  /// The process's variables that begin with NUNA_. Not while another thread changes the environment.
  static Settings from_environment();

  /// Set and not empty.
  bool has(std::string_view name) const;
  /// 1, on, yes, true; 0, off, no, false.
  bool boolean(std::string_view name, bool fallback) const;
  /// A whole number from `least` to `most`.
  std::int64_t integer(std::string_view name, std::int64_t fallback, std::int64_t least,
                       std::int64_t most) const;
  /// A size as in base/units.hpp: "16 GiB".
  std::int64_t bytes(std::string_view name, std::int64_t fallback_bytes) const;
  /// A time above 0 as in base/units.hpp; a number without a unit is seconds.
  std::chrono::nanoseconds seconds(std::string_view name, std::chrono::nanoseconds fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;

  /// One warning per variable that Nuna does not know, with the nearest name that it does; once per process.
  void warn_about_unknown() const;

 private:
  const std::string* find(std::string_view name) const;

  Variables variables_;
};

}  // namespace nuna::base
