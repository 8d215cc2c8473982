#include "access/choices.hpp"

namespace nuna::compiler {

std::optional<std::size_t> Choices::choose(std::size_t alternatives) {
  if (most_ == 0) return std::nullopt;
  if (at_ == decisions_.size()) decisions_.push_back({0, alternatives});
  return decisions_[at_++].taken;
}

bool Choices::next() {
  at_ = 0;
  while (!decisions_.empty() && decisions_.back().taken + 1 == decisions_.back().alternatives)
    decisions_.pop_back();
  if (decisions_.empty()) return false;
  if (++ways_ > most_) throw TooMany();
  ++decisions_.back().taken;
  return true;
}

}  // namespace nuna::compiler
