#include "ptx_module.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "ptx_tokens.hpp"

namespace nuna::cudart {
namespace {

using Kind = PtxToken::Kind;

template <class... Words>
bool is_one_of(const PtxToken& token, Words... words) {
  return (token.is(words) || ...);
}

/// Of ".u32"; 0 of what is no type of values in memory.
std::uint64_t bytes_of_type(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 18> kTypes{{{".b8", 1},
                                                                                      {".u8", 1},
                                                                                      {".s8", 1},
                                                                                      {".b16", 2},
                                                                                      {".u16", 2},
                                                                                      {".s16", 2},
                                                                                      {".f16", 2},
                                                                                      {".bf16", 2},
                                                                                      {".b32", 4},
                                                                                      {".u32", 4},
                                                                                      {".s32", 4},
                                                                                      {".f32", 4},
                                                                                      {".f16x2", 4},
                                                                                      {".b64", 8},
                                                                                      {".u64", 8},
                                                                                      {".s64", 8},
                                                                                      {".f64", 8},
                                                                                      {".b128", 16}}};
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [type](const auto& each) { return each.first == type; });
  return found == kTypes.end() ? 0 : found->second;
}

std::uint64_t number_of(const PtxToken& token) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  if (error != std::errc() || end != token.text.data() + token.text.size())
    refuse_ptx(token, "expected a number");
  return value;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(ptx_tokens(text)) {
    module_.functions_begin = text.size();
  }

  PtxModule module() {
    while (peek().kind != Kind::end) item();
    return std::move(module_);
  }

 private:
  const PtxToken& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const PtxToken& next() {
    const PtxToken& token = peek();
    if (token.kind == Kind::end) refuse_ptx(token, "the text ends too early");
    ++at_;
    return token;
  }
  bool accept(std::string_view what) {
    if (!peek().is(what)) return false;
    ++at_;
    return true;
  }
  const PtxToken& expect(std::string_view what) {
    if (!peek().is(what))
      refuse_ptx(peek(), "expected '" + std::string(what) + "' at '" + std::string(peek().text) + "'");
    return next();
  }
  /// Past the bracket that closes one that has been read.
  const PtxToken& close(std::string_view open, std::string_view shut) {
    for (int depth = 1;;) {
      const PtxToken& token = next();
      depth += token.is(open) ? 1 : token.is(shut) ? -1 : 0;
      if (depth == 0) return token;
    }
  }
  void skip_line() {
    const int line = peek().line;
    while (peek().kind != Kind::end && peek().line == line) ++at_;
  }

  // ---- the module ----

  void item() {
    const std::size_t begin = peek().at;
    if (is_one_of(peek(), ".version", ".target", ".address_size", ".file", ".loc")) return skip_line();
    if (accept(".section")) {
      while (!accept("{")) next();
      close("{", "}");
      return;
    }
    while (is_one_of(peek(), ".visible", ".weak", ".common", ".extern")) next();
    const PtxToken& what = next();
    if (is_one_of(what, ".entry", ".func")) {
      module_.functions_begin = std::min(module_.functions_begin, begin);
      return function(what.is(".entry"));
    }
    if (is_one_of(what, ".global", ".const", ".shared")) return variables(!what.is(".shared"));
    if (!is_one_of(what, ".pragma", ".alias", ".tex"))
      refuse_ptx(what, "'" + std::string(what.text) + "' is not known here");
    while (!accept(";")) next();
  }

  void variables(bool kept) {
    std::uint64_t bytes = 0;
    std::uint64_t elements = 1;
    while (peek().kind == Kind::directive) {
      const PtxToken& word = next();
      if (word.is(".align")) {
        next();
      } else if (word.is(".attribute")) {
        attribute(word);
      } else if (is_one_of(word, ".v2", ".v4")) {
        elements = word.is(".v2") ? 2 : 4;
      } else {
        bytes = bytes_of_type(word.text);
      }
    }
    do {
      const std::string name(next().text);
      const std::uint64_t size = bytes * elements * dimensions();
      if (kept) module_.variables.push_back({name, size});
      if (accept("=")) skip_value();
    } while (accept(","));
    expect(";");
  }

