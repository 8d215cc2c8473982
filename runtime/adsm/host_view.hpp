#pragma once
// Host views: opening and closing a buffer for the host (D6), explicit for now.
//
// Opening brings the newest bytes to the host place (unless everything will be written); closing makes what was
// written the newest. With several ranks, a read-write view keeps a twin from its opening and ranks' changes are
// merged bytewise at close; a write view must have been filled alike, which hashes prove. Opening a write view gives the
// old contents up: nothing may bring them back over what is being written.
//
// A launch that reads or writes a buffer first closes its writable views; one that writes it closes the others too.
//
// Threads: one at a time, except that pointers of open views may be used from any. Others may have their turn while an opening
// waits. A view counts as open from the beginning, so nobody opens another that conflicts; but until it is begun, a launch
// that closes it has nothing to finish, and the opening gives a closed view.

#include <atomic>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/turn.hpp"
#include "execute/program.hpp"
#include "nuna/instance.hpp"

namespace nuna::adsm {

enum class Mode : std::uint8_t { read, write, read_write };

/// One opening.
struct HostView {
  execute::Buffer* buffer = nullptr;
  Mode mode = Mode::read;
  Box elements;                   ///< of box views
  std::optional<Interval> bytes;  ///< of byte views: dense bytes of the buffer
  std::string site;
  std::vector<std::byte> twin;  ///< packed bytes at the opening
  bool open = true;
  bool begun = false;      ///< its bytes may be used
  bool elsewhere = false;  ///< opened on another rank: known here, but without bytes
};

class HostViews {
 public:
  HostViews(execute::Program& program, base::Turn& turn) : program_(program), turn_(turn) {}

  /// Opens a box on every rank. Throws Error (invalid_argument, out_of_bounds) for a box that is none, or that overlaps
  /// an open view when one of the two writes; and the failure of what should have produced the bytes.
  std::shared_ptr<HostView> open(execute::Buffer& buffer, const Box& elements, Mode mode,
                                 std::string_view site);
  /// Opens dense bytes [begin, end), at any byte boundary. Of a dense buffer.
  std::shared_ptr<HostView> open_bytes(execute::Buffer& buffer, Interval bytes, Mode mode,
                                       std::string_view site);
  /// Opens a box for reading on one rank; `elsewhere` on the others, which know of it until they close it.
  std::shared_ptr<HostView> open_at(execute::Buffer& buffer, base::RankId rank, const Box& elements,
                                    std::string_view site);
  /// Opens for reading what this rank holds; no other rank takes part.
  std::shared_ptr<HostView> open_local(execute::Buffer& buffer, const Box& elements, std::string_view site);

  /// Where the view's elements lie. Byte views are one-dimensional.
  detail::InstanceView instance(const HostView& view) const;

  /// Ends a view; a second time does nothing. Throws Error (unequal_fill: rank 0's bytes are kept; conflicting_writes:
  /// those of the lowest rank).
  void close(HostView& view, std::string_view site);
  /// The same without throwing: the failure is kept for the next call that touches the buffer, or waits for everything.
  void close_quietly(HostView& view, std::string_view site) noexcept;

  /// Before a launch.
  void close_for_launch(execute::Buffer& buffer, bool writes, std::string_view site);
  /// Before a buffer is released. A failure that was kept for it is logged.
  void forget(execute::Buffer& buffer);
  /// Throws what close_quietly kept for the buffer.
  void rethrow_kept(const execute::Buffer& buffer);
  /// Throws the first that was kept for any.
  void rethrow_kept();

 private:
  struct Kept {
    std::uint64_t buffer = 0;
    std::exception_ptr failure;
  };

  template <class Bring>
  std::shared_ptr<HostView> opened(HostView wanted, Bring bring);
  void check_box(const execute::Buffer& buffer, const Box& elements, std::string_view site) const;
  std::shared_ptr<HostView> in_the_way_of(const HostView& wanted) const;
  void wait_until_free(const HostView& wanted);
  void check_exists(std::uint64_t buffer, std::string_view site) const;
  base::BoxList boxes(const HostView& view) const;
  void begin(HostView& view, std::uint64_t buffer);
  void settle();
  void end(HostView& view);
  std::vector<std::byte> packed(const HostView& view) const;
  void unpack(const HostView& view, const std::vector<std::byte>& bytes) const;
  void finish_write(HostView& view, std::string_view site);
  void finish_read_write(HostView& view, std::string_view site);
  void mark_written(HostView& view, coherence::RankRange ranks);
  std::string range_text(const HostView& view, Interval packed_bytes) const;

  execute::Program& program_;
  base::Turn& turn_;
  std::list<std::shared_ptr<HostView>> open_;
  std::vector<Kept> kept_;
  std::atomic<std::uint32_t> settled_{0};  // counts openings that came to an end, for those who wait for one
};

}  // namespace nuna::adsm
