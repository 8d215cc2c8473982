#include "topology/cards.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace nuna::topology {
namespace {

using Uuid = std::array<std::byte, 16>;
using OnNode = std::pair<int, Uuid>;

// As many GPUs as every rank can have for itself: the fewest, over nodes, of a node's GPUs for each of its ranks.
int own_share(std::span<const RankCards> ranks) {
  std::map<int, std::pair<std::map<Uuid, int>, int>> nodes;  // its GPUs, and its ranks
  for (const RankCards& rank : ranks) {
    auto& [cards, count] = nodes[rank.node];
    for (const CardFacts& card : rank.seen) ++cards[card.uuid];
    ++count;
  }
  int fewest = kMostCards;
  for (const auto& [node, of] : nodes)
    fewest = std::min(fewest, static_cast<int>(of.first.size()) / of.second);
  for (const RankCards& rank : ranks) fewest = std::min(fewest, static_cast<int>(rank.seen.size()));
  return std::max(1, fewest);
}

}  // namespace

std::vector<std::vector<CardShare>> share_out(std::span<const RankCards> ranks, int devices) {
  const int each = devices > 0 ? devices : own_share(ranks);
  std::map<OnNode, int> users;
  std::vector<std::vector<CardShare>> shares(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const RankCards& rank = ranks[r];
    const auto used = [&](const CardFacts& card) -> int& { return users[{rank.node, card.uuid}]; };
    for (int d = 0; d < each && !rank.seen.empty(); ++d) {
      const auto least =
          std::min_element(rank.seen.begin(), rank.seen.end(),
                           [&](const CardFacts& a, const CardFacts& b) { return used(a) < used(b); });
      ++used(*least);
      shares[r].push_back({static_cast<int>(least - rank.seen.begin()), 1, 0});
    }
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (CardShare& share : shares[r]) {
      const CardFacts& card = ranks[r].seen[static_cast<std::size_t>(share.card)];
      share.sharers = users[{ranks[r].node, card.uuid}];
      share.free_bytes = card.free_bytes / share.sharers;
    }
  }
  return shares;
}

}  // namespace nuna::topology
