#pragma once
// Choices: all ways through code that decides, one after the other. The code asks choose() wherever it must decide; run again after
// each next(), it goes every way once. What conditions with "or" say becomes a union of conjunctions so. Pure.

#include <cstddef>
#include <optional>
#include <vector>

namespace nuna::compiler {

class Choices {
 public:
  explicit Choices(std::size_t most) : most_(most) {}

  /// Which of `alternatives` (0 is the first) to take; nothing once there were too many ways: then the code goes one way only, which
  /// decides nothing.
  std::optional<std::size_t> choose(std::size_t alternatives);

  /// Whether there is another way; begins it. Throws TooMany when the first `most` ways were not all: begin anew, without choices.
  bool next();
  struct TooMany {};

  static Choices none() { return Choices(0); }

 private:
  struct Decision {
    std::size_t taken;
    std::size_t alternatives;
  };
  std::size_t most_;
  std::size_t ways_ = 1;
  std::size_t at_ = 0;
  std::vector<Decision> decisions_;
};

}  // namespace nuna::compiler
