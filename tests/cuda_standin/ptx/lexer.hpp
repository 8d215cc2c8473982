#pragma once
// Words, numbers and marks of PTX text.

#include <string>
#include <string_view>
#include <vector>

namespace standin::ptx {

struct Token {
  enum class Kind { kWord, kNumber, kString, kMark, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view text;  // of a word with all its dots ("ld.param.u64", "%tid.x", ".reg")
  int line = 0;

  bool is(std::string_view what) const {
    return (kind == Kind::kWord || kind == Kind::kMark) && text == what;
  }
};

/// All tokens of the text, which must outlive them; the last is kEnd. Debugging lines (.loc, .file) are left out.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace standin::ptx
