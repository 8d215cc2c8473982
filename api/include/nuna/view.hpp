#pragma once
// View: a buffer as a kernel or a host view sees it. Named after std::mdspan.

#include <type_traits>

#include "nuna/box.hpp"
#include "nuna/config.hpp"
#include "nuna/instance.hpp"

namespace nuna {
inline namespace v0 {

/// N-dimensional row-major access to elements by their indices in the whole buffer, wherever they are stored.
/// A view given to a kernel may be indexed only where the launch's declared access says so. Cheap to copy; does not
/// own; ends with the kernel call or the host view that it came from.
template <class T, int N>
class View {
  static_assert(N >= 1 && N <= kMaxDims, "views have 1 to 3 dimensions");
  static_assert(std::is_trivially_copyable<std::remove_const_t<T>>::value, "elements are trivially copyable");

 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  static constexpr int rank() { return N; }

  View() = default;
  NUNA_HOST_DEVICE explicit View(const detail::InstanceView& v) : origin_(reinterpret_cast<T*>(v.origin)) {
    for (std::size_t a = 0; a < N; ++a) {
      stride_[a] = v.stride_bytes[a] / static_cast<Index>(sizeof(T));
      extent_[a] = v.extents.size[a];
    }
  }

  /// Size of the whole buffer along `axis`.
  NUNA_HOST_DEVICE Index extent(int axis) const { return extent_[axis]; }
  NUNA_HOST_DEVICE Index size() const {
    Index n = 1;
    for (const Index e : extent_) n *= e;
    return n;
  }

  /// For libraries, which take pointers: distance in elements from one index along `axis` to the next (the last axis: 1), and
  /// the address of element (0, 0, 0), which may lie outside what is stored here. The first element of a box is
  /// `&view(i, j, k)`; only what the launch's access declares may be touched from there.
  NUNA_HOST_DEVICE Index stride(int axis) const { return axis == N - 1 ? 1 : stride_[axis]; }
  NUNA_HOST_DEVICE T* data_handle() const { return origin_; }

  template <int M = N, class = std::enable_if_t<M == 1>>
  NUNA_HOST_DEVICE T& operator()(Index i) const {
    return origin_[i];
  }
  template <int M = N, class = std::enable_if_t<M == 2>>
  NUNA_HOST_DEVICE T& operator()(Index i, Index j) const {
    return origin_[i * stride_[0] + j];
  }
  template <int M = N, class = std::enable_if_t<M == 3>>
  NUNA_HOST_DEVICE T& operator()(Index i, Index j, Index k) const {
    return origin_[i * stride_[0] + j * stride_[1] + k];
  }
  template <int M = N, class = std::enable_if_t<M == 1>>
  NUNA_HOST_DEVICE T& operator[](Index i) const {
    return origin_[i];
  }

 private:
  T* origin_ = nullptr;   // of element (0, 0, 0), which may lie outside what is stored
  Index stride_[N] = {};  // in elements; the last axis is contiguous
  Index extent_[N] = {};
};

/// Whether (i[, j[, k]]) lies on a face of the view's buffer.
template <class T>
NUNA_HOST_DEVICE bool on_border(const View<T, 1>& v, Index i) {
  return i == 0 || i == v.extent(0) - 1;
}
template <class T>
NUNA_HOST_DEVICE bool on_border(const View<T, 2>& v, Index i, Index j) {
  return i == 0 || j == 0 || i == v.extent(0) - 1 || j == v.extent(1) - 1;
}
template <class T>
NUNA_HOST_DEVICE bool on_border(const View<T, 3>& v, Index i, Index j, Index k) {
  return i == 0 || j == 0 || k == 0 || i == v.extent(0) - 1 || j == v.extent(1) - 1 || k == v.extent(2) - 1;
}

}  // namespace v0
}  // namespace nuna
