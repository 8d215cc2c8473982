// SegmentMap against the same work by hand on absl::btree_map, and against boost::icl::interval_map: random
// overwrites that coalesce, and range queries over about 16 segments, on maps of 1 k, 100 k and 1 M segments.
//
// The peers do the same sequence of operations from the same state; both keep total, coalesced maps. Bounds:
// at most 1.15 times the time of the hand-written tree, a third of the time of boost's at 100 k and 1 M
// segments.

#include <absl/container/btree_map.h>

#include <boost/icl/interval_map.hpp>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "coherence/segment_map.hpp"
#include "perf/measure.hpp"

namespace {

using nuna::Index;
using nuna::Interval;

class Random {
 public:
  Index below(Index n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<Index>((state_ * 0x2545F4914F6CDD1DULL >> 32) * static_cast<std::uint64_t>(n) >> 32);
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15ULL;
};

class Ours {
 public:
  explicit Ours(Index size) : map_(size, 0) {}
  void assign(Interval range, int value) { map_.assign(range, value); }
  template <class F>
  void query(Interval range, F f) const {
    map_.for_each(range, f);
  }

 private:
  nuna::coherence::SegmentMap<int> map_;
};

/// What one writes by hand: the starts of the segments in a B-tree, one look-up an operation.
class Tree {
 public:
  explicit Tree(Index size) : size_(size) { map_.emplace(0, 0); }
  void assign(Interval range, int value) {
    auto last = map_.lower_bound(range.begin);
    const auto first = last;
    const bool join = first != map_.begin() && std::prev(first)->second == value;
    int behind = first == map_.begin() ? value : std::prev(first)->second;
    for (; last != map_.end() && last->first <= range.end; ++last) behind = last->second;
    last = map_.erase(first, last);
    if (range.end < size_ && behind != value) last = map_.emplace_hint(last, range.end, behind);
    if (!join) map_.emplace_hint(last, range.begin, value);
  }
  template <class F>
  void query(Interval range, F f) const {
    auto segment = std::prev(map_.upper_bound(range.begin));
    Index begin = range.begin;
    int value = segment->second;
    for (++segment; segment != map_.end() && segment->first < range.end; ++segment) {
      f(Interval{begin, segment->first}, value);
      begin = segment->first;
      value = segment->second;
    }
    f(Interval{begin, range.end}, value);
  }

 private:
  absl::btree_map<Index, int> map_;
  Index size_;
};

class Boost {
 public:
  explicit Boost(Index size) { map_.set({Span::right_open(0, size), 0}); }
  void assign(Interval range, int value) { map_.set({Span::right_open(range.begin, range.end), value}); }
  template <class F>
  void query(Interval range, F f) const {
    const auto found = map_.equal_range(Span::right_open(range.begin, range.end));
    for (auto i = found.first; i != found.second; ++i) {
      f(range.intersect({i->first.lower(), i->first.upper()}), i->second);
    }
  }

 private:
  using Span = boost::icl::interval<Index>;
  boost::icl::interval_map<Index, int, boost::icl::partial_enricher> map_;
};

/// One map with its own stream of operations, so that every map of a row sees the same ones.
template <class Map>
class Subject {
 public:
  Subject(Index segments, int operations)
      : size_(segments * kMeanBytes), operations_(operations), map_(size_) {
    for (Index i = 0; i < 2 * segments; ++i) overwrite();
  }
  double assign_ns() {
    return per_operation_ns([&] { overwrite(); });
  }
  double query_ns() {
    Index sum = 0;
    const double ns = per_operation_ns([&] {
      const Index begin = random_.below(size_ - kQueryBytes);
      map_.query({begin, begin + kQueryBytes},
                 [&](Interval bytes, int value) { sum += bytes.end - bytes.begin + value; });
    });
    nuna::perf::keep(sum);
    return ns;
  }

 private:
  static constexpr Index kMeanBytes = 64;
  static constexpr Index kQueryBytes = 16 * kMeanBytes;

  void overwrite() {
    const Index bytes = 1 + random_.below(2 * kMeanBytes);
    const Index begin = random_.below(size_ - bytes);
    map_.assign({begin, begin + bytes}, static_cast<int>(random_.below(4)));
  }
  template <class Operation>
  double per_operation_ns(Operation operation) {
    return 1e9 / operations_ * nuna::perf::seconds_of([&] {
             for (int i = 0; i < operations_; ++i) operation();
           });
  }

  Index size_;
  int operations_;
  Random random_;
  Map map_;
};

template <class Peer>
void rows(const nuna::perf::Report& report, const std::string& peer_name, const std::string& count,
          Index segments, double aim) {
  constexpr int kOperations = 20000;
  Subject<Ours> ours(segments, kOperations);
  Subject<Ours> again(segments, kOperations);
  Subject<Peer> peer(segments, kOperations);
  const std::string where = ", " + count + " segments, " + peer_name;
  report.row(
      {"assign" + where, "ns", nuna::perf::Better::less, aim}, [&] { return ours.assign_ns(); },
      [&] { return peer.assign_ns(); }, [&] { return again.assign_ns(); });
  report.row(
      {"query" + where, "ns", nuna::perf::Better::less, aim}, [&] { return ours.query_ns(); },
      [&] { return peer.query_ns(); }, [&] { return again.query_ns(); });
}

}  // namespace

int main(int argc, char** argv) {
  const nuna::perf::Report report(argc, argv);
  constexpr double kAtMost = 1 / 1.15;
  rows<Tree>(report, "absl::btree_map", "1 k", 1000, kAtMost);
  rows<Tree>(report, "absl::btree_map", "100 k", 100000, kAtMost);
  rows<Tree>(report, "absl::btree_map", "1 M", 1000000, kAtMost);
  rows<Boost>(report, "boost::icl", "100 k", 100000, 3);
  rows<Boost>(report, "boost::icl", "1 M", 1000000, 3);
}
