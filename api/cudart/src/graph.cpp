#include "graph.hpp"

#include <algorithm>
#include <unordered_set>

#include "call.hpp"
#include "device.hpp"

namespace nuna::cudart {
namespace {

// Nodes that are alive; never destroyed, as handles are.
struct AllNodes {
  std::mutex mutex;
  std::unordered_set<const Node*> nodes;
  static AllNodes& of_process() {
    static auto* const only = new AllNodes;
    return *only;
  }
  void insert(const Node* node) {
    const std::lock_guard lock(mutex);
    nodes.insert(node);
  }
  void erase(const Node* node) {
    const std::lock_guard lock(mutex);
    nodes.erase(node);
  }
};

class SequenceAction final : public Action {
 public:
  explicit SequenceAction(std::vector<ActionRef> actions) : actions_(std::move(actions)) {}
  void run(Crew& crew) const override {
    Spread* const spread = Device::get().spread();
    for (const ActionRef& action : actions_) {
      if (spread != nullptr && !action->orders_itself()) spread->settle();
      if (sticky_error() == cudaSuccess || action->always()) action->run(crew);
    }
  }
  std::string name() const override {
    return "a graph of " + std::to_string(actions_.size()) + " operations";
  }
  bool always() const override { return true; }
  void for_each_kernel(const std::function<void(const KernelAction&)>& visit) const override {
    for (const ActionRef& action : actions_) action->for_each_kernel(visit);
  }

 private:
  const std::vector<ActionRef> actions_;
};

}  // namespace

Graph::~Graph() {
  for (const auto& node : nodes_) AllNodes::of_process().erase(node.get());
}

Node* Graph::add(cudaGraphNodeType type, ActionRef action, std::vector<Node*> after) {
  for (const Node* node : after) require(has(node), cudaErrorInvalidValue);
  std::unique_ptr<Node> node(new Node{this, type, std::move(action), std::move(after)});
  AllNodes::of_process().insert(node.get());
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

bool Graph::has(const Node* node) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& mine) { return mine.get() == node; });
}

void Graph::remove(const Node* node) {
  for (const auto& other : nodes_) std::erase(other->after, node);
  AllNodes::of_process().erase(node);
  std::erase_if(nodes_, [&](const auto& mine) { return mine.get() == node; });
}

std::vector<const Node*> Graph::in_order() const {
  std::vector<const Node*> order;
  std::unordered_set<const Node*> placed;
  order.reserve(nodes_.size());
  for (std::size_t before = nodes_.size() + 1; order.size() < nodes_.size();) {
    require(order.size() != before, cudaErrorInvalidValue);
    before = order.size();
    for (const auto& node : nodes_) {
      const bool ready = std::all_of(node->after.begin(), node->after.end(),
                                     [&](const Node* other) { return placed.count(other) != 0; });
      if (placed.count(node.get()) != 0 || !ready) continue;
      placed.insert(node.get());
      order.push_back(node.get());
    }
  }
  return order;
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  std::unordered_map<const Node*, Node*> of;
  for (const auto& node : nodes_) of[node.get()] = copy->add(node->type, node->action, {});
  for (const auto& node : nodes_) {
    for (const Node* other : node->after) of[node.get()]->after.push_back(of.at(other));
  }
  return copy;
}

GraphExec::GraphExec(const Graph& graph) {
  for (const Node* node : graph.in_order()) {
    steps_.emplace_back(node, node->action);
    types_.push_back(node->type);
  }
}

ActionRef GraphExec::action() const {
  const std::lock_guard lock(mutex_);
  std::vector<ActionRef> actions;
  for (const auto& [node, action] : steps_) {
    if (action != nullptr) actions.push_back(action);
  }
  return std::make_shared<SequenceAction>(std::move(actions));
}

void GraphExec::exchange(const Node* node, ActionRef action) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(steps_.begin(), steps_.end(), [&](const auto& step) { return step.first == node; });
  require(found != steps_.end(), cudaErrorInvalidValue);
  found->second = std::move(action);
}

bool GraphExec::update(const Graph& graph) {
  const std::vector<const Node*> order = graph.in_order();
  const std::lock_guard lock(mutex_);
  if (order.size() != steps_.size()) return false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i]->type != types_[i]) return false;
  }
  for (std::size_t i = 0; i < order.size(); ++i) steps_[i].second = order[i]->action;
  return true;
}

Node& node_of(cudaGraphNode_t handle) {
  auto* const node = reinterpret_cast<Node*>(handle);
  AllNodes& all = AllNodes::of_process();
  const std::lock_guard lock(all.mutex);
  require(all.nodes.count(node) != 0, cudaErrorInvalidValue);
  return *node;
}

}  // namespace nuna::cudart
