#include "codegen/ptx_text.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

namespace nuna::compiler::ptx {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  std::vector<Instruction> instructions() {
    scopes_.emplace_back();
    while (!token_.empty()) {
      if (taken("{")) {
        scopes_.emplace_back();
        ++braces_;
      } else if (taken("}")) {
        if (scopes_.size() == 1) throw Unknown("a '}' without its '{'");
        scopes_.pop_back();
      } else if (!taken(";")) {
        statement();
      }
    }
    return std::move(instructions_);
  }

 private:
  // ---- words and marks

  /// A word with its dots, or one mark.
  void advance() {
    skip();
    auto end = at_;
    while (end < text_.size()) {
      if (text_.substr(end, 2) == "${") {
        end = std::min(text_.find('}', end), text_.size() - 1) + 1;
      } else if (in_word(text_[end]) || text_[end] == '.') {
        ++end;
      } else if (text_.substr(end, 2) == "::") {
        end += 2;
      } else {
        break;
      }
    }
    if (end == at_ && end < text_.size()) ++end;
    token_ = text_.substr(at_, end - at_);
    at_ = end;
  }

  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const auto end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        break;
      }
    }
  }

  char first() const { return token_.empty() ? '\0' : token_[0]; }

  bool taken(std::string_view mark) {
    if (token_ != mark) return false;
    advance();
    return true;
  }

  void expect(std::string_view mark) {
    if (!taken(mark)) throw Unknown(quoted(token_) + " where " + quoted(mark) + " belongs");
  }

  std::string word() {
    if (!in_word(first()) && first() != '.') throw Unknown(quoted(token_) + " where a word belongs");
    std::string found(token_);
    advance();
    return found;
  }

  /// A register's name, as the innermost scope that declares it knows it. "$$" is a plain dollar.
  std::string name() {
    auto found = word();
    if (found.starts_with("$$")) found.erase(0, 1);
    if (found.starts_with("${")) throw Unknown("the operand " + found);
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto renamed = scope->find(found); renamed != scope->end()) return renamed->second;
    }
    return found;
  }

  // ---- statements

  void statement() {
    Instruction made;
    if (taken("@")) {
      made.unless = taken("!");
      made.guard = name();
    }
    made.text = word();
    if (taken(":")) {
      made.name = ":";
      made.operands = {Operand::named(made.text)};
      instructions_.push_back(std::move(made));
      return;
    }
    if (made.text[0] == '.') return declaration(made);
    for (std::size_t begin = 0; begin <= made.text.size();) {
      const auto end = std::min(made.text.find('.', begin), made.text.size());
      const auto part = made.text.substr(begin, end - begin);
      if (begin == 0) {
        made.name = part;
      } else if (const auto type = type_named(part); type.width != 0) {
        made.types.push_back(type);
      } else {
        made.words.push_back(part);
      }
      begin = end + 1;
    }
    try {
      operands(made);
    } catch (const Unknown& unknown) {
      throw Unknown(made.text + ": " + unknown.what());
    }
    taken(";");
    instructions_.push_back(std::move(made));
  }

  void operands(Instruction& of) {
    bool first = true;
    while (!token_.empty() && token_ != ";" && token_ != "}") {
      if (!first) expect(",");
      of.operands.push_back(operand());
      if (first && taken("|")) of.operands.back().second = name();
      first = false;
    }
  }

  /// .reg .pred p, q<3>;
  void declaration(Instruction made) {
    if (made.text == ".reg") made.text += word();
    if (!made.text.starts_with(".reg.")) throw Unknown(made.text);
    made.name = ".reg";
    made.types = {type_named(std::string_view(made.text).substr(5))};
    if (made.types[0].width == 0) throw Unknown(made.text);
    do {
      auto declared = word();
      if (declared.starts_with("$$")) declared.erase(0, 1);
      if (taken("<")) {
        const auto count = integer(false);
        if (count > 1000) throw Unknown("so many registers at once");
        expect(">");
        for (std::int64_t i = 0; i < count; ++i) declare(made, declared + std::to_string(i));
      } else {
        declare(made, declared);
      }
    } while (taken(","));
    expect(";");
  }

  void declare(Instruction made, const std::string& declared) {
    auto& known = scopes_.back()[declared];
    known = scopes_.size() == 1 ? declared : declared + "'" + std::to_string(braces_);
    made.operands = {Operand::named(known)};
    instructions_.push_back(std::move(made));
  }

  // ---- operands

  Operand operand() {
    Operand made;
    if (taken("{")) {
      made.form = Operand::Form::vector;
      do made.members.push_back(operand());
      while (taken(","));
      expect("}");
      return made;
    }
    if (taken("[")) {
      made.form = Operand::Form::address;
      if (is_digit(first())) {
        made.number = integer(false);
      } else {
        made.name = name();
        if (token_ == "+" || token_ == "-") {
          bool minus = token_ == "-";
          advance();
          if (taken("-")) minus = !minus;
          if (first() == '$') {
            made.members.push_back(Operand::named(name()));  // "[a+$1]" of an immediate operand
            if (minus) throw Unknown("a difference as an address");
          } else {
            made.number = integer(minus);
          }
        }
      }
      expect("]");
      return made;
    }
    made.negated = taken("!");
    const bool minus = taken("-");
    if (is_digit(first())) {
      if (const auto number = real()) {
        made.form = Operand::Form::real;
        made.real = minus ? -*number : *number;
        advance();
      } else {
        made.form = Operand::Form::integer;
        made.number = integer(minus);
      }
      return made;
    }
    if (minus) throw Unknown("'-' before " + quoted(token_));
    made.name = name();
    return made;
  }

  /// 0f3F800000 and 0d3FF0000000000000 are bits; 1.5 is what it says.
  std::optional<double> real() const {
    const auto* begin = token_.data();
    const auto* end = begin + token_.size();
    const char mark =
        token_.size() > 2 && token_[0] == '0' ? static_cast<char>(std::tolower(token_[1])) : ' ';
    if ((mark == 'f' && token_.size() == 10) || (mark == 'd' && token_.size() == 18)) {
      std::uint64_t bits = 0;
      if (std::from_chars(begin + 2, end, bits, 16).ptr != end) return std::nullopt;
      return mark == 'f' ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                         : std::bit_cast<double>(bits);
    }
    if (token_.find('.') == std::string_view::npos) return std::nullopt;
    double value = 0;
    if (std::from_chars(begin, end, value).ptr != end) return std::nullopt;
    return value;
  }

  std::int64_t integer(bool minus) {
    const auto text = word();
    std::string_view digits = text;
    if (digits.ends_with('U') || digits.ends_with('u')) digits.remove_suffix(1);
    int base = 10;
    auto prefixed = [&](std::string_view lower, std::string_view upper, int with) {
      if (!digits.starts_with(lower) && !digits.starts_with(upper)) return false;
      digits.remove_prefix(lower.size());
      base = with;
      return true;
    };
    if (!prefixed("0x", "0X", 16) && !prefixed("0b", "0B", 2) && digits.size() > 1) prefixed("0", "0", 8);
    std::uint64_t value = 0;
    const auto* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, value, base);
    if (result.ptr != end || result.ec != std::errc()) throw Unknown("the number " + text);
    return static_cast<std::int64_t>(minus ? 0 - value : value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view token_;
  std::vector<std::map<std::string, std::string>> scopes_;  ///< declared -> known as
  unsigned braces_ = 0;
  std::vector<Instruction> instructions_;
};

}  // namespace

