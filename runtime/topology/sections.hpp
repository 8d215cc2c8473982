#pragma once
// The tables of a TOML file as values that know where they stand, and typed access that says what is wrong with them.
//
//   const Section root = Section::parse(text, "lab.toml");
//   root.expect_only(kKeys, "the file");
//   for (const Section& node : root.sections("node")) node.bytes("memory");
//
// Quantities are strings with a unit, as in base/units.hpp. A key that is asked for without a fallback must be there.
//
// Threads: values. Bounds: 64 MiB of text, 64 levels of keys. Failure: nuna::Error (bad_setting), one line that begins with
// file:line:column and says what is wrong and what is accepted.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nuna/box.hpp"

namespace nuna::topology {

struct Position {
  int line = 0;  ///< from 1; 0: the file as a whole
  int column = 0;
};

class Section {
 public:
  static Section parse(std::string_view toml, std::string_view file_name);

  Position position() const { return position_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Refuses the first key that is not among these, with the nearest that is. `where` is what people call this section:
  /// "[[node]]".
  void expect_only(std::span<const std::string_view> known, std::string_view where) const;

  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string_view fallback) const;
  /// A whole number from `least` to `most`.
  int whole(std::string_view key, int least, int most) const;
  int whole(std::string_view key, int least, int most, int fallback) const;
  bool boolean(std::string_view key, bool fallback) const;
  Index bytes(std::string_view key) const;
  std::int64_t rate(std::string_view key) const;     ///< bytes per second, above 0
  std::int64_t time_ps(std::string_view key) const;  ///< at most an hour
  std::int64_t time_ps(std::string_view key, std::int64_t fallback) const;
  /// [key]; nothing if there is none.
  std::optional<Section> section(std::string_view key) const;
  /// [[key]], in the order of the file.
  std::vector<Section> sections(std::string_view key) const;

  /// Throws for this section, or for one of its keys.
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void refuse(std::string_view key, const std::string& why) const;
  [[noreturn]] void refuse_at(Position position, const std::string& why) const;

 private:
  friend class SectionReader;
  enum class Type { text, whole, boolean, section, sections, other };
  struct Value;

  const Value* find(std::string_view key) const;
  const Value& require(std::string_view key, Type type, std::string_view wanted) const;

  std::string file_;
  Position position_;
  std::vector<Value> values_;
};

struct Section::Value {
  std::string key;
  Position position;
  Type type = Type::other;
  std::string_view type_name;  ///< for people
  std::string text;
  std::int64_t whole = 0;  ///< of booleans too
  std::vector<Section> sections;
};

}  // namespace nuna::topology
