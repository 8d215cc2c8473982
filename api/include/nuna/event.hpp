#pragma once
// Event: one asynchronous operation of a Context.

#include <memory>

#include "nuna/config.hpp"

namespace nuna {
inline namespace v0 {

namespace detail {
class Completion;
}

/// Copyable; may outlive its Context (which completes everything first). Any thread.
class NUNA_API Event {
 public:
  Event() = default;  ///< complete
  explicit Event(std::shared_ptr<detail::Completion> completion) : completion_(std::move(completion)) {}

  /// Sleeps until the operation has completed on this rank. Throws the operation's failure, if it failed.
  void wait() const;
  bool done() const;

 private:
  std::shared_ptr<detail::Completion> completion_;
};

}  // namespace v0
}  // namespace nuna
