#pragma once
// Forms of one call from several versions of CUDA, told apart by their arguments. C++ only, at the end of cuda_runtime_api.h.

// CUDA 13: locations instead of devices' numbers.
static inline cudaError_t cudaMemAdvise(const void* devPtr, size_t count, enum cudaMemoryAdvise advice,
                                        struct cudaMemLocation location) {
  return cudaMemAdvise_v2(devPtr, count, advice, location);
}
static inline cudaError_t cudaMemPrefetchAsync(const void* devPtr, size_t count,
                                               struct cudaMemLocation location, unsigned int flags,
                                               cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync_v2(devPtr, count, location, flags, stream);
}

// CUDA 11: a node and a text for what is wrong with a graph.
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                               cudaGraphNode_t* errorNode, char* log, size_t logBytes) {
  if (errorNode != nullptr) *errorNode = nullptr;
  if (log != nullptr && logBytes > 0) *log = '\0';
  return cudaGraphInstantiate(exec, graph, 0ull);
}
static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                              cudaGraphNode_t* errorNode,
                                              enum cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info = {};
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
  if (errorNode != nullptr) *errorNode = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}

// CUDA 13: data of edges, which there is none of.
static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                                   size_t numDependencies) {
  return cudaGraphAddDependencies(graph, from, to, numDependencies);
}
static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                            cudaGraphEdgeData*, size_t* numEdges) {
  return cudaGraphGetEdges(graph, from, to, numEdges);
}
static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                                       cudaGraphEdgeData*, size_t* number) {
  return cudaGraphNodeGetDependencies(node, dependencies, number);
}
static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                                         cudaGraphEdgeData*, size_t* number) {
  return cudaGraphNodeGetDependentNodes(node, dependents, number);
}
static inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus* status,
                                                   unsigned long long* id, cudaGraph_t* graph,
                                                   const cudaGraphNode_t** dependencies,
                                                   const cudaGraphEdgeData** edges, size_t* numDependencies) {
  if (edges != nullptr) *edges = nullptr;
  return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, numDependencies);
}
