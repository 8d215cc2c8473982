#pragma once
// New bytes for devices that have older ones, in the order of launches. For libraries over Nuna, not for users.

#include <vector>

#include "nuna/buffer.hpp"
#include "nuna/config.hpp"
#include "nuna/new_bytes.hpp"

namespace nuna {
inline namespace v0 {
namespace detail {

class ContextState;

/// Gives bytes new contents where devices have copies of the old ones, so that launches find them where the last ones needed them;
/// what no device has is written on the host. Returns when it is done and true; or false, and nothing has happened: no device has a
/// copy of any of them, or ranks have different bytes. `rows` ascend and do not overlap, all from the host or all of one value; with
/// several ranks it is one row, and a value is the same on all. Of a buffer of bytes with one axis. Replicated. Throws Error as launch does.
NUNA_API bool update(ContextState& context, const BufferHandle& buffer, const std::vector<NewBytes>& rows,
                     CallSite site);

}  // namespace detail
}  // namespace v0
}  // namespace nuna
