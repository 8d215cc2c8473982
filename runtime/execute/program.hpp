#pragma once
// Program: one rank's side of one Context - the sequence of calls, the buffers' states, and what is done about them.
//
// Each call is planned (pure), lowered to places (pure), prepared (memory) and only then changes states and starts; so a
// refused call changes nothing. Calls are numbered and hashed, and every message says which call it belongs to (D2).
//
// Threads: one at a time; wait, fence, destroy and what fetches let others have their turn while they wait (base/turn.hpp).

#include <absl/container/node_hash_set.h>
#include <absl/types/span.h>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "address/arena.hpp"
#include "cluster/communicator.hpp"
#include "execute/executor.hpp"
#include "execute/host_access.hpp"
#include "execute/places.hpp"
#include "nuna/new_bytes.hpp"
#include "plan/planner.hpp"
#include "residency/lower.hpp"
#include "trace/recorder.hpp"
#include "trace/stats.hpp"

namespace nuna::execute {

/// A buffer of a Program.
struct Buffer {
  std::uint64_t number = 0;
  std::string site;  ///< where it was created
  std::unique_ptr<Instances> instances;
  coherence::DirectoryRef directory;
  residency::ResidencyRef residency;
  std::uint64_t last_use = 0;        ///< number of the last call that touched it
  std::unique_ptr<HostAccess> host;  ///< null: no thread touches its bytes without a call

  const base::Shape& shape() const { return instances->shape(); }
};

/// What a call does to buffers: for the planner, and the buffers behind it.
struct Arguments {
  plan::LaunchShape shape;
  absl::InlinedVector<Buffer*, 6> buffers;       ///< by the shape's buffer numbers
  absl::InlinedVector<Instances*, 6> instances;  ///< by argument

  void add(Buffer& buffer, const AccessMap& map, bool reads, bool writes, bool may,
           std::optional<int> device = std::nullopt);
};

/// A kernel launch.
struct Launch {
  std::string_view name;
  std::string_view site;  ///< "heat.cpp:31"
  Arguments arguments;
  detail::KernelCode code;
  std::shared_ptr<const void> closure;
  bool brief = false;  ///< device::KernelCall
};

struct ProgramConfig {
  access::Team team;
  base::RankId rank;
  Index fewest_ahead = residency::Lowering::kFewestAhead;
  bool poison = false;
  bool check = false;  ///< reading what nobody wrote is an error, not a warning
  bool fast_path = true;
  Index dense_limit = 0;  ///< larger buffers are stored as bounding boxes
};

class Program {
 public:
  Program(const ProgramConfig& config, const Places& places, address::Arena& arena,
          cluster::Communicator& communicator, Executor& executor, trace::Stats& stats,
          trace::Recorder* recorder);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const ProgramConfig& config() const { return config_; }
  cluster::Communicator& communicator() { return communicator_; }
  trace::Stats& stats() { return stats_; }
  const Places& places() const { return places_; }

  Buffer& create(const base::Shape& shape, std::string_view site);
  /// A buffer whose contents are in memory of the program's own, on every rank alike.
  Buffer& adopt(const base::Shape& shape, const Adopted& memory, std::string_view site);
  /// The buffer whose adopted memory holds `address`; null if none.
  Buffer* find_adopted(const void* address);
  /// Waits for the buffer's users and gives its memory back.
  void destroy(Buffer& buffer, std::string_view site);
  const std::list<Buffer>& buffers() const { return buffers_; }
  /// The buffer whose dense bytes begin at `offset` of the arena or hold it; null if none.
  Buffer* find(Index offset);

  /// Waits while too many launches are in flight. To be called before the arguments of the next are looked up: others may have
  /// their turn meanwhile.
  void make_room() { executor_.make_room(); }
  Completion launch(const Launch& launch);

