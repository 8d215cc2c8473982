#include "topology/sections.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <utility>

#include "base/nearest.hpp"
#include "base/units.hpp"
#include "nuna/error.hpp"

namespace nuna::topology {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::int64_t kHourPs = 3600 * base::kPicosecondsPerSecond;

Position position_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

std::string place(std::string_view file, Position position) {
  std::string text(file);
  if (position.line > 0) text += ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
  return text + ": ";
}

/// A parser's own words may have several lines.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

[[noreturn]] void refuse_in(std::string_view file, Position position, std::string_view why) {
  throw Error(ErrorCode::bad_setting, place(file, position) + one_line(why));
}

/// The parser and its tables recurse once a level of a dotted key, so a key of a million dots would end the process.
void refuse_deep_keys(std::string_view toml, std::string_view file) {
  constexpr int kMostDots = 64;
  int line = 1;
  int dots = 0;
  for (const char c : toml) {
    if (c == '\n') ++line;
    if (c == '.' && ++dots > kMostDots) refuse_in(file, {line, 1}, "a key has more than 64 levels");
    if (std::string_view("\n=,{}[]#").find(c) != std::string_view::npos) dots = 0;
  }
}

}  // namespace

/// From the parser's tree to ours.
class SectionReader {
 public:
  explicit SectionReader(std::string_view file) : file_(file) {}

  Section section(const toml::table& table) const {
    Section section;
    section.file_ = file_;
    section.position_ = position_of(table.source());
    for (const auto& [key, node] : table) {
      Section::Value value = this->value(node);
      value.key = std::string(key.str());
      value.position = position_of(key.source());
      section.values_.push_back(std::move(value));
    }
    return section;
  }

 private:
  using Type = Section::Type;

  Section::Value value(const toml::node& node) const {
    Section::Value value;
    if (const auto* text = node.as_string()) {
      value.type = Type::text;
      value.type_name = "a text";
      value.text = text->get();
    } else if (const auto* whole = node.as_integer()) {
      value.type = Type::whole;
      value.type_name = "a whole number";
      value.whole = whole->get();
    } else if (const auto* boolean = node.as_boolean()) {
      value.type = Type::boolean;
      value.type_name = "true or false";
      value.whole = boolean->get() ? 1 : 0;
    } else if (const auto* table = node.as_table()) {
      value.type = Type::section;
      value.type_name = "a table";
      value.sections.push_back(section(*table));
    } else if (const auto* array = node.as_array()) {
      fill(value, *array);
    } else {
      value.type_name = node.is_floating_point() ? "a number with a point" : "a date or time";
    }
    return value;
  }

  void fill(Section::Value& value, const toml::array& array) const {
    value.type_name = "a list";
    const auto is_table = [](const toml::node& node) { return node.is_table(); };
    if (!std::all_of(array.begin(), array.end(), is_table)) return;
    value.type = Type::sections;
    for (const toml::node& node : array) value.sections.push_back(section(*node.as_table()));
  }

  std::string_view file_;
};

Section Section::parse(std::string_view toml, std::string_view file_name) {
  if (toml.size() > kMostBytes) refuse_in(file_name, {}, "is larger than 64 MiB");
  refuse_deep_keys(toml, file_name);
  try {
    return SectionReader(file_name).section(toml::parse(toml, file_name));
  } catch (const toml::parse_error& e) {
    refuse_in(file_name, position_of(e.source()), "no TOML: " + std::string(e.description()));
  }
}

void Section::expect_only(std::span<const std::string_view> known, std::string_view where) const {
  for (const Value& value : values_) {
    if (std::find(known.begin(), known.end(), value.key) != known.end()) continue;
    std::string all;
    for (const std::string_view key : known) all += (all.empty() ? "" : ", ") + std::string(key);
    refuse_at(value.position, "unknown key \"" + value.key + "\" in " + std::string(where) +
                                  ", did you mean \"" + std::string(base::nearest(value.key, known)) +
                                  "\"? Known are " + all);
  }
}

std::string Section::text(std::string_view key) const { return require(key, Type::text, "a text").text; }

std::string Section::text(std::string_view key, std::string_view fallback) const {
  return has(key) ? text(key) : std::string(fallback);
}

int Section::whole(std::string_view key, int least, int most) const {
  const std::string range = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  const Value& value = require(key, Type::whole, range);
  if (value.whole < least || value.whole > most)
    refuse(key, "is " + std::to_string(value.whole) + ": expected " + range);
  return static_cast<int>(value.whole);
}

int Section::whole(std::string_view key, int least, int most, int fallback) const {
  return has(key) ? whole(key, least, most) : fallback;
}

bool Section::boolean(std::string_view key, bool fallback) const {
  return has(key) ? require(key, Type::boolean, "true or false").whole != 0 : fallback;
}

Index Section::bytes(std::string_view key) const {
  const Value& value = require(key, Type::text, "a size such as \"16 GiB\"");
  try {
    return base::parse_bytes(value.text);
  } catch (const Error& e) {
    refuse(key, e.what());
  }
}

std::int64_t Section::rate(std::string_view key) const {
  const Value& value = require(key, Type::text, "a rate such as \"16 GB/s\"");
  std::int64_t rate = 0;
  try {
    rate = base::parse_bytes_per_second(value.text);
  } catch (const Error& e) {
    refuse(key, e.what());
  }
  if (rate == 0) refuse(key, "is 0: expected a rate above 0 such as \"16 GB/s\"");
  return rate;
}

std::int64_t Section::time_ps(std::string_view key) const {
  const Value& value = require(key, Type::text, "a time such as \"100 ns\"");
  std::int64_t time = 0;
  try {
    time = base::parse_picoseconds(value.text);
  } catch (const Error& e) {
    refuse(key, e.what());
  }
  if (time > kHourPs) refuse(key, "is \"" + value.text + "\": expected an hour at most");
  return time;
}

std::int64_t Section::time_ps(std::string_view key, std::int64_t fallback) const {
  return has(key) ? time_ps(key) : fallback;
}

std::optional<Section> Section::section(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return require(key, Type::section, "a table [" + std::string(key) + "]").sections.front();
}

std::vector<Section> Section::sections(std::string_view key) const {
  if (!has(key)) return {};
  return require(key, Type::sections, "tables [[" + std::string(key) + "]]").sections;
}

void Section::refuse(const std::string& why) const { refuse_at(position_, why); }

void Section::refuse(std::string_view key, const std::string& why) const {
  const Value* value = find(key);
  refuse_at(value == nullptr ? position_ : value->position, std::string(key) + " " + why);
}

void Section::refuse_at(Position position, const std::string& why) const { refuse_in(file_, position, why); }

const Section::Value* Section::find(std::string_view key) const {
  const auto found =
      std::find_if(values_.begin(), values_.end(), [&](const Value& value) { return value.key == key; });
  return found == values_.end() ? nullptr : &*found;
}

const Section::Value& Section::require(std::string_view key, Type type, std::string_view wanted) const {
  const Value* value = find(key);
  if (value == nullptr)
    refuse("the key \"" + std::string(key) + "\" is missing: expected " + std::string(wanted));
  if (value->type != type)
    refuse(key, "is " + std::string(value->type_name) + ": expected " + std::string(wanted));
  return *value;
}

}  // namespace nuna::topology
