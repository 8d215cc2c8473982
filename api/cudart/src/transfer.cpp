#include "transfer.hpp"

#include <cstring>
#include <vector>

#include "call.hpp"
#include "device.hpp"
#include "texture.hpp"

namespace nuna::cudart {
namespace {

constexpr std::size_t kSnapshotBytes = std::size_t{64} << 10;

std::byte* bytes_at(const void* pointer) { return static_cast<std::byte*>(const_cast<void*>(pointer)); }

// From the first byte to behind the last.
std::size_t span_of(const Place& place, const Rows& rows) {
  if (rows.bytes() == 0) return 0;
  return (rows.planes - 1) * place.plane_bytes + (rows.rows - 1) * place.row_bytes + rows.width;
}

void check_inside(const Place& place, const Rows& rows) {
  require(place.first != nullptr, cudaErrorInvalidValue);
  const auto known = Device::get().memory().find(place.first);
  if (!known) return;
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(place.first) - known->first;
  require(span_of(place, rows) <= known->bytes - offset, cudaErrorInvalidValue);
}

bool is_known(const void* memory) { return Device::get().memory().find(memory).has_value(); }

// The bytes of a small copy, taken when it was asked for.
class SnapshotAction final : public Action {
 public:
  explicit SnapshotAction(const Copy& copy)
      : to_(copy.to.first), bytes_(copy.from.first, copy.from.first + copy.rows.width) {}
  std::string name() const override { return "a copy of " + std::to_string(bytes_.size()) + " bytes"; }
  void run(Crew& crew) const override {
    CopyAction(linear_copy(to_, bytes_.data(), bytes_.size())).run(crew);
  }

 private:
  std::byte* const to_;
  const std::vector<std::byte> bytes_;
};

template <class Work>
cudaError_t stream_or_now(const cudaStream_t* stream, Work work) {
  return device_call([&] {
    if (stream == nullptr) return work(nullptr);
    const auto found = stream_of(*stream);
    work(found.get());
  });
}

void fill_in_order(const Fill& fill, Stream& stream) {
  stream.submit(cudaGraphNodeTypeMemset, std::make_shared<FillAction>(fill));
}

void wait_for_all() { Device::get().synchronize(); }

}  // namespace

void check(const Copy& copy, cudaMemcpyKind kind) {
  require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
  if (copy.rows.bytes() == 0) return;
  const auto overlap = [&](const Place& place) {
    return copy.rows.rows * copy.rows.planes > 1 && place.row_bytes < copy.rows.width;
  };
  require(!overlap(copy.to) && !overlap(copy.from), cudaErrorInvalidPitchValue);
  check_inside(copy.to, copy.rows);
  check_inside(copy.from, copy.rows);
}

void check(const Fill& fill) {
  if (fill.rows.bytes() == 0) return;
  require(fill.rows.rows * fill.rows.planes == 1 || fill.to.row_bytes >= fill.rows.width,
          cudaErrorInvalidPitchValue);
  check_inside(fill.to, fill.rows);
}

Copy linear_copy(void* to, const void* from, std::size_t bytes) {
  return {{bytes_at(to), bytes, bytes}, {bytes_at(from), bytes, bytes}, {bytes, 1, 1}};
}

Copy pitched_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                  std::size_t height) {
  return {{bytes_at(to), to_pitch, to_pitch * height},
          {bytes_at(from), from_pitch, from_pitch * height},
          {width, height, 1}};
}

namespace {

// Of a side of a 3-D copy: an array, whose positions count elements, or pitched memory, whose positions count bytes.
Place side_of(cudaArray_t handle, const cudaPitchedPtr& memory, const cudaPos& position, const Rows& rows) {
  if (handle != nullptr) {
    require(memory.ptr == nullptr, cudaErrorInvalidValue);
    const auto array = array_of(handle);
    const std::size_t byte = position.x * array->texel_bytes;
    require(byte + rows.width <= array->width_bytes() && position.y + rows.rows <= array->rows() &&
                position.z + rows.planes <= array->planes(),
            cudaErrorInvalidValue);
    return array->place(byte, position.y, position.z);
  }
  require(memory.ptr != nullptr, cudaErrorInvalidValue);
  const std::size_t plane = memory.pitch * (memory.ysize > 0 ? memory.ysize : rows.rows);
  return {bytes_at(memory.ptr) + position.x + position.y * memory.pitch + position.z * plane, memory.pitch,
          plane};
}

}  // namespace

Copy copy_of(const cudaMemcpy3DParms& p) {
  const cudaArray_t array = p.srcArray != nullptr ? p.srcArray : p.dstArray;
  const std::size_t element = array != nullptr ? array_of(array)->texel_bytes : 1;
  if (p.srcArray != nullptr && p.dstArray != nullptr)
    require(array_of(p.dstArray)->texel_bytes == element, cudaErrorInvalidValue);
  Copy copy;
  copy.rows = {p.extent.width * element, p.extent.height, p.extent.depth};
  if (copy.rows.bytes() == 0) return copy;
  copy.to = side_of(p.dstArray, p.dstPtr, p.dstPos, copy.rows);
  copy.from = side_of(p.srcArray, p.srcPtr, p.srcPos, copy.rows);
  return copy;
}

Fill fill_of(const cudaMemsetParams& p) {
  require(p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4, cudaErrorInvalidValue);
  return {{bytes_at(p.dst), p.pitch, p.pitch * p.height},
          {p.width * p.elementSize, p.height, 1},
          p.value,
          p.elementSize};
}

void transfer_now(const Copy& copy) {
  Device& device = Device::get();
  // By the calling thread when nothing is on its way: that spares two changes of threads.
  if (device.spread() == nullptr && device.lane().idle() &&
      (copy.rows.bytes() < kCrewBytes || device.lane().threads() == 1))
    return perform(copy);
  const auto stream = stream_of(nullptr);
  stream->submit(cudaGraphNodeTypeMemcpy, std::make_shared<CopyAction>(copy));
  wait_for_all();
}

void transfer(const Copy& copy, Stream& stream) {
  const bool captured = stream.capture() != nullptr;
  const bool from_anywhere = !captured && !is_known(copy.from.first);
  const bool is_small = copy.rows.rows == 1 && copy.rows.planes == 1 && copy.rows.width <= kSnapshotBytes;
  if (from_anywhere && is_small && is_known(copy.to.first)) {
    stream.submit(cudaGraphNodeTypeMemcpy, std::make_shared<SnapshotAction>(copy));
    return;
  }
  stream.submit(cudaGraphNodeTypeMemcpy, std::make_shared<CopyAction>(copy));
  if (from_anywhere || (!captured && !is_known(copy.to.first))) stream.synchronize();
}

cudaError_t copy_call(const Copy& copy, cudaMemcpyKind kind, const cudaStream_t* stream) {
  return stream_or_now(stream, [&](Stream* in) {
    check(copy, kind);
    if (copy.rows.bytes() == 0) return;
    if (in != nullptr) {
      transfer(copy, *in);
    } else {
      transfer_now(copy);
    }
  });
}

// Fills return before they are done, but for what the host could see.
cudaError_t fill_call(const Fill& fill, const cudaStream_t* stream) {
  return stream_or_now(stream, [&](Stream* in) {
    check(fill);
    if (fill.rows.bytes() == 0) return;
    if (in != nullptr) return fill_in_order(fill, *in);
    if (Device::get().spread() == nullptr && Device::get().lane().idle() && fill.rows.bytes() < kCrewBytes)
      return perform(fill);
    fill_in_order(fill, *stream_of(nullptr));
    wait_for_all();
  });
}

}  // namespace nuna::cudart
