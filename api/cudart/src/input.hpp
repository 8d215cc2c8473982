#pragma once
// Standard input of a program that runs on several ranks: launchers give it to the first rank, and the others are to read the same.
//
// On the first rank a thread takes what comes, when it comes, and hands it to the program, by a pipe in the input's place, and to the other
// ranks, by sockets (input_sockets.hpp). It takes no more than somebody waits for, so who never reads waits for nothing. What another
// rank has not read yet is kept in memory. A file is left to the program as it is, and read beside it; so is a terminal, which the others
// do not get.
//
// A rank whose input is not /dev/null has one from elsewhere, and keeps it. On other nodes than the first rank's the input is empty
// where the launcher has no PMIx.

#include "ranks.hpp"

namespace nuna::cudart {

/// Once, before the program's own code.
void share_standard_input(const Ranks& here) noexcept;

}  // namespace nuna::cudart
