#include "ptx_tokens.hpp"

#include <cctype>
#include <stdexcept>

namespace nuna::cudart {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_in_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || is_digit(c) || c == '_' || c == '$';
}
bool begins_word(char c) { return (is_in_word(c) && !is_digit(c)) || c == '%'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  PtxToken next() {
    skip_blanks();
    PtxToken token{PtxToken::Kind::end, {}, at_, line_};
    if (at_ < text_.size()) token.kind = take();
    token.text = text_.substr(token.at, at_ - token.at);
    return token;
  }

 private:
  using Kind = PtxToken::Kind;

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip() {
    if (peek() == '\n') ++line_;
    ++at_;
  }

  void skip_past(std::string_view close, const char* what) {
    const PtxToken begin{Kind::end, {}, at_, line_};
    const std::size_t found = text_.find(close, at_ + 1);
    if (found == std::string_view::npos) refuse_ptx(begin, std::string(what) + " does not end");
    while (at_ < found + close.size()) skip();
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (peek() == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') skip();
      } else if (peek() == '/' && peek(1) == '*') {
        ++at_;
        skip_past("*/", "a comment");
      } else if (std::isspace(static_cast<unsigned char>(peek())) != 0 || peek() == '\0') {
        skip();
      } else {
        return;
      }
    }
  }

  void take_word() {
    ++at_;
    while (is_in_word(peek())) ++at_;
  }

  Kind take() {
    if (begins_word(peek())) {
      take_word();
      return Kind::word;
    }
    if (peek() == '.' && begins_word(peek(1))) {
      take_word();
      while (peek() == ':' && peek(1) == ':' && begins_word(peek(2))) {
        ++at_;
        take_word();
      }
      return Kind::directive;
    }
    if (is_digit(peek())) {
      while (is_in_word(peek()) || (peek() == '.' && is_in_word(peek(1)))) ++at_;
      return Kind::number;
    }
    if (peek() == '"') {
      skip_past("\"", "a quotation");
      return Kind::text;
    }
    ++at_;
    return Kind::mark;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

void refuse_ptx(const PtxToken& at, const std::string& what) {
  throw std::runtime_error("line " + std::to_string(at.line) + ": " + what);
}

std::vector<PtxToken> ptx_tokens(std::string_view text) {
  Lexer lexer(text);
  std::vector<PtxToken> tokens;
  do tokens.push_back(lexer.next());
  while (tokens.back().kind != PtxToken::Kind::end);
  return tokens;
}

}  // namespace nuna::cudart
