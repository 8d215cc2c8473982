#include "part_watch.hpp"

#include "images.hpp"

namespace nuna::cudart {
namespace {

std::string line_of(const Touch& access) {
  return access.line == 0 ? "" : std::string(access.file) + ":" + std::to_string(access.line);
}

std::string with_line(const std::string& what, const Touch& access) {
  return access.line == 0 ? what : what + " (" + line_of(access) + ")";
}

}  // namespace

bool PartWatch::is_free(const Touch& access) {
  if (WatchingHere::is_own(access.bytes.begin)) return true;
  if (access.kind != NUNA_AUDIT_READ) return false;
  if (variable_.contains(access.bytes)) return true;
  const auto variable = variable_around(image_, access.bytes.begin);
  if (!variable || !variable->contains(access.bytes)) return false;
  variable_ = *variable;
  return true;
}

std::string PartWatch::reason_of(const Touch& access) const {
  if (access.kind == NUNA_AUDIT_ATOMIC) return with_line("atomic update", access);
  if (variable_around(image_, access.bytes.begin)) return with_line("writes a variable", access);
  return with_line("touches memory that is not the device's", access);
}

Index PartRecorder::touch(const Touch& access) {
  const std::size_t chunk = sets_.chunk_of(access.bytes, near_);
  if (chunk != PartSets::kNowhere) {
    near_ = chunk;
    if (access.kind == NUNA_AUDIT_ATOMIC) sets_.refuse(reason_of(access));
    sets_.add(chunk, access.bytes, access.writes());
  } else if (!is_free(access)) {
    sets_.refuse(reason_of(access));
  }
  return access.bytes.begin;
}

Index PartGuard::touch(const Touch& access) {
  const std::size_t chunk = sets_.chunk_of(access.bytes, near_);
  if (chunk == PartSets::kNowhere) {
    if (!is_free(access)) end(access);
    return access.bytes.begin;
  }
  near_ = chunk;
  if (access.kind == NUNA_AUDIT_ATOMIC || !sets_.holds(chunk, access.bytes, access.writes())) end(access);
  return copies_[chunk] + (access.bytes.begin - chunks_[chunk].addresses.begin);
}

void PartGuard::end(const Touch& access) {
  deviation_ = access;
  __nuna_end_kernel(cudaErrorLaunchFailure);
}

std::string text_of(const Touch& access) {
  const std::string bytes = std::to_string(access.bytes.size()) + " bytes";
  const std::string line = access.line == 0 ? "" : " at " + line_of(access);
  return (access.kind == NUNA_AUDIT_READ    ? "reads "
          : access.kind == NUNA_AUDIT_WRITE ? "writes "
                                            : "updates ") +
         bytes + line;
}

}  // namespace nuna::cudart
