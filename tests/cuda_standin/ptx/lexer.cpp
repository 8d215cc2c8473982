// Cuts PTX text into tokens.

#include "ptx/lexer.hpp"

#include <cctype>

#include "ptx/syntax.hpp"

namespace standin::ptx {
namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}
bool in_word(char c) {
  return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> all() {
    std::vector<Token> tokens;
    for (;;) {
      skip_space();
      const Token token = next();
      if (token.is(".loc") || token.is(".file")) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        continue;
      }
      tokens.push_back(token);
      if (token.kind == Token::Kind::kEnd) return tokens;
    }
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_space() {
    while (at_ < text_.size()) {
      if (peek() == '\n') ++line_;
      if (std::isspace(static_cast<unsigned char>(peek())) != 0 || peek() == '\0') {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') ++at_;
      } else if (peek() == '/' && peek(1) == '*') {
        while (at_ < text_.size() && !(peek() == '*' && peek(1) == '/'))
          line_ += peek() == '\n' ? 1 : 0, ++at_;
        at_ += 2;
      } else {
        return;
      }
    }
  }

  Token cut(Token::Kind kind, std::size_t begin) const {
    return {kind, text_.substr(begin, at_ - begin), line_};
  }

  Token next() {
    const std::size_t begin = at_;
    const char c = peek();
    if (at_ >= text_.size()) return {Token::Kind::kEnd, {}, line_};
    if (starts_word(c) || (c == '.' && starts_word(peek(1)))) {
      const bool directive = c == '.';  // ".reg.b32 x" is two words, "ld.param.b32" is one
      for (++at_; (in_word(peek()) && !(directive && peek() == '.')) || (peek() == ':' && peek(1) == ':');
           ++at_)
        if (peek() == ':') ++at_;  // ".shared::cta"
      return cut(Token::Kind::kWord, begin);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (in_word(peek()) || ((peek() == '+' || peek() == '-') && decimal_exponent(begin))) ++at_;
      return cut(Token::Kind::kNumber, begin);
    }
    ++at_;
    if (c == '"') {
      while (at_ < text_.size() && peek() != '"') ++at_;
      ++at_;
      return cut(Token::Kind::kString, begin);
    }
    return cut(Token::Kind::kMark, begin);
  }

  /// Of "1.5e-3", but not of "0x1e-3" nor "0f3F80000e".
  bool decimal_exponent(std::size_t begin) const {
    const char last = text_[at_ - 1];
    return (last == 'e' || last == 'E') &&
           text_.substr(begin, at_ - begin).find('.') != std::string_view::npos;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).all(); }

}  // namespace standin::ptx
