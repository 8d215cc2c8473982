#pragma once
// HostView: a buffer's elements by plain pointers on the host, between opening and closing.

#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "nuna/box.hpp"
#include "nuna/config.hpp"
#include "nuna/instance.hpp"
#include "nuna/view.hpp"

namespace nuna {
inline namespace v0 {

/// What the host does through a view.
enum class Access {
  read,        ///< the newest contents are fetched; they must not be changed
  write,       ///< every byte of the view will be written, alike on every rank; nothing is fetched
  read_write,  ///< fetched, then ranks may change different bytes; the changes are merged at close
};

namespace detail {

class ViewState;

/// Where in the user's program a call was made.
struct CallSite {
  const char* file = "";
  int line = 0;
};

/// The untyped part of a HostView.
class NUNA_API ViewHandle {
 public:
  ViewHandle() = default;
  explicit ViewHandle(std::shared_ptr<ViewState> state);
  ViewHandle(ViewHandle&&) noexcept = default;
  ViewHandle& operator=(ViewHandle&& other) noexcept;
  ~ViewHandle();

  InstanceView instance() const;
  Box box() const;
  void acquire(const Box& box, CallSite site);
  void release(CallSite site);
  void close();

 private:
  std::shared_ptr<ViewState> state_;
};

}  // namespace detail

/// Move-only; closes at the end of its life.
///
/// In a Context of one rank a view is *lazy*: its pointers show the newest bytes whenever they are used, also after launches;
/// bytes come when they are touched (a page fault; see docs/host-views.md), and what was written is seen by the next
/// launch. Any number of threads may use a view's pointers at once, and views may overlap.
///
/// In a Context of several ranks, or with NUNA_FAULTS=off, bytes come at the opening, and a launch that uses the buffer closes the
/// view (see acquire). Opening and closing are replicated calls; any thread may use the pointers in between. What was written
/// is seen by every launch after the close.
///
/// close() throws ErrorCode::unequal_fill when ranks filled a write view differently, and conflicting_writes when
/// they changed one byte to different values through read_write views; the destructor keeps such an error for the next
/// call that touches the buffer.
template <class T, int N>
class HostView {
 public:
  explicit HostView(detail::ViewHandle handle)
      : handle_(std::move(handle)), view_(handle_.instance()), box_(handle_.box()) {}

  /// Elements by their indices in the whole buffer; only inside the view's box.
  template <class... I>
  T& operator()(I... indices) const {
    return view_(static_cast<Index>(indices)...);
  }
  const Box& box() const { return box_; }
  Index size() const { return box_.count(); }

  /// First element and one past the last, for views whose box is contiguous (whole buffers, whole rows); otherwise
  /// both are null.
  T* begin() const { return contiguous() ? first() : nullptr; }
  T* end() const { return contiguous() ? first() + box_.count() : nullptr; }
  T* data() const { return begin(); }
  bool contiguous() const {
    bool inner_whole = true;  // axes behind the first one that is longer than 1 must be whole
    for (int a = N - 1; a >= 0; --a) {
      if (!inner_whole && box_[a].size() > 1) return false;
      inner_whole = inner_whole && box_[a].size() == view_.extent(a);
    }
    return !box_.empty();
  }

  /// Brings the view's bytes (or those of a box of them) now, in one go, instead of when they are touched; waits for the launches
  /// that make them, and throws their failure. With several ranks or NUNA_FAULTS=off: opens again what a launch has closed
  /// (all of it, a replicated call). A system call, or a library that makes some, needs this first: the kernel does not
  /// fault, it returns EFAULT.
  void acquire(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    handle_.acquire(box_, {file, line});
  }
  void acquire(const Box& box, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    handle_.acquire(box, {file, line});
  }
  /// The opposite, as a hint: nothing of the view will be used soon. With several ranks or NUNA_FAULTS=off: closes it, until it is
  /// acquired again.
  void release(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    handle_.release({file, line});
  }

  /// Ends the access. Pointers from the view are dead afterwards.
  void close() { handle_.close(); }

 private:
  T* first() const {
    if constexpr (N == 1) return &view_(box_[0].begin);
    if constexpr (N == 2) return &view_(box_[0].begin, box_[1].begin);
    if constexpr (N == 3) return &view_(box_[0].begin, box_[1].begin, box_[2].begin);
  }

  detail::ViewHandle handle_;
  View<T, N> view_;
  Box box_;
};

}  // namespace v0
}  // namespace nuna
