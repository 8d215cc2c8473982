#include "watcher.hpp"

namespace nuna::cudart {
namespace {

Index address_of(const void* pointer) {
  return static_cast<Index>(reinterpret_cast<std::uintptr_t>(pointer));
}

thread_local TouchedLine last;
thread_local Watcher* here = nullptr;
thread_local Interval scratch_here;
thread_local Index stack_end_here = 0;

}  // namespace

TouchedLine last_touched_line() { return last; }

WatchingHere::WatchingHere(Watcher& watcher, const unsigned char* scratch, std::size_t scratch_bytes) {
  here = &watcher;
  scratch_here = {address_of(scratch), address_of(scratch) + static_cast<Index>(scratch_bytes)};
  stack_end_here = address_of(this);
}
WatchingHere::~WatchingHere() { here = nullptr; }

// Stacks grow down.
bool WatchingHere::is_own(Index address) {
  const char mark = 0;
  return scratch_here.contains(address) || Interval{address_of(&mark), stack_end_here}.contains(address);
}

}  // namespace nuna::cudart

extern "C" void* __nuna_audit(const void* address, uint64_t bytes, uint32_t kind, const char* file,
                              uint32_t line) {
  using namespace nuna::cudart;
  last = {file, line};
  if (here == nullptr || bytes == 0) return const_cast<void*>(address);
  const nuna::Index begin = address_of(address);
  const nuna::Index found = here->touch(
      {{begin, begin + static_cast<nuna::Index>(bytes)}, static_cast<nuna_audit_kind>(kind), file, line});
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a device's copy is another object
  return reinterpret_cast<void*>(found);
}
