#include "driver/spaced_launches.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace nuna::compiler {

namespace {

/// A mark of one character, a word, or a literal; where it begins and ends.
struct Token {
  char kind = 0;  ///< the character itself, 'w' for a word or number, 'q' for a literal
  std::size_t first = 0;
  std::size_t last = 0;
};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  std::vector<Token> tokens() {
    std::vector<Token> all;
    while (at_ < text_.size()) {
      if (skip_blank()) continue;
      const std::size_t first = at_;
      all.push_back({kind_of_next(), first, at_});
    }
    return all;
  }

 private:
  bool starts(std::string_view with) const { return text_.compare(at_, with.size(), with) == 0; }

  /// Behind `end`, or the end of the text.
  void go_behind(std::string_view end, std::size_t from) {
    const auto found = text_.find(end, from);
    at_ = found == std::string::npos ? text_.size() : found + end.size();
  }

  bool skip_blank() {
    if (starts("//")) {
      go_behind("\n", at_);
    } else if (starts("/*")) {
      go_behind("*/", at_ + 2);
    } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '\\') {
      ++at_;
    } else {
      return false;
    }
    return true;
  }

  char kind_of_next() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
      skip_literal(c);
      return 'q';
    }
    if (!in_word(c)) {
      ++at_;
      return c;
    }
    const std::size_t first = at_;
    // Numbers may hold ' between digits.
    const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
    while (at_ < text_.size() && (in_word(text_[at_]) || (number && text_[at_] == '\''))) ++at_;
    if (at_ < text_.size() && text_[at_] == '"' && text_[at_ - 1] == 'R' && at_ - first <= 3) {
      const auto open = text_.find('(', at_);
      if (open != std::string::npos) {
        go_behind(")" + text_.substr(at_ + 1, open - at_ - 1) + "\"", open);
        return 'q';
      }
    }
    return 'w';
  }

  void skip_literal(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

class Closer {
 public:
  explicit Closer(const std::string& source) : text_(source), tokens_(Scanner(source).tokens()) {}

  std::optional<std::string> close() {
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (!is_mark(i, '<') || is_operator(i)) continue;
      const auto end = end_of_launch(i + 3);
      if (end == 0) continue;
      join(i);
      join(end);
      i = end + 2;
    }
    return changed_ ? std::optional(text_) : std::nullopt;
  }

 private:
  bool touch(std::size_t i) const { return tokens_[i].last == tokens_[i + 1].first; }

  /// Three of `kind`, the first two side by side.
  bool is_mark(std::size_t i, char kind) const {
    return i + 2 < tokens_.size() && tokens_[i].kind == kind && tokens_[i + 1].kind == kind &&
           tokens_[i + 2].kind == kind && touch(i);
  }
  bool is_operator(std::size_t i) const {
    if (i == 0) return false;
    const auto& before = tokens_[i - 1];
    return before.kind == 'w' && text_.substr(before.first, before.last - before.first) == "operator";
  }

  /// The mark that ends a launch whose configuration begins at token `i`; 0 if there is none.
  std::size_t end_of_launch(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size() && tokens_[i].kind != ';'; ++i) {
      const char kind = tokens_[i].kind;
      if (kind == '(' || kind == '[' || kind == '{') ++depth;
      if ((kind == ')' || kind == ']' || kind == '}') && --depth < 0) return 0;
      if (depth == 0 && is_mark(i, '>')) return i;
    }
    return 0;
  }

  void join(std::size_t i) {
    if (touch(i + 1)) return;
    const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(tokens_[i + 1].last);
    const auto third = text_.begin() + static_cast<std::ptrdiff_t>(tokens_[i + 2].first);
    std::rotate(begin, third, third + 1);
    changed_ = true;
  }

  std::string text_;
  const std::vector<Token> tokens_;
  bool changed_ = false;
};

}  // namespace

std::optional<std::string> close_spaced_launches(const std::string& source) { return Closer(source).close(); }

}  // namespace nuna::compiler
