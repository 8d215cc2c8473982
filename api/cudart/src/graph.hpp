#pragma once
// Graphs: operations with an order between them, made by hand or by capture, run as one operation.

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda_runtime_api.h"
#include "lane.hpp"

namespace nuna::cudart {

class Graph;

struct Node {
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  ActionRef action;  ///< null: nothing to do
  std::vector<Node*> after;
};

/// A program's thread changes one graph at a time, as CUDA wants it.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Node* add(cudaGraphNodeType type, ActionRef action, std::vector<Node*> after);
  /// Whether a node is this graph's.
  bool has(const Node* node) const;
  void remove(const Node* node);
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  /// In an order that obeys `after`; throws Refused (cudaErrorInvalidValue) for a circle.
  std::vector<const Node*> in_order() const;
  std::shared_ptr<Graph> clone() const;

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
};

/// A graph that is ready to run. Its actions may be exchanged between launches.
class GraphExec {
 public:
  explicit GraphExec(const Graph& graph);

  ActionRef action() const;
  /// Throws Refused (cudaErrorInvalidValue) when the graph had no such node.
  void exchange(const Node* node, ActionRef action);
  /// Takes the actions of a graph with the same nodes; false when it has others.
  bool update(const Graph& graph);

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<const Node*, ActionRef>> steps_;
  std::vector<cudaGraphNodeType> types_;
};

/// The node behind a handle, of any graph that is alive; throws Refused (cudaErrorInvalidValue).
Node& node_of(cudaGraphNode_t handle);

}  // namespace nuna::cudart
