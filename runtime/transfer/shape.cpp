#include "transfer/shape.hpp"

#include <algorithm>

namespace nuna::transfer {
namespace {

using base::ByteBox;

void cut(const ByteBox& box, Index most_bytes, base::BoxList& out) {
  int axis = 0;
  while (axis < base::kByteAxis && box[axis].size() == 1) ++axis;
  if (box.bytes() <= most_bytes) {
    out.push_back(box);
    return;
  }
  const Index bytes_per_index = box.bytes() / box[axis].size();
  const Index step = std::max<Index>(most_bytes / bytes_per_index, 1);
  for (Index at = box[axis].begin; at < box[axis].end; at += step) {
    ByteBox piece = box;
    piece[axis] = {at, std::min(at + step, box[axis].end)};
    cut(piece, most_bytes, out);
  }
}

}  // namespace

base::BoxList merged_and_cut(base::BoxList boxes, Index most_bytes) {
  base::coalesce(boxes);
  base::BoxList pieces;
  for (const ByteBox& box : boxes) cut(box, most_bytes, pieces);
  return pieces;
}

}  // namespace nuna::transfer