  /// Brings the newest contents of `box` to the host place of every rank, or of `only`, and waits for them. With
  /// `may`, bytes that nobody wrote raise nothing.
  void fetch(Buffer& buffer, const Box& box, std::optional<base::RankId> only, bool may,
             std::string_view site);
  /// What the host has written through plain pointers is the newest from now on. While its access is paused.
  void settle(Buffer& buffer);
  /// Starts to bring to the host place what other places of this rank hold of the boxes. No call is counted. Throws Error
  /// (out_of_memory).
  void bring_to_host(Buffer& buffer, const base::BoxList& boxes, std::string_view site);
  /// Waits for what makes the newest bytes of `box` in this rank, and throws its failure.
  void wait_for_makers(Buffer& buffer, const base::ByteBox& box);
  /// Whether operations in flight write some of the boxes in the host place (or also read them); and waits for all of those.
  bool host_is_used(const Buffer& buffer, const base::BoxList& boxes, bool reads_too) const;
  void wait_for_host_users(Buffer& buffer, const base::BoxList& boxes);
  /// Error (never_written), or one warning, if some of `box` was never written.
  void check_written(const Buffer& buffer, const base::ByteBox& box, std::string_view site);
  /// Error (invalid_argument) when this rank does not hold all of `box`.
  void check_local(const Buffer& buffer, const Box& box, std::string_view site) const;
  /// Brings what this rank holds of `box` to its host place. No rank is asked, nothing is counted as a call. Throws
  /// Error (invalid_argument) when the rank does not hold all of it.
  void fetch_local(Buffer& buffer, const Box& box, std::string_view site);
  /// Makes the host place's memory of `box` usable and free of users, for writing.
  void open_for_writing(Buffer& buffer, const base::ByteBox& box);
  /// With NUNA_POISON: what the host place does not hold of a buffer is NaN there. As far as there is memory.
  void poison_host(Buffer& buffer);
  /// The host places of `ranks` now hold the newest bytes of `box` (a range of dense bytes), alike.
  void host_wrote(Buffer& buffer, const base::ByteBox& box, coherence::RankRange ranks);
  void host_wrote(Buffer& buffer, Interval range, coherence::RankRange ranks);
  /// Whether devices of this rank have copies of some of the bytes, or of what lies between them.
  bool devices_have(Buffer& buffer, absl::Span<const detail::NewBytes> rows);
  /// Gives bytes new contents (detail::update), alike on every rank: where devices of this rank have copies, there; else in the host
  /// place. Returns when it is done. Throws Error (out_of_memory), and the failure of a device.
  void update(Buffer& buffer, absl::Span<const detail::NewBytes> rows, std::string_view site);
  coherence::RankRange all_ranks() const { return {0, config_.team.ranks}; }

  /// Waits for everything; rethrows the first failure that no wait has rethrown, and forgets the others.
  void wait();
  void fence(Buffer& buffer) { executor_.wait_for(*buffer.instances); }
  Executor& executor() { return executor_; }

  /// Counts a replicated call that moves nothing by itself, and returns its envelope, for a collective.
  cluster::Envelope count_call(std::string_view call, std::string_view site, std::uint64_t arguments);

 private:
  class Pausing;
  Buffer& add(const base::Shape& shape, std::optional<Adopted> memory, std::string_view verb,
              std::string_view site);
  const plan::Planned& plan(const Arguments& arguments, const Call& call, std::string_view verb,
                            std::string_view site);
  const residency::Lowered& lower(const Arguments& arguments, const Call& call, const plan::Planned& planned);
  void count_fallbacks();
  std::string_view name_of(std::string_view launch);
  Completion perform(const Arguments& arguments, Call& call, std::string_view verb, std::string_view site);
  void make_usable_on_host(Buffer& buffer, const base::ByteBox& box);
  struct Update;
  std::optional<Completion> begin_update(Buffer& buffer, Update& update, std::string_view site);
  void merge_twin(Buffer& buffer, Interval written, std::byte* twin);
  void wait_for(const Tickets& tickets);
  void refuse_unwritten(const std::string& what, const std::string& where, const base::ByteBox& example);
  void check_written(const plan::RankPlan& plan, const Arguments& arguments, const std::string& what);
  void prepare(const plan::PlacePlan& plan, const Call& call, const Arguments& arguments,
               std::string_view verb, std::string_view site);
  bool evict_one(const Arguments& keep);
  void evict(Buffer& buffer, base::PlaceId place);
  void number_call(std::string_view verb, std::string_view name, std::string_view site,
                   std::uint64_t signature, cluster::Envelope& envelope);
  template <class Boxes>
  void mark_host_written(Buffer& buffer, const Boxes& boxes, coherence::RankRange ranks,
                         coherence::DirectoryState next);

  ProgramConfig config_;
  const Places& places_;
  address::Arena& arena_;
  cluster::Communicator& communicator_;
  Executor& executor_;
  trace::Stats& stats_;
  trace::Recorder* recorder_;
  trace::TrackId track_;
  plan::Planner planner_;
  residency::Lowering lowering_;
  std::list<Buffer> buffers_;
  absl::node_hash_set<std::string> names_;  // of launches, for as long as the program
  std::uint64_t next_buffer_ = 1;
  std::uint64_t sequence_ = 0;
  std::uint64_t hash_ = 0;
  std::uint64_t counted_fallbacks_ = 0;
  std::uint64_t counted_flattened_ = 0;
};

}  // namespace nuna::execute
