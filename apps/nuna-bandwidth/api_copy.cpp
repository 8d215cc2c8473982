#include "nuna-bandwidth/api_copy.hpp"

#include <algorithm>

#include "context_state.hpp"

namespace nuna_bandwidth {
namespace {

using nuna::Box;
using nuna::Index;
using nuna::Interval;
using nuna::View;

// Each touches one byte of its block: what is timed is the transfer, not a kernel.
struct Write {
  Index bytes;
  NUNA_KERNEL void operator()(nuna::Thread t, View<unsigned char, 1> blocks) const {
    blocks(t.global<1>()[0] * bytes) = 1;
  }
};

struct Read {
  Index bytes;
  Index target;
  Index source;
  NUNA_KERNEL void operator()(nuna::Thread t, View<const unsigned char, 1> blocks) const {
    const Index part = t.global<1>()[0];
    volatile unsigned char byte = blocks((part == target ? source : part) * bytes);
    static_cast<void>(byte);
  }
};

// Each part reads its own block, the receiving one the sender's instead; with two ways the sending one the receiver's.
nuna::AccessMap needs_of(Index to, Index from, bool two_way, Index bytes) {
  return nuna::mapped([=](const nuna::Part& part, std::vector<Box>& elements) {
    for (Index t = part.threads[0].begin; t < part.threads[0].end; ++t) {
      Index block = t == to ? from : t;
      if (two_way && t == from) block = to;
      elements.push_back(Box{Interval{block * bytes, (block + 1) * bytes}});
    }
  });
}

Index all_parts(const nuna::Context& context) { return Index{context.ranks()} * context.devices(); }

}  // namespace

std::optional<Index> ApiCopy::part_of(const nuna::detail::RankRuntime& runtime,
                                      const nuna::topology::MemoryId& memory) {
  const auto& slots = runtime.places().place_of_slot;
  const auto found = std::find(slots.begin(), slots.end(), memory.place);
  if (found == slots.end()) return std::nullopt;
  return Index{memory.rank.value} * runtime.config().devices + (found - slots.begin());
}

ApiCopy::ApiCopy(nuna::Context& context, const Experiment& experiment, Index bytes)
    : context_(context),
      experiment_(experiment),
      bytes_(bytes),
      parts_(all_parts(context)),
      blocks_(context, {parts_ * bytes}),
      needs_(needs_of(part_of(context.state().runtime(), experiment.ends.to).value(),
                      part_of(context.state().runtime(), experiment.ends.from).value(), experiment.two_way,
                      bytes)) {}

void ApiCopy::prepare() {
  context_.launch("write blocks", nuna::Domain{parts_}.parts(static_cast<int>(parts_)), {1}, Write{bytes_},
                  nuna::write(blocks_, nuna::tiles(bytes_)));
  context_.wait();
}

void ApiCopy::move() {
  const auto& runtime = context_.state().runtime();
  const Read kernel{bytes_, *part_of(runtime, experiment_.ends.to), *part_of(runtime, experiment_.ends.from)};
  context_.launch("read blocks", nuna::Domain{parts_}.parts(static_cast<int>(parts_)), {1}, kernel,
                  nuna::read(blocks_, needs_));
  context_.wait();
}

}  // namespace nuna_bandwidth
