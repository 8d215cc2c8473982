#pragma once
// LaunchForm: which of a launch's numbers decide what it touches, and which only where.
//
// Programs launch a kernel again and again with other scalars: a step, a place in an array. Of two launches of one grid and block with
// equal deciding() numbers the accesses through each pointer touch the same bytes, counted from its begins(). So what was found
// out of one of them (polyhedral.hpp), once moved, holds for the other, and the assumptions hold for both or for neither.
//
// A scalar only moves a pointer's bytes if it stands in no condition, with no variable, and in the first bytes of all accesses
// through the pointer in the same terms. Pure; concurrent const calls are safe.

#include <cstdint>
#include <vector>

#include "access/kernel_model.hpp"
#include "access/polyhedral.hpp"

namespace nuna::access {

class LaunchForm {
 public:
  /// `model` outlives it.
  explicit LaunchForm(const KernelModel& model);

  struct Form {
    std::vector<std::int64_t> deciding;
    std::vector<Index> begins;  ///< of each of the model's pointers, in bytes; may be negative
  };
  /// Where numbers are too large, or an index is not known at a glance to stay in its bits, more of them decide.
  Form of(const LaunchNumbers& numbers) const;

 private:
  using Flags = std::vector<bool>;  // of parameters
  struct Glance {                   // of an assumption
    bool is_possible = false;       // nothing in its value but blocks and threads
    Flags in_it;
  };

  static void note(const Polynomial& polynomial, bool constants_too, Flags* in_it);
  bool holds(const Assumption& assumption, const std::vector<std::int64_t>& numbers) const;

  const KernelModel& model_;
  Flags decides_;
  std::vector<Polynomial> begins_;
  std::vector<Glance> glances_;
};

/// The numbers of all parameters, derived ones too.
std::vector<std::int64_t> all_numbers(const KernelModel& model, const LaunchNumbers& numbers);

}  // namespace nuna::access
