#pragma once
// Broken invariants of Nuna's own: they stop the process loudly, and throw under test.
//
// Failures of the world and mistakes of the user are nuna::Error (nuna/error.hpp) instead; where a destructor finds them,
// and throwing would end the process without a word, stop() ends it with one.

#include <source_location>
#include <stdexcept>
#include <string_view>

namespace nuna::base {

/// What a failed check throws when a test asked for it.
struct BrokenInvariant : std::logic_error {
  using std::logic_error::logic_error;
};

/// Prints the text and where it happened, then aborts (or throws BrokenInvariant inside ThrowOnPanic's scope).
[[noreturn]] void panic(std::string_view text, std::source_location where = std::source_location::current());

/// Prints "nuna: <text>" and aborts: for a user's mistake that destructors find, where nothing can be thrown.
[[noreturn]] void stop(std::string_view text);

/// Panics unless `condition` holds. For invariants, never for a user's arguments.
inline void check(bool condition, std::string_view text,
                  std::source_location where = std::source_location::current()) {
  if (!condition) [[unlikely]]
    panic(text, where);
}

/// While one is alive, panics throw instead of aborting (any thread). For tests.
class ThrowOnPanic {
 public:
  ThrowOnPanic();
  ~ThrowOnPanic();
  ThrowOnPanic(const ThrowOnPanic&) = delete;
  ThrowOnPanic& operator=(const ThrowOnPanic&) = delete;
};

}  // namespace nuna::base
