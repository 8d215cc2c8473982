#include "block_audit.hpp"

#include <algorithm>
#include <cstring>

namespace nuna::cudart {
namespace {

thread_local BlockAudit* here = nullptr;

constexpr std::size_t kMostTrespasses = 256;
constexpr std::size_t kMostUnwritten = 16;

}  // namespace

void BlockAudit::touch(const Trespass& access) {
  const bool writes = access.kind != NUNA_AUDIT_READ;
  if (writes) {
    for (MarkedBytes& each : expected_) each.mark(access.bytes);
  }
  if (!(writes ? writes_.holds(access.bytes, &near_write_) : reads_.holds(access.bytes, &near_read_)))
    keep(access);
}

void BlockAudit::keep(const Trespass& access) {
  for (Trespass& other : trespasses_) {
    if (other.kind != access.kind || other.line != access.line || other.file != access.file) continue;
    if (access.bytes.begin > other.bytes.end || access.bytes.end < other.bytes.begin) continue;
    other.bytes = {std::min(other.bytes.begin, access.bytes.begin),
                   std::max(other.bytes.end, access.bytes.end)};
    return;
  }
  if (!is_judged_(access.bytes, access.kind != NUNA_AUDIT_READ)) return;
  if (trespasses_.size() < kMostTrespasses) trespasses_.push_back(access);
}

std::vector<Interval> BlockAudit::unwritten(std::size_t expected) const {
  return expected_[expected].unmarked(kMostUnwritten);
}

AuditingHere::AuditingHere(BlockAudit& block) { here = &block; }
AuditingHere::~AuditingHere() { here = nullptr; }

}  // namespace nuna::cudart

extern "C" void __nuna_audit(const void* address, uint64_t bytes, uint32_t kind, const char* file,
                             uint32_t line) {
  using namespace nuna::cudart;
  if (here == nullptr || bytes == 0) return;
  const auto begin = static_cast<nuna::Index>(reinterpret_cast<std::uintptr_t>(address));
  here->touch(
      {{begin, begin + static_cast<nuna::Index>(bytes)}, static_cast<nuna_audit_kind>(kind), file, line});
}
