// Capture and graphs.

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "alias.hpp"
#include "call.hpp"
#include "device.hpp"
#include "graph.hpp"
#include "handles.hpp"
#include "images.hpp"
#include "launch.hpp"
#include "stream.hpp"
#include "transfer.hpp"

using namespace nuna::cudart;

namespace {

std::shared_ptr<Graph> graph_of(cudaGraph_t handle) {
  auto graph = handles<Graph>().find(handle);
  require(graph != nullptr, cudaErrorInvalidValue);
  return graph;
}
std::shared_ptr<GraphExec> exec_of(cudaGraphExec_t handle) {
  auto exec = handles<GraphExec>().find(handle);
  require(exec != nullptr, cudaErrorInvalidValue);
  return exec;
}
cudaGraph_t handle_of(std::shared_ptr<Graph> graph) {
  return reinterpret_cast<cudaGraph_t>(handles<Graph>().add(std::move(graph)));
}
Node* as_node(cudaGraphNode_t handle) { return reinterpret_cast<Node*>(handle); }
cudaGraphNode_t as_handle(const Node* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(node));
}

// A node whose action `make` gives.
template <class Make>
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                     cudaGraphNodeType type, Make make) {
  return device_call([&] {
    require(node != nullptr && (after != nullptr || count == 0), cudaErrorInvalidValue);
    const auto to = graph_of(graph);
    std::vector<Node*> before;
    for (size_t i = 0; i < count; ++i) before.push_back(as_node(after[i]));
    *node = as_handle(to->add(type, make(), std::move(before)));
  });
}

// Hands a list out as CUDA does: its length without an array, else as much as there is room for.
template <class Element>
void hand_out(const std::vector<Element>& list, Element* array, size_t* count) {
  require(count != nullptr, cudaErrorInvalidValue);
  if (array != nullptr) {
    const size_t given = std::min(*count, list.size());
    std::copy_n(list.begin(), given, array);
    std::fill(array + given, array + *count, Element{});
    *count = given;
  } else {
    *count = list.size();
  }
}

ActionRef copy_action(const cudaMemcpy3DParms& parameters) {
  const Copy copy = copy_of(parameters);
  check(copy, parameters.kind);
  return std::make_shared<CopyAction>(copy);
}
ActionRef copy_action(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  const Copy copy = linear_copy(dst, src, count);
  check(copy, kind);
  return std::make_shared<CopyAction>(copy);
}
ActionRef fill_action(const cudaMemsetParams& parameters) {
  const Fill fill = fill_of(parameters);
  check(fill);
  return std::make_shared<FillAction>(fill);
}
char* inside_symbol(const void* symbol, size_t count, size_t offset) {
  const Variable variable = Images::of_process().variable(symbol);
  require(offset <= variable.bytes && count <= variable.bytes - offset, cudaErrorInvalidValue);
  return static_cast<char*>(variable.address) + offset;
}

const KernelAction& kernel_of(cudaGraphNode_t node) {
  const Node& found = node_of(node);
  require(found.type == cudaGraphNodeTypeKernel && found.action != nullptr, cudaErrorInvalidValue);
  return static_cast<const KernelAction&>(*found.action);
}

template <class Make>
cudaError_t exchange(cudaGraphExec_t exec, cudaGraphNode_t node, Make make) {
  return device_call([&] { exec_of(exec)->exchange(as_node(node), make()); });
}