  void attribute(const PtxToken& word) {
    expect("(");
    const bool managed = peek().is(".managed");
    const PtxToken& end = close("(", ")");
    if (managed) module_.managed.push_back({word.at, end.behind()});
  }

  /// "[4][2]" is 8; "[]" is 0.
  std::uint64_t dimensions() {
    std::uint64_t count = 1;
    while (accept("[")) {
      count *= peek().is("]") ? 0 : number_of(next());
      expect("]");
    }
    return count;
  }

  void skip_value() {
    if (accept("{")) {
      close("{", "}");
    } else {
      while (!is_one_of(peek(), ",", ";")) next();
    }
  }

  // ---- functions ----

  void function(bool is_entry) {
    PtxFunction made;
    made.is_entry = is_entry;
    if (accept(".attribute")) {
      expect("(");
      close("(", ")");
    }
    if (accept("(")) close("(", ")");
    const PtxToken& name = next();
    made.name = name.text;
    made.parameters_end = name.behind();
    if (accept("(")) parameters(made);
    while (!is_one_of(peek(), "{", ";")) {
      const PtxToken& directive = next();
      if (is_one_of(directive, ".explicitcluster", ".reqnctapercluster"))
        refuse(made, directive, std::string(directive.text));
    }
    if (accept(";")) return;
    made.body_begin = expect("{").behind();
    body(made);
    module_.functions.push_back(std::move(made));
  }

  void parameters(PtxFunction& function) {
    function.has_parameter_list = true;
    while (!peek().is(")")) {
      std::uint64_t bytes = 0;
      while (peek().kind == Kind::directive) {
        const PtxToken& word = next();
        if (word.is(".align")) {
          next();
        } else {
          bytes = std::max(bytes, bytes_of_type(word.text));
        }
      }
      next();  // its name
      function.parameter_bytes.push_back(bytes * dimensions());
      if (!accept(",") && !peek().is(")")) refuse_ptx(peek(), "expected ',' or ')'");
    }
    function.parameters_end = next().at;
  }

  /// The first stays.
  static void refuse(PtxFunction& function, const PtxToken& at, const std::string& what) {
    if (function.refusal.empty()) function.refusal = "line " + std::to_string(at.line) + ": " + what;
  }

  void body(PtxFunction& function) {
    for (int depth = 1; depth > 0;) {
      if (accept("{")) {
        ++depth;
      } else if (accept("}")) {
        --depth;
      } else if (is_one_of(peek(), ".loc", ".file")) {
        skip_line();
      } else if (peek(1).is(":")) {
        at_ += 2;  // a label
      } else {
        statement(function);
      }
    }
  }

  /// An instruction, or a declaration.
  void statement(PtxFunction& function) {
    if (accept("@")) {
      accept("!");
      next();
    }
    if (next().is("call")) function.calls = true;
    const PtxToken* type = &tokens_[at_ - 1];
    while (peek().kind == Kind::directive) type = &next();
    while (!accept(";")) operand(function, *type);
  }

  void operand(PtxFunction& function, const PtxToken& type) {
    const PtxToken& token = next();
    if (token.kind != Kind::word) return;
    if (is_one_of(token, "%gridid", "%clusterid", "%nclusterid") || token.text.starts_with("%envreg"))
      return refuse(function, token, std::string(token.text));
    if (!is_one_of(token, "%ctaid", "%nctaid")) return;
    if (peek().is(".w")) return;  // 0, and 1
    const std::string whole(token.text);
    if (!is_one_of(peek(), ".x", ".y", ".z")) return refuse(function, token, whole + " as a vector");
    const PtxToken& axis = next();
    if (!is_one_of(type, ".u32", ".s32", ".b32"))
      return refuse(function, token, whole + " read as " + std::string(type.text));
    function.reads.push_back({{token.at, axis.behind()}, token.is("%nctaid"), axis.text[1] - 'x'});
  }

  const std::vector<PtxToken> tokens_;
  std::size_t at_ = 0;
  PtxModule module_;
};

}  // namespace

PtxModule parse_ptx(std::string_view text) { return Parser(text).module(); }

}  // namespace nuna::cudart
