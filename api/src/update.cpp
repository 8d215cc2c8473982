// What the host gives to devices that have older bytes (runtime/execute/program_update.cpp).

#include "nuna/update.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "adsm/merge.hpp"
#include "context_state.hpp"

namespace nuna {
inline namespace v0 {
namespace detail {
namespace {

using Message = std::vector<std::byte>;

std::vector<Message> exchange(ContextState& context, const Message& own, const std::string& site) {
  const auto envelope = context.program().count_call("ask for an update", site, own.size());
  return context.program().communicator().allgather(envelope, own);
}

/// Whether devices of some rank have some of the bytes, and all ranks want the same. On one value they have agreed before.
bool is_for_all(ContextState& context, const NewBytes& row, bool devices_have, const std::string& site) {
  const std::vector<Message> who_has = exchange(context, {std::byte{devices_have}}, site);
  if (std::all_of(who_has.begin(), who_has.end(), [](const Message& m) { return m.front() == std::byte{0}; }))
    return false;
  if (row.from == nullptr) return true;
  const std::span bytes(static_cast<const std::byte*>(row.from), static_cast<std::size_t>(row.bytes.size()));
  const std::vector<Message> hashes = exchange(context, adsm::chunk_hashes(bytes), site);
  return std::all_of(hashes.begin(), hashes.end(), [&](const Message& m) { return m == hashes.front(); });
}

}  // namespace

bool update(ContextState& context, const BufferHandle& buffer, const std::vector<NewBytes>& rows,
            CallSite site) {
  const Inside inside(context, "update", site, kWithRoom);
  execute::Buffer& target = buffer_of(context, buffer, inside);
  const std::string where = to_string(site);
  execute::Arguments written;
  written.add(target, whole(), false, true, false);
  context.views().close_for_launch(written, where);
  const bool devices_have = context.program().devices_have(target, rows);
  if (context.runtime().ranks() == 1 ? !devices_have
                                     : !is_for_all(context, rows.front(), devices_have, where))
    return false;
  context.program().update(target, rows, where);
  return true;
}

}  // namespace detail
}  // namespace v0
}  // namespace nuna
