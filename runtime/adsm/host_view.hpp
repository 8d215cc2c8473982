#pragma once
// Host views: opening and closing a buffer for the host (D6).
//
// With one rank a view is *lazy*: opening it moves nothing, its pointers are those of the second mapping, and bytes come when
// they are touched (host_side.hpp). It stays open across launches. With several ranks, without faults (NUNA_FAULTS=off), and
// for buffers without a second mapping (adopted, or not dense) it is *eager*:
//
// Opening brings the newest bytes to the host place (unless everything will be written); closing makes what was
// written the newest. With several ranks, a read-write view keeps a twin from its opening and ranks' changes are
// merged bytewise at close; a write view must have been filled alike, which hashes prove. Opening a write view gives the
// old contents up: nothing may bring them back over what is being written.
//
// A launch that reads or writes a buffer first closes its writable views; one that writes it closes the others too.
//
// Threads: one at a time, except that pointers of open views may be used from any. Others may have their turn while an opening
// waits.

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adsm/fault_service.hpp"
#include "adsm/host_side.hpp"
#include "adsm/merge.hpp"
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
  bool begun = false;       ///< its bytes may be used
  bool elsewhere = false;   ///< opened on another rank: known here, but without bytes
  bool led = false;         ///< rank 0's bytes count (open_led)
  bool everywhere = false;  ///< of those: every rank has it open
  bool lazy = false;
  bool ended = false;  ///< by the program, not by a launch
  bool paused =
      false;  ///< eager, of a buffer that is open lazily, too: other threads' touches wait for its end
};

/// What the host does with one byte of a buffer. For people.
struct ByteState {
  const std::byte* view =
      nullptr;  ///< its address for the program; null: never opened lazily, and what follows says nothing
  Index block = 0;
  Index block_bytes = 0;
  const char* access = "";
  bool current = false;            ///< the host place has the newest version
  bool dirty = false;              ///< and alone: written since the last call
  std::vector<std::string> views;  ///< open ones of the buffer
};

/// The smallest box of whole elements that holds a byte range.
Box element_hull(const base::Shape& shape, Interval bytes);

class HostViews {
 public:
  struct Config {
    bool lazy = false;  ///< where it can be: needs one rank, and devices that act
    Index block_bytes = kDefaultBlockBytes;
    /// Of the host place, made at the first call; without a view if there is none.
    std::function<HostSide::Mappings()> mappings;
  };
  HostViews(execute::Program& program, base::Turn& turn, Config config);
  ~HostViews();

  /// Opens a box on every rank. Throws Error (invalid_argument, out_of_bounds) for a box that is none, or that overlaps
  /// an open view when one of the two writes; and the failure of what should have produced the bytes.
  std::shared_ptr<HostView> open(execute::Buffer& buffer, const Box& elements, Mode mode,
                                 std::string_view site);
  /// Opens dense bytes [begin, end), at any byte boundary. Of a dense buffer.
  std::shared_ptr<HostView> open_bytes(execute::Buffer& buffer, Interval bytes, Mode mode,
                                       std::string_view site);
  /// The same, eagerly: for copies within one call.
  std::shared_ptr<HostView> open_bytes_now(execute::Buffer& buffer, Interval bytes, Mode mode,
                                           std::string_view site);
  /// Opens the whole buffer to read and write. Waits for nothing, if it can be lazy.
  std::shared_ptr<HostView> open_all(execute::Buffer& buffer, std::string_view site);
  /// Opens the whole buffer to read and write, on rank 0 alone or, with `everywhere`, on every rank. What rank 0 leaves there is
  /// the newest. Where it is only opened, or where other ranks have left something else, others get it when they need it. Of a dense
  /// buffer, whose bytes need not have been written.
  std::shared_ptr<HostView> open_led(execute::Buffer& buffer, bool everywhere, std::string_view site);
  /// Opens a box for reading on one rank; `elsewhere` on the others, which know of it until they close it.
  std::shared_ptr<HostView> open_at(execute::Buffer& buffer, base::RankId rank, const Box& elements,
                                    std::string_view site);
  /// Opens for reading what this rank holds; no other rank takes part.
  std::shared_ptr<HostView> open_local(execute::Buffer& buffer, const Box& elements, std::string_view site);

