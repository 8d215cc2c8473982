#include "codegen/ptx_syntax.hpp"

#include <cctype>
#include <cstdlib>
#include <optional>

namespace nuna::compiler::ptx {

namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  std::vector<Statement> statements() {
    while (!token_.empty()) {
      if (token_ == "{" || token_ == "}" || token_ == ";") {
        advance();
      } else {
        statement();
      }
    }
    return std::move(statements_);
  }

 private:
  /// A word with its dots, or one mark.
  void advance() {
    skip();
    std::size_t end = at_;
    if (end < text_.size() && (in_word(text_[end]) || text_[end] == '.')) {
      while (end < text_.size()) {
        if (in_word(text_[end]) || text_[end] == '.') {
          ++end;
        } else if (text_.substr(end, 2) == "::") {
          end += 2;
        } else {
          break;
        }
      }
    } else if (end < text_.size()) {
      ++end;
    }
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

  bool taken(std::string_view mark) {
    if (token_ != mark) return false;
    advance();
    return true;
  }

  void expect(std::string_view mark) {
    if (!taken(mark)) throw Unknown("'" + std::string(mark) + "' expected at '" + std::string(token_) + "'");
  }

  std::string word() {
    if (token_.empty() || !(in_word(token_[0]) || token_[0] == '.'))
      throw Unknown("a word expected at '" + std::string(token_) + "'");
    std::string found(token_);
    advance();
    return found;
  }

  void statement() {
    Statement made;
    if (taken("@")) {
      made.unless = taken("!");
      made.guard = word();
    }
    const std::string text = word();
    if (token_ == ":") throw Unknown("the label " + text);
    for (std::size_t begin = 0; begin <= text.size();) {
      const auto end = std::min(text.find('.', begin), text.size());
      made.words.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    if (made.words[0].empty()) return declaration(made, text);
    bool first = true;
    while (!token_.empty() && token_ != ";" && token_ != "}") {
      if (!first) expect(",");
      made.operands.push_back(operand());
      if (first && taken("|")) made.second = word();
      first = false;
    }
    taken(";");
    statements_.push_back(std::move(made));
  }

  /// .reg .pred p, q;
  void declaration(Statement made, const std::string& text) {
    if (made.words.size() == 2 && text == ".reg") {
      const std::string type = word();
      if (type[0] != '.') throw Unknown(".reg " + type);
      made.words.push_back(type.substr(1));
    }
    if (made.words.size() != 3 || made.words[1] != "reg" || type_named(made.words[2]).width == 0) throw Unknown(text);
    do {
      auto one = made;
      one.operands.push_back({Operand::Form::name, word(), 0, 0, false, {}});
      if (token_ == "<") throw Unknown("a range of registers");
      statements_.push_back(std::move(one));
    } while (taken(","));
    expect(";");
  }

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
      made.name = word();
      if (taken("+")) made.number = number(taken("-"));
      expect("]");
      return made;
    }
    made.negated = taken("!");
    const bool minus = taken("-");
    if (!token_.empty() && std::isdigit(static_cast<unsigned char>(token_[0])) != 0) {
      if (const auto bits = real()) {
        made.form = Operand::Form::real;
        made.number = *bits;
        made.width = token_[1] == 'f' || token_[1] == 'F' ? 32 : 64;
        advance();
      } else {
        made.form = Operand::Form::number;
        made.number = number(minus);
      }
      return made;
    }
    made.name = word();
    return made;
  }

  /// 0f3F800000 and 0d3FF0000000000000 are bits.
  std::optional<std::int64_t> real() const {
    if (token_.size() < 3 || token_[0] != '0' || (token_.size() != 10 && token_.size() != 18)) return std::nullopt;
    const auto mark = static_cast<char>(std::tolower(token_[1]));
    if (mark != (token_.size() == 10 ? 'f' : 'd')) return std::nullopt;
    return static_cast<std::int64_t>(std::strtoull(std::string(token_.substr(2)).c_str(), nullptr, 16));
  }

  std::int64_t number(bool minus) {
    std::string text = word();
    if (text.find('.') != std::string::npos) throw Unknown("the number " + text);
    while (text.back() == 'U' || text.back() == 'u') text.pop_back();
    char* end = nullptr;
    const auto value = std::strtoull(text.c_str(), &end, 0);
    if (*end != '\0') throw Unknown("the number " + text);
    return static_cast<std::int64_t>(minus ? 0 - value : value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view token_;
  std::vector<Statement> statements_;
};

}  // namespace

Type type_named(std::string_view word) {
  if (word == "pred") return {Kind::predicate, 1};
  if (word.size() < 2) return {};
  const std::string_view width = word.substr(1);
  unsigned bits = 0;
  for (const unsigned each : {8, 16, 32, 64}) {
    if (width == std::to_string(each)) bits = each;
  }
  switch (word[0]) {
    case 'b':
      return {Kind::bits, bits};
    case 's':
      return {Kind::sign, bits};
    case 'u':
      return {Kind::unsign, bits};
    case 'f':
      return {Kind::floating, bits >= 32 ? bits : 0};
    default:
      return {};
  }
}

std::vector<Statement> parse(std::string_view text) { return Parser(text).statements(); }

}  // namespace nuna::compiler::ptx
