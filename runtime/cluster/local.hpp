#pragma once
// The communicator of a Context with one rank: there is nobody to talk to.
//
// send() and receive() would be to the rank itself, which planning never asks for: a broken invariant.
// allgather() returns the caller's own bytes, or throws Error (diverged) when its envelope carries a failure,
// as the clusters of several ranks do.

#include <memory>

#include "cluster/communicator.hpp"

namespace nuna::cluster {

std::unique_ptr<Communicator> make_local();

}  // namespace nuna::cluster
