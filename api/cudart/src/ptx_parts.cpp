#include "ptx_parts.hpp"

#include <algorithm>

#include "ptx_tokens.hpp"

namespace nuna::cudart {
namespace {

// Names of what is added; ptx_for_parts refuses text that has them.
const std::string kParameter = "__nuna_part";
const std::string kShared = "__nuna_part_of_block";
const std::string kBlock = "%nuna_block";
const std::string kGrid = "%nuna_grid";

constexpr int kWordBytes = 4;
constexpr int kGridWord = 3;  // the first of the grid's size

/// Text in the place of [begin, end). No two begin at one place.
struct Edit {
  PtxSpan at;
  std::string text;
};

std::string word_of(const std::string& base, int word) {
  return "[" + base + "+" + std::to_string(word * kWordBytes) + "]";
}
std::string axis_of(const std::string& base, int axis) { return base + std::to_string(axis); }

std::string registers() { return "\n\t.reg .b32 " + kBlock + "<3>, " + kGrid + "<3>;\n"; }

/// Each register from its word, by a load of this kind.
std::string load_words(const std::string& load, const std::string& from) {
  std::string text = registers();
  for (int axis = 0; axis < 3; ++axis) {
    text += "\t" + load + " " + axis_of(kBlock, axis) + ", " + word_of(from, axis) + ";\n";
    text += "\t" + load + " " + axis_of(kGrid, axis) + ", " + word_of(from, kGridWord + axis) + ";\n";
  }
  return text;
}

std::string entry_begin(bool leaves_words) {
  std::string text = load_words("ld.param.b32", kParameter);
  text += "\t.reg .b32 %nuna_own;\n";
  for (int axis = 0; axis < 3; ++axis) {
    text += std::string("\tmov.b32 %nuna_own, %ctaid.") + "xyz"[axis] + ";\n";
    text += "\tadd.s32 " + axis_of(kBlock, axis) + ", " + axis_of(kBlock, axis) + ", %nuna_own;\n";
  }
  for (int axis = 0; leaves_words && axis < 3; ++axis) {
    text += "\tst.volatile.shared.b32 " + word_of(kShared, axis) + ", " + axis_of(kBlock, axis) + ";\n";
    text += "\tst.volatile.shared.b32 " + word_of(kShared, kGridWord + axis) + ", " + axis_of(kGrid, axis) +
            ";\n";
  }
  return text;
}

std::string function_begin() { return load_words("ld.volatile.shared.b32", kShared); }

std::string sized(const std::string& name) {
  return ".align 4 .b8 " + name + "[" + std::to_string(kPartWords * kWordBytes) + "]";
}

PtxSpan at(std::size_t place) { return {place, place}; }

Edit parameter_of(const PtxFunction& entry) {
  std::string parameter = ".param " + sized(kParameter);
  if (!entry.has_parameter_list) parameter = "(" + parameter + ")";
  if (!entry.parameter_bytes.empty()) parameter = ", " + parameter;
  return {at(entry.parameters_end), parameter};
}

void replace_reads(const PtxFunction& function, std::vector<Edit>& edits) {
  for (const PtxBlockRead& read : function.reads)
    edits.push_back({read.at, axis_of(read.of_grid ? kGrid : kBlock, read.axis)});
}

void edit_entry(const PtxFunction& entry, bool functions_read, std::vector<Edit>& edits) {
  edits.push_back(parameter_of(entry));
  const bool leaves_words = entry.calls && functions_read;
  if (!entry.reads.empty() || leaves_words)
    edits.push_back({at(entry.body_begin), entry_begin(leaves_words)});
  replace_reads(entry, edits);
}

std::string applied(std::string_view text, std::vector<Edit> edits) {
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.at.begin < b.at.begin; });
  std::string result;
  std::size_t copied = 0;
  for (const Edit& edit : edits) {
    result += text.substr(copied, edit.at.begin - copied);
    result += edit.text;
    copied = edit.at.end;
  }
  result += text.substr(copied);
  return result;
}

void check_names(std::string_view ptx) {
  for (const PtxToken& token : ptx_tokens(ptx)) {
    if (token.text.starts_with("%nuna_") || token.text.starts_with(kParameter))
      refuse_ptx(token, "the name '" + std::string(token.text) + "' is taken");
  }
}

bool reads_blocks(const PtxFunction& function) { return !function.is_entry && !function.reads.empty(); }

/// Its own, or that of a function that it may call.
std::string refusal_of(const PtxFunction& entry, const PtxModule& module) {
  if (!entry.refusal.empty() || !entry.calls) return entry.refusal;
  for (const PtxFunction& function : module.functions) {
    if (!function.is_entry && !function.refusal.empty()) return function.refusal;
  }
  return {};
}

}  // namespace

PartsPtx ptx_for_parts(std::string_view ptx) {
  check_names(ptx);
  PtxModule module = parse_ptx(ptx);
  const bool functions_read = std::any_of(module.functions.begin(), module.functions.end(), reads_blocks);
  PartsPtx made;
  std::vector<Edit> edits;
  edits.reserve(module.managed.size());
  for (const PtxSpan& managed : module.managed) edits.push_back({managed, ""});
  if (functions_read) edits.push_back({at(module.functions_begin), ".shared " + sized(kShared) + ";\n"});
  for (const PtxFunction& function : module.functions) {
    if (function.is_entry) {
      std::string refusal = refusal_of(function, module);
      if (refusal.empty()) edit_entry(function, functions_read, edits);
      made.entries.push_back({function.name, function.parameter_bytes, std::move(refusal)});
    } else if (reads_blocks(function)) {
      edits.push_back({at(function.body_begin), function_begin()});
      replace_reads(function, edits);
    }
  }
  made.text = applied(ptx, std::move(edits));
  made.variables = std::move(module.variables);
  return made;
}

}  // namespace nuna::cudart
