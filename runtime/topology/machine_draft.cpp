#include "topology/machine_draft.hpp"

#include <string>

namespace nuna::topology {

int MachineDraft::add(Link link, Position where) {
  const int number = append(machine.links, link, where);
  links_.emplace(std::pair(link.from, link.to), number);
  return number;
}

void MachineDraft::replace(const Link& link, Position where) {
  const auto found = links_.find({link.from, link.to});
  if (found == links_.end()) {
    add(link, where);
    return;
  }
  machine.links[static_cast<std::size_t>(found->second)] = link;
  positions_[{Problem::Part::link, found->second}] = where;
}

void MachineDraft::expect_room(const Section& section, std::int64_t parts) const {
  const std::size_t there = machine.nodes.size() + machine.ranks.size() + machine.buses.size() +
                            machine.memories.size() + machine.devices.size() + machine.links.size();
  if (parts > kMostParts - static_cast<std::int64_t>(there))
    section.refuse("describes more than " + std::to_string(kMostParts) +
                   " nodes, ranks, buses, memories, devices and links: use smaller counts");
}

Machine MachineDraft::finish(const Section& root) && {
  if (machine.ranks.empty())
    root.refuse_at({}, "describes no machine: expected at least one [[node]], as in docs/machine-files.md");
  if (const std::optional<Problem> problem = find_problem(machine)) {
    const auto where = positions_.find({problem->part, problem->index});
    root.refuse_at(where == positions_.end() ? Position{} : where->second, problem->text);
  }
  return std::move(machine);
}

}  // namespace nuna::topology
