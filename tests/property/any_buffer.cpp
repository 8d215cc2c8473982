#include "property/any_buffer.hpp"

#include <cstring>

namespace nuna::property {
namespace {

template <int Size>
struct Element {
  unsigned char byte[Size];
};

template <int Size, int N>
class TypedBuffer final : public AnyBuffer {
  using E = Element<Size>;

 public:
  TypedBuffer(Context& context, const Extents& extents) : buffer_(context, extents) {}
  Buffer<E, N>& typed() { return buffer_; }

  const detail::BufferHandle& handle() const override { return buffer_.handle(); }

  void fill(Context& context, const Box& box, const unsigned char* value) override {
    E element;
    std::memcpy(&element, value, sizeof element);
    context.fill(buffer_, box, element);
  }

  void copy_from(Context& context, const Box& box, AnyBuffer& from, const Box& from_box) override {
    if (auto* one = dynamic_cast<TypedBuffer<Size, 1>*>(&from))
      context.copy_box(buffer_, box, one->typed(), from_box);
    if (auto* two = dynamic_cast<TypedBuffer<Size, 2>*>(&from))
      context.copy_box(buffer_, box, two->typed(), from_box);
    if (auto* three = dynamic_cast<TypedBuffer<Size, 3>*>(&from))
      context.copy_box(buffer_, box, three->typed(), from_box);
  }

  Bytes read(const Box& box) override {
    auto view = buffer_.host(box, Access::read);
    return pack(view);
  }

  void write(const Box& box, const Bytes& bytes) override {
    auto view = buffer_.host(box, Access::write);
    const unsigned char* next = bytes.data();
    for_each_thread(box, [&](const Box& at) {
      std::memcpy(&element(view, at), next, Size);
      next += Size;
    });
    view.close();
  }

  void change(const Box& box, const std::vector<std::pair<Index, unsigned char>>& changes) override {
    auto view = buffer_.host(box, Access::read_write);
    for (const auto& [byte, value] : changes) {
      Box at = box;
      Index n = byte / Size;
      for (int a = kMaxDims - 1; a >= 0; --a) {
        at[a].begin = box[a].begin + n % box[a].size();
        n /= box[a].size();
      }
      element(view, at).byte[byte % Size] = value;
    }
    view.close();
  }

  Bytes read_at(int rank, const Box& box) override {
    auto view = buffer_.host_at(rank, box);
    return view.box().empty() ? Bytes{} : pack(view);
  }
  Bytes read_local(const Box& box) override {
    auto view = buffer_.host_local(box);
    return pack(view);
  }
  std::vector<Box> local_boxes() override { return buffer_.local_boxes(); }

  Bytes read_bytes(Interval bytes) override {
    auto view = buffer_.host_bytes(bytes, Access::read);
    Bytes packed;
    for (Index i = bytes.begin; i < bytes.end; ++i) packed.push_back(view(i));
    return packed;
  }
  void write_bytes(Interval bytes, const Bytes& values) override {
    auto view = buffer_.host_bytes(bytes, Access::write);
    for (Index i = bytes.begin; i < bytes.end; ++i)
      view(i) = values[static_cast<std::size_t>(i - bytes.begin)];
    view.close();
  }
  void change_bytes(Interval bytes, const std::vector<std::pair<Index, unsigned char>>& changes) override {
    auto view = buffer_.host_bytes(bytes, Access::read_write);
    for (const auto& [byte, value] : changes) view(byte) = value;
    view.close();
  }
  unsigned char* address() override { return reinterpret_cast<unsigned char*>(buffer_.address()); }
  void fence(Context& context) override { context.fence(buffer_); }

 private:
  template <class T>
  static T& element(const HostView<T, N>& view, const Box& at) {
    if constexpr (N == 1) return view(at[0].begin);
    if constexpr (N == 2) return view(at[0].begin, at[1].begin);
    if constexpr (N == 3) return view(at[0].begin, at[1].begin, at[2].begin);
  }
  template <class T>
  static Bytes pack(const HostView<T, N>& view) {
    Bytes packed;
    for_each_thread(view.box(), [&](const Box& at) {
      const auto& e = element(view, at);
      packed.insert(packed.end(), e.byte, e.byte + Size);
    });
    return packed;
  }

  Buffer<E, N> buffer_;
};

template <int Size>
std::unique_ptr<AnyBuffer> of_size(Context& context, const Extents& extents) {
  if (extents.dims == 1) return std::make_unique<TypedBuffer<Size, 1>>(context, extents);
  if (extents.dims == 2) return std::make_unique<TypedBuffer<Size, 2>>(context, extents);
  return std::make_unique<TypedBuffer<Size, 3>>(context, extents);
}

}  // namespace

std::unique_ptr<AnyBuffer> make_buffer(Context& context, const base::Shape& shape) {
  switch (shape.element_bytes) {
    case 1:
      return of_size<1>(context, shape.extents);
    case 2:
      return of_size<2>(context, shape.extents);
    case 3:
      return of_size<3>(context, shape.extents);
    case 4:
      return of_size<4>(context, shape.extents);
    case 8:
      return of_size<8>(context, shape.extents);
    default:
      return of_size<12>(context, shape.extents);
  }
}

}  // namespace nuna::property
