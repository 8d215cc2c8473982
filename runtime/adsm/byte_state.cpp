// HostViews::look_at: what people and debuggers ask about one byte.

#include "adsm/host_view.hpp"

namespace nuna::adsm {
namespace {

const char* access_text(std::uint32_t state) {
  switch (state & word::kAccess) {
    case word::kClosed:
      return "closed (a touch faults)";
    case word::kServing:
      return "being opened";
    case word::kRead:
      return "open for reading";
    default:
      return "open";
  }
}

std::string view_text(const HostView& v) {
  std::string text = v.mode == Mode::read ? "read" : v.mode == Mode::write ? "write" : "read_write";
  if (v.bytes) {
    text += " of bytes [" + std::to_string(v.bytes->begin) + ", " + std::to_string(v.bytes->end) + ")";
  } else {
    text += " of " + to_string(v.elements);
  }
  return text + ", opened at " + (v.site.empty() ? "an unknown place" : v.site);
}

}  // namespace

ByteState HostViews::look_at(const execute::Buffer& buffer, Index byte) const {
  ByteState state;
  for (const auto& v : open_) {
    if (v->open && v->buffer == &buffer) state.views.push_back(view_text(*v));
  }
  const HostSide* const side = known_side(buffer);
  if (side == nullptr) return state;
  const std::uint32_t now = side->word_of(byte);
  state.view = side->view() + byte;
  state.block_bytes = side->block_bytes();
  state.block = byte / state.block_bytes;
  state.access = access_text(now);
  state.current = (now & word::kCurrent) != 0;
  state.dirty = (now & word::kDirty) != 0;
  return state;
}

}  // namespace nuna::adsm