std::vector<std::pair<cudaGraphNode_t, cudaGraphNode_t>> edges_of(const Graph& graph) {
  std::vector<std::pair<cudaGraphNode_t, cudaGraphNode_t>> edges;
  for (const auto& node : graph.nodes()) {
    for (const Node* before : node->after) edges.emplace_back(as_handle(before), as_handle(node.get()));
  }
  return edges;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return device_call([&] { stream_of(stream)->begin_capture(mode); });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return device_call([&] {
    require(graph != nullptr, cudaErrorInvalidValue);
    *graph = nullptr;
    *graph = handle_of(stream_of(stream)->end_capture());
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return device_call([&] {
    require(status != nullptr, cudaErrorInvalidValue);
    const CaptureRef capture = stream_of(stream)->capture();
    *status = capture == nullptr ? cudaStreamCaptureStatusNone
              : capture->broken  ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
  });
}
// The dependencies stay until the thread asks again; the graph is nobody's but the capture's.
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies, size_t* numDependencies) {
  static thread_local std::vector<cudaGraphNode_t> last;
  if (const cudaError_t error = cudaStreamIsCapturing(stream, status)) return error;
  return device_call([&] {
    std::vector<Node*> after;
    const CaptureRef capture = stream_of(stream)->capture(&after);
    if (capture == nullptr) return;
    if (id != nullptr) *id = capture->id;
    if (graph != nullptr) *graph = handle_of(capture->graph);
    last.clear();
    for (const Node* node : after) last.push_back(as_handle(node));
    if (dependencies != nullptr) *dependencies = last.data();
    if (numDependencies != nullptr) *numDependencies = last.size();
  });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return plain_call([&] {
    static thread_local cudaStreamCaptureMode mine = cudaStreamCaptureModeGlobal;
    require(mode != nullptr, cudaErrorInvalidValue);
    std::swap(*mode, mine);
  });
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int) {
  return device_call([&] {
    require(graph != nullptr, cudaErrorInvalidValue);
    *graph = handle_of(std::make_shared<Graph>());
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return plain_call([&] { require(handles<Graph>().remove(graph) != nullptr, cudaErrorInvalidValue); });
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return device_call([&] {
    require(clone != nullptr, cudaErrorInvalidValue);
    *clone = handle_of(graph_of(original)->clone());
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t numDependencies,
                                   const cudaKernelNodeParams* params) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeKernel, [&]() -> ActionRef {
    require(params != nullptr, cudaErrorInvalidValue);
    return kernel_action(*params);
  });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t numDependencies,
                                   const cudaMemcpy3DParms* params) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeMemcpy, [&] {
    require(params != nullptr, cudaErrorInvalidValue);
    return copy_action(*params);
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t numDependencies, void* dst,
                                     const void* src, size_t count, cudaMemcpyKind kind) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeMemcpy,
                  [&] { return copy_action(dst, src, count, kind); });
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, size_t numDependencies,
                                           const void* symbol, const void* src, size_t count, size_t offset,
                                           cudaMemcpyKind kind) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeMemcpy,
                  [&] { return copy_action(inside_symbol(symbol, count, offset), src, count, kind); });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, size_t numDependencies,
                                             void* dst, const void* symbol, size_t count, size_t offset,
                                             cudaMemcpyKind kind) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeMemcpy,
                  [&] { return copy_action(dst, inside_symbol(symbol, count, offset), count, kind); });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t numDependencies,
                                   const cudaMemsetParams* params) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeMemset, [&] {
    require(params != nullptr, cudaErrorInvalidValue);
    return fill_action(*params);
  });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t numDependencies,
                                 const cudaHostNodeParams* params) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeHost, [&] {
    require(params != nullptr && params->fn != nullptr, cudaErrorInvalidValue);
    return host_action(params->fn, params->userData);
  });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t numDependencies,
                                       cudaGraph_t child) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeGraph,
                  [&] { return GraphExec(*graph_of(child)).action(); });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t numDependencies) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeEmpty,
                  [] { return ActionRef(); });
}
// All streams are one queue, so there is nothing to wait for.
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t numDependencies,
                                      cudaEvent_t event) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeWaitEvent, [&] {
    event_of(event);
    return ActionRef();
  });
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, size_t numDependencies,
                                        cudaEvent_t event) {
  return add_node(node, graph, dependencies, numDependencies, cudaGraphNodeTypeEventRecord,
                  [&] { return event_of(event)->record_in_graph(); });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t numDependencies) {
  return device_call([&] {
    require((from != nullptr && to != nullptr) || numDependencies == 0, cudaErrorInvalidValue);
    const auto of = graph_of(graph);
    for (size_t i = 0; i < numDependencies; ++i) {
      require(of->has(as_node(from[i])) && of->has(as_node(to[i])), cudaErrorInvalidValue);
      as_node(to[i])->after.push_back(as_node(from[i]));
    }
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* numNodes) {
  return device_call([&] {
    std::vector<cudaGraphNode_t> all;
    const auto of = graph_of(graph);
    for (const auto& node : of->nodes()) all.push_back(as_handle(node.get()));
    hand_out(all, nodes, numNodes);
  });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* rootNodes, size_t* numRootNodes) {
  return device_call([&] {
    std::vector<cudaGraphNode_t> roots;
    const auto of = graph_of(graph);
    for (const auto& node : of->nodes()) {
      if (node->after.empty()) roots.push_back(as_handle(node.get()));
    }
    hand_out(roots, rootNodes, numRootNodes);
  });
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              size_t* numEdges) {
  return device_call([&] {
    require(numEdges != nullptr, cudaErrorInvalidValue);
    std::vector<cudaGraphNode_t> begins;
    std::vector<cudaGraphNode_t> ends;
    for (const auto& [begin, end] : edges_of(*graph_of(graph))) {
      begins.push_back(begin);
      ends.push_back(end);
    }
    size_t room = *numEdges;
    hand_out(begins, from, &room);
    hand_out(ends, to, numEdges);
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return device_call([&] {
    require(type != nullptr, cudaErrorInvalidValue);
    *type = node_of(node).type;
  });
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         size_t* number) {
  return device_call([&] {
    std::vector<cudaGraphNode_t> before;
    for (const Node* other : node_of(node).after) before.push_back(as_handle(other));
    hand_out(before, dependencies, number);
  });
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           size_t* number) {
  return device_call([&] {
    std::vector<cudaGraphNode_t> behind;
    for (const auto& [begin, end] : edges_of(*node_of(node).graph)) {
      if (begin == node) behind.push_back(end);
    }
    hand_out(behind, dependents, number);
  });
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return device_call([&] {
    Node& found = node_of(node);
    found.graph->remove(&found);
  });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  return device_call([&] {
    require(params != nullptr, cudaErrorInvalidValue);
    *params = parameters_of(kernel_of(node));
  });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return device_call([&] {
    require(params != nullptr, cudaErrorInvalidValue);
    kernel_of(node);
    node_of(node).action = kernel_action(*params);
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return device_call([&] {
    require(exec != nullptr, cudaErrorInvalidValue);
    auto made = std::make_shared<GraphExec>(*graph_of(graph));
    *exec = reinterpret_cast<cudaGraphExec_t>(handles<GraphExec>().add(std::move(made)));
  });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  if (params == nullptr) return remember(cudaErrorInvalidValue);
  const cudaError_t error = cudaGraphInstantiate(exec, graph, params->flags);
  params->errNode_out = nullptr;
  params->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  return error;
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  return exchange(exec, node, [&]() -> ActionRef {
    require(params != nullptr, cudaErrorInvalidValue);
    return kernel_action(*params);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
  return exchange(exec, node, [&] {
    require(params != nullptr, cudaErrorInvalidValue);
    return copy_action(*params);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* dst,
                                               const void* src, size_t count, cudaMemcpyKind kind) {
  return exchange(exec, node, [&] { return copy_action(dst, src, count, kind); });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
  return exchange(exec, node, [&] {
    require(params != nullptr, cudaErrorInvalidValue);
    return fill_action(*params);
  });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
  return exchange(exec, node, [&] {
    require(params != nullptr && params->fn != nullptr, cudaErrorInvalidValue);
    return host_action(params->fn, params->userData);
  });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* resultInfo) {
  return device_call([&] {
    const bool same = exec_of(exec)->update(*graph_of(graph));
    if (resultInfo != nullptr) {
      *resultInfo = {};
      resultInfo->result = same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    }
    require(same, cudaErrorGraphExecUpdateFailure);
  });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return device_call([&] {
    exec_of(exec);
    stream_of(stream);
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return device_call([&] { stream_of(stream)->submit(cudaGraphNodeTypeGraph, exec_of(exec)->action()); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return plain_call([&] { require(handles<GraphExec>().remove(exec) != nullptr, cudaErrorInvalidValue); });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
  return device_call([&] {
    require(path != nullptr, cudaErrorInvalidValue);
    const auto of = graph_of(graph);
    std::FILE* const file = std::fopen(path, "w");
    require(file != nullptr, cudaErrorOperatingSystem);
    std::fprintf(file, "digraph {\n");
    for (const auto& node : of->nodes())
      std::fprintf(file, "  \"%p\" [label=\"type %d\"];\n", static_cast<void*>(node.get()), node->type);
    for (const auto& [begin, end] : edges_of(*of))
      std::fprintf(file, "  \"%p\" -> \"%p\";\n", static_cast<void*>(begin), static_cast<void*>(end));
    std::fprintf(file, "}\n");
    std::fclose(file);
  });
}

NUNA_PER_THREAD(cudaStreamBeginCapture);
NUNA_PER_THREAD(cudaStreamEndCapture);
NUNA_PER_THREAD(cudaStreamIsCapturing);
NUNA_PER_THREAD(cudaStreamGetCaptureInfo);
NUNA_PER_THREAD(cudaGraphInstantiateWithParams);
NUNA_PER_THREAD(cudaGraphUpload);
NUNA_PER_THREAD(cudaGraphLaunch);
}