Operand Operand::named(std::string name) {
  Operand made;
  made.name = std::move(name);
  return made;
}

bool Instruction::has(std::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Type Instruction::type() const {
  if (types.empty()) refuse();
  return types.back();
}

void Instruction::expect(std::size_t count, std::initializer_list<std::string_view> known) const {
  if (operands.size() != count)
    throw Unknown(text + " with " + std::to_string(operands.size()) + " operands");
  for (const auto& word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end()) refuse();
  }
}

void Instruction::refuse() const { throw Unknown(text); }

Type type_named(std::string_view word) {
  if (word == "pred") return {Kind::predicate, 1};
  if (word == "f16x2") return {Kind::real, 32, true};
  if (word.size() < 2) return {};
  unsigned bits = 0;
  for (const unsigned each : {8, 16, 32, 64}) {
    if (word.substr(1) == std::to_string(each)) bits = each;
  }
  if (word == "b128") bits = 128;
  switch (word[0]) {
    case 'b':
      return {Kind::bits, bits};
    case 's':
      return {Kind::sign, bits};
    case 'u':
      return {Kind::unsign, bits};
    case 'f':
      return {Kind::real, bits >= 16 ? bits : 0};
    default:
      return {};
  }
}

std::vector<Instruction> parse(std::string_view text) { return Parser(text).instructions(); }

}  // namespace nuna::compiler::ptx
