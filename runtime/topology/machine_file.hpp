#pragma once
// Machine files: a Machine as TOML that people write, and that tools write exactly. The format is in docs/machine-files.md.
//
//   const Machine hpe = read_machine_file("docs/machines/hpe.toml");
//   read_machine(write_machine(hpe), "copy.toml") == hpe
//
// Threads: any. Bounds: 65,536 ranks, a million parts, 64 MiB of text; a file with more is refused before it takes memory.
// Failure: nuna::Error (bad_setting), one line: file:line:column, what is wrong, what is accepted.

#include <filesystem>
#include <string>
#include <string_view>

#include "topology/machine.hpp"

namespace nuna::topology {

Machine read_machine(std::string_view toml, std::string_view file_name);
Machine read_machine_file(const std::filesystem::path& path);
/// The text of such a file, not yet read.
std::string machine_text(const std::filesystem::path& path);

/// Part by part, without types of nodes and counts: for any machine of at least one rank and without a problem(). Names are
/// UTF-8.
std::string write_machine(const Machine& machine);

}  // namespace nuna::topology
