#pragma once
// HostSide: one buffer's bytes on the host, by plain pointers, for any number of threads (D6, D7; HPE 3.3, 4.4).
//
// The host place is the *shadow*: always open, for Nuna. The *view* is a second mapping of the same memory, for the program,
// whose blocks are closed (no access), open for reading, or open for both. A touch of what is closed faults; the faulting
// thread then brings the newest bytes into the shadow and opens the block, or has a device do so, or waits until the
// operation that makes them is over. A block that was written is dirty until a call asks (take_news).
//
// A write that finds operations in flight which only read the block does not wait for them: the program gets a *twin* of the
// block, a copy in memory of its own that takes the block's place in the view, and the next call that uses the buffer has it
// copied to the host place after those operations.
//
// A block is closed before an operation that writes it starts, and made read-only before one that reads it. So: closed or
// read-only blocks may have operations in flight, blocks open for both have none.
//
// Mapping pieces: adjacent blocks of one state are one piece. Before the kernel's limit (vm.max_map_count) is near, all blocks
// of a buffer are closed at once, which makes them one piece and forgets no byte (kCurrent, kDirty stay).
//
// Threads: serve() from any, in signal handlers; all else by the thread that is inside the Program.

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "adsm/block_table.hpp"
#include "adsm/fault_handler.hpp"
#include "adsm/gate.hpp"
#include "adsm/sources.hpp"
#include "adsm/streams.hpp"
#include "execute/host_access.hpp"
#include "execute/program.hpp"
#include "trace/stats.hpp"

namespace nuna::adsm {

class FaultService;

inline constexpr Index kLeastBlockBytes = Index{4} << 10;
inline constexpr Index kMostBlockBytes = Index{2} << 20;
inline constexpr Index kDefaultBlockBytes = Index{64} << 10;
/// Opened at one fault, at most (but one block): what is copied and then used stays in a core's cache.
inline constexpr Index kMostPrefetchBytes = Index{512} << 10;
/// The same in blocks.
inline Index most_guessed(Index block_bytes) { return std::max<Index>(1, kMostPrefetchBytes / block_bytes); }

class HostSide final : public execute::HostAccess, public FaultServer {
 public:
  /// The mappings of one rank. `twin` may be null.
  struct Mappings {
    std::byte* view = nullptr;  ///< of the host place's file
    Index bytes = 0;            ///< of each
    int host_file = -1;
    std::byte* twin = nullptr;  ///< of a file of its own
    int twin_file = -1;
  };
  /// The buffer lies at its offset in each of them. Throws Error (out_of_memory).
  HostSide(execute::Buffer& buffer, const execute::Places& places, const Mappings& mappings,
           Index block_bytes, FaultService& service, trace::Stats& stats);
  ~HostSide() override;
  HostSide(const HostSide&) = delete;
  HostSide& operator=(const HostSide&) = delete;

  std::byte* view() const { return view_; }
  Index block_bytes() const { return block_bytes_; }

  Verdict serve(const Fault& fault) noexcept override;

  void pause() override;
  bool is_paused() const override { return gate_.paused(); }
  void resume() override;
  News take_news() override;
  bool has_news() const override { return news_.load(std::memory_order_acquire); }
  void close(const base::BoxList& reads, const base::BoxList& writes) override;

  /// Views of the program: while there is none, no touch is right; while none may write, no write is.
  void add_view(bool writes);
  void end_view(bool writes);
  bool has_views() const { return views_.load() > 0; }

  /// The same bytes, and what else is in their blocks.
  Interval whole_blocks(Interval bytes) const;
  /// Whether a touch would not fault. A guess while other threads are at it.
  bool is_open(Interval bytes, bool write) const;
  /// Whether the host place holds the newest of these bytes, or memory that the CPU reads does, and nothing is in the way. While
  /// paused, after renew() around them.
  bool ready(Interval bytes, bool write) const;
  /// What the table says of a byte's block. A guess while other threads are at it.
  std::uint32_t word_of(Index byte) const {
    return words_[byte / block_bytes_].load(std::memory_order_relaxed);
  }
  /// The failure of what should have made some of them, or null.
  std::exception_ptr failure(Interval bytes) const { return sources_->failure(bytes); }
  /// What resume() does, which then need not: the buffer's residency and users are as they are now, and stay so until then. While
  /// paused. Of very many pieces only those near `around` are looked at.
  void renew(Interval around);
  /// The same at the end of a request of the thread that has paused, which touches nothing meanwhile.
  void go_on(Interval around);
  /// Opens dense bytes, all of which the host place holds and nothing uses any more, without a fault. While paused. Blocks that
  /// they fill in part are opened only if `parts_too`.
  void open(Interval bytes, bool write, bool parts_too);
  /// What of the blocks around these bytes a fault would have to fetch.
  std::vector<Interval> lacking(Interval bytes) const;
  /// Closes everything, or the blocks around these bytes; what they hold and news stay known. While paused.
  void close_all();
  void shut(Interval bytes);
  /// Bytes cannot be brought: who touches what is closed gets the signal.
  void give_up() { given_up_.store(true); }

 private:
  Interval blocks_of(Interval bytes) const;
  Interval bytes_of(Interval blocks) const;
  bool claim(Index block, bool write, std::uint32_t& before) noexcept;
  bool lacks_pages(Interval bytes) const noexcept;
  Index serve_run(Index first, Index count, bool write, std::uint32_t before) noexcept;
  bool protect(Interval blocks, std::uint32_t access) noexcept;
  void finish(Index block, std::uint32_t access, bool fetched) noexcept;
  bool open_twin(Index block) noexcept;
  void end_twin(Index block);
  void sweep() noexcept;
  void unite(std::vector<Interval>& ranges, bool fetched);
  bool fetch_now(Interval bytes);
  void open_for_reading_only(Interval blocks);
  void make_sources(Interval around);
  bool knows(Index block) const noexcept;
  bool sources_stand() const;
  void close_blocks(Interval blocks);
  void uncount(Interval blocks);
  void shut_blocks(Interval blocks);
  void narrow(Interval blocks, std::uint32_t access);
  void ask(Index block, std::uint32_t before, bool write) noexcept;
  void ask_for_sources(Index block) noexcept;
  void tell(const char* what) const noexcept;

  execute::Buffer& buffer_;
  const execute::Places& places_;
  FaultService& service_;
  trace::Stats& stats_;
  const base::Shape shape_;
  const Mappings mappings_;
  const Index offset_;  // of byte 0, in all of them
  std::byte* const view_;
  std::byte* const shadow_;
  const Index block_bytes_;
  Gate gate_;
  BlockTable words_;
  std::unique_ptr<const Sources> sources_;  // replaced while paused; null: to be made when somebody looks
  Index reach_ = kMostPrefetchBytes;        // how far the next ones know of a buffer of very many pieces
  residency::ResidencyRef
      sources_of_;        // the residency that they were made of, if nothing was in use then; else null
  bool renewed_ = false;  // since the last pause
  std::atomic<bool> renewing_{false};  // the service was asked to
  Streams reads_;
  Streams writes_;
  std::atomic<bool> news_{false};
  std::atomic<bool> given_up_{false};
  std::atomic<bool> stands_still_{false};  // who has paused, until the service has done what it asked for
  std::atomic<int> views_{0};
  std::atomic<int> writers_{0};
  std::atomic<Index> pieces_{0};
  std::atomic<int> twins_{0};
  std::atomic<bool> any_twins_{false};
  mutable std::atomic<bool> told_{false};
  const std::string name_;  // for handlers, which cannot make texts
};

}  // namespace nuna::adsm