  /// Brings a box of an open view now, instead of when it is touched, and waits for it. Of an eager view that a launch has
  /// closed: opens it again. Throws as opening does.
  void acquire(const std::shared_ptr<HostView>& view, const Box& elements, std::string_view site);
  /// The opposite: a later touch faults again; what was written is known. Of an eager view: closes it.
  void release(HostView& view, std::string_view site);
  /// Bytes that are opened together, of a buffer that was not opened yet. Throws Error (invalid_argument) for what is no power
  /// of two from 4 KiB to 2 MiB, or comes too late.
  void set_block_bytes(execute::Buffer& buffer, Index bytes, std::string_view site);
  /// Where the program's pointers into a dense buffer point.
  std::byte* address(execute::Buffer& buffer);
  /// What the host has written so far is the newest.
  void settle(execute::Buffer& buffer);

  /// Where the view's elements lie. Byte views are one-dimensional.
  detail::InstanceView instance(const HostView& view) const;

  /// Changes nothing.
  ByteState look_at(const execute::Buffer& buffer, Index byte) const;

  /// Ends a view; a second time does nothing. Throws Error (unequal_fill: rank 0's bytes are kept, and stand for those of all
  /// ranks; conflicting_writes: those of the lowest rank), on all ranks.
  void close(HostView& view, std::string_view site);
  /// The same without throwing: the failure is kept for the next call that touches the buffer, or waits for everything.
  void close_quietly(HostView& view, std::string_view site) noexcept;

  /// Before a launch with these.
  void close_for_launch(const execute::Arguments& arguments, std::string_view site);
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

  static std::uint64_t asked(const HostView& view);
  void add(HostView& view);
  void open_eagerly(const std::shared_ptr<HostView>& view, const Box& fetched, std::string_view site);
  void open_eagerly(const std::shared_ptr<HostView>& view, const std::function<void()>& bring);
  void open_lazily(const std::shared_ptr<HostView>& view, bool waits, std::string_view site);
  void open_for_overwriting(HostSide& side, HostView& view, const base::BoxList& opened);
  void end_now(HostView& view, std::string_view site);
  void refuse_bytes(const execute::Buffer& buffer, Interval bytes, std::string_view site) const;
  bool can_be_lazy(const execute::Buffer& buffer);
  void warn_if_not_lazy();
  const HostSide::Mappings& mappings();
  HostSide& side_of(execute::Buffer& buffer);
  HostSide* known_side(const execute::Buffer& buffer) const;
  static std::vector<Interval> runs_of(const execute::Buffer& buffer, const base::BoxList& boxes);
  void wait_for_makers(execute::Buffer& buffer, const base::BoxList& made, std::string_view site);
  void wait_for_host_users(const HostView& view, const base::BoxList& used);
  void bring(const HostView& view, const base::BoxList& wanted, std::string_view site);
  void serve(const FaultService::Request& request);
  void check_box(const execute::Buffer& buffer, const Box& elements, std::string_view site) const;
  std::shared_ptr<HostView> in_the_way_of(const HostView& wanted) const;
  void wait_until_free(const HostView& wanted);
  void check_exists(std::uint64_t buffer, std::string_view site) const;
  void tell_begun();
  base::BoxList boxes(const HostView& view) const;
  void begin(HostView& view, std::uint64_t buffer);
  void end(HostView& view);
  std::vector<std::byte> packed(const HostView& view) const;
  /// The view's bytes where they lie, if they lie side by side; else packed into `room`.
  std::span<const std::byte> bytes_of(const HostView& view, std::vector<std::byte>& room) const;
  void unpack(const HostView& view, const std::vector<std::byte>& bytes) const;
  void finish_write(HostView& view, std::string_view site);
  void finish_read_write(HostView& view, std::string_view site);
  void finish_led(HostView& view, std::string_view site);
  [[noreturn]] void refuse_unequal(const HostView& view, const Conflict& first) const;
  void mark_written(HostView& view, coherence::RankRange ranks);
  std::string range_text(const HostView& view, Interval packed_bytes) const;

  execute::Program& program_;
  base::Turn& turn_;
  Config config_;
  std::optional<HostSide::Mappings> mappings_;
  std::list<std::shared_ptr<HostView>> open_;
  std::vector<Kept> kept_;
  std::atomic<std::uint32_t> begins_{0};  // counts openings that came to an end, for those who wait for one
  std::map<std::uint64_t, Index> block_bytes_;  // by buffer number, where it was set
  std::map<const HostSide*, execute::Buffer*> sides_;
  std::unique_ptr<FaultService> service_;  // from the first lazy view on
};

}  // namespace nuna::adsm
