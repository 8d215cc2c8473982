#pragma once
// Planner: from the state of the buffers and a launch to what one rank does. Pure and replicated (D5).
//
// The same calls give the same plans, messages and successor states on every rank. Nothing here knows memory, devices,
// MPI or a clock, so the planning of 8,192 ranks runs on a laptop. Plans are cached by launch signature and states
// (immutable, interned values), so a repeated launch costs one lookup. What depends on the signature alone - the cut, the
// tables of the access maps, that writes do not overlap - is kept apart, so planning a known launch from new states
// costs what the neighbours cost.
//
// Threads: one at a time per Planner.

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>
#include <absl/types/span.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/cut.hpp"
#include "base/intern.hpp"
#include "coherence/directory.hpp"
#include "nuna/domain.hpp"
#include "plan/instruction.hpp"
#include "plan/launch_key.hpp"

namespace nuna::plan {

/// One buffer argument. Equal `buffer` numbers are the same buffer.
struct ArgumentUse {
  int buffer = 0;
  base::Shape shape;
  AccessMap map = one_to_one();
  bool reads = false;
  bool writes = false;
  bool may = false;  ///< may-write: fetched first, held afterwards (D8)
  /// Whose instance the kernel uses, where the device that runs it can; nullopt: that of the device itself.
  std::optional<int> device = std::nullopt;
  friend bool operator==(const ArgumentUse&, const ArgumentUse&) = default;
};
using Uses = absl::InlinedVector<ArgumentUse, 6>;

/// What is planned: a kernel launch over a domain, or the fetch for a host view (no parts run).
struct LaunchShape {
  Domain domain = {1};
  Extents block{1};
  /// All devices, or one. Host views: one part per rank (everybody) or on one rank (the root), instead of a cut of the domain.
  enum class Team : std::uint8_t { devices, every_host, one_host, one_device } team = Team::devices;
  base::RankId root;
  int device = 0;  ///< of one_device; devices are numbered rank by rank
  Uses uses;

  void run_on(int one) {
    team = Team::one_device;
    device = one;
  }
  bool on_devices() const { return team == Team::devices || team == Team::one_device; }
};

using States = absl::InlinedVector<coherence::DirectoryRef, 6>;        ///< one per distinct buffer number
using StateKeys = absl::Span<const coherence::DirectoryState* const>;  ///< the same, for looking up

struct Planned {
  RankPlanRef plan;
  States next;                  ///< successors, per distinct buffer number
  std::int64_t id = 0;          ///< of the cache's entry, never used twice: key of later caches
  std::uint64_t signature = 0;  ///< hash of what was asked, the same on every rank (D2)
};

struct PlannerCounts {
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::int64_t flattened = 0;   ///< stacks that grew too high
  std::int64_t enumerated = 0;  ///< maps that are not monotone, evaluated for all parts
};

class Planner {
 public:
  static constexpr std::size_t kCacheBoxes = std::size_t{1} << 18;
  /// How a launch is cut (schedule/partition.hpp); throws nuna::Error for what cannot be.
  using CutFunction = std::function<access::Cut(const Domain&, const Extents& block, const access::Team&,
                                                std::string_view what)>;
  struct Config {
    access::Team team;
    CutFunction cut;
    base::RankId rank;
    bool fast_path = true;  ///< off: neighbours are found by looking at every part (for tests)
    std::size_t cache_boxes = kCacheBoxes;  ///< the caches hold about this many boxes, of 100 bytes
    Index in_place_bytes =
        kInPlaceBytes;  ///< messages from this size on are made one run if little is missing
  };
  explicit Planner(Config config);

  /// The cached plan, or null. Needs no name and refuses nothing.
  const Planned* find(const LaunchShape& launch, StateKeys states);
  /// Plans one launch. `what` names it in errors, in the form "launch 'heat'". Throws nuna::Error (invalid_argument,
  /// out_of_bounds, overlapping_writes, too_few_blocks) and changes nothing then.
  const Planned& plan(const LaunchShape& launch, const States& states, std::string_view what);

  /// The directory of a new buffer, and after host writes, interned.
  coherence::DirectoryRef fresh(const base::Shape& shape);
  coherence::DirectoryRef intern(coherence::DirectoryState state);

  const PlannerCounts& counts() const { return counts_; }
  std::int64_t& flattened() { return counts_.flattened; }

 private:
  struct Entry {
    Planned planned;
    States before;                // keep the key's pointers alive
    std::vector<AccessMap> maps;  // and the identities of user functions
  };
  static std::size_t weight_of(const Entry& entry);
  struct Argument {
    coherence::DistributionRef touched;
    int buffer = 0;
  };
  struct Signature {  // of a launch that was checked: all that does not depend on states
    access::CutRef cut;
    std::vector<Argument> arguments;
    std::uint64_t hash = 0;
    std::vector<AccessMap> maps;  // keep the identities of user functions alive
  };
  template <class Value>
  using Cache = absl::flat_hash_map<KeptKey, std::unique_ptr<Value>, KeyHash, KeyEqual>;
  static constexpr std::size_t kMostSignatures = 4096;

  void put_key(const LaunchShape& launch, StateKeys states);
  static std::uint64_t hash_of(const LaunchShape& launch);
  const Signature& signature(const LaunchShape& launch, std::string_view what);
  Signature check(const LaunchShape& launch, std::string_view what);
  Entry compute(const LaunchShape& launch, const States& states, std::string_view what);
  void check_devices(const LaunchShape& launch, std::string_view what) const;
  access::CutRef cut_for(const LaunchShape& launch, std::string_view what);
  coherence::DistributionRef distribution(const access::CutRef& cut, const LaunchShape& launch,
                                          std::size_t argument, std::string_view what);
  void refuse_overlaps(const LaunchShape& launch, const std::vector<Argument>& arguments,
                       std::string_view what) const;
  void fill_gaps(Message& message, base::RankId sender, const coherence::DirectoryState& state) const;
  void plan_messages(int argument, const coherence::DirectoryState& state,
                     const coherence::Distribution& reading, RankPlan& plan) const;
  ArgumentEffect effect_of(const ArgumentUse& use, const coherence::DirectoryState& state,
                           const coherence::Distribution& touched) const;

  Config config_;
  PlannerCounts counts_;
  std::int64_t next_id_ = 1;
  base::Interner<access::Cut> cuts_;
  base::Interner<coherence::DirectoryState> states_{kCacheBoxes};
  Cache<Signature> signatures_;
  Cache<Entry> cache_;
  std::size_t cached_boxes_ = 0;
  LaunchKey key_;
};

}  // namespace nuna::plan
