#pragma once
// PTX text, cut into tokens. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nuna::cudart {

struct PtxToken {
  enum class Kind {
    word,       ///< of an instruction, a name, a register: "mov", "_Z3addPf", "%tid"
    directive,  ///< with its dot, also behind a word: ".entry", ".u32", ".x", ".shared::cta"
    number,
    text,  ///< in quotes
    mark,  ///< one character
    end
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::size_t at = 0;  ///< of its first character
  int line = 1;

  std::size_t behind() const { return at + text.size(); }
  bool is(std::string_view what) const { return kind != Kind::text && text == what; }
};

/// "line 12: what": std::runtime_error.
[[noreturn]] void refuse_ptx(const PtxToken& at, const std::string& what);

/// All tokens of the text, which outlives them; comments are left out, the last is `end`. Throws std::runtime_error for a comment or
/// a quotation that does not end.
std::vector<PtxToken> ptx_tokens(std::string_view text);

}  // namespace nuna::cudart
