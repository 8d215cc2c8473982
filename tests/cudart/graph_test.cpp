#include <vector>

#include "cudart/fixture.hpp"

namespace cudart_test {
namespace {

class Graphs : public Cudart {
 protected:
  void SetUp() override {
    Cudart::SetUp();
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
  }
  void run(cudaGraph_t graph, int times = 1) {
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int i = 0; i < times; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  }
  cudaStream_t stream_ = nullptr;
};

TEST_F(Graphs, RunWhatWasCaptured) {
  float* const data = device_floats(1000);
  std::vector<float> back(1000);
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 4000), cudaSuccess);
  ASSERT_EQ(cudaMemset(data, 0, 4000), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(add(data, 1000, 1, stream_), cudaSuccess);
  ASSERT_EQ(add(data, 1000, 2, stream_), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(pinned, data, 4000, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  EXPECT_EQ(cudaStreamIsCapturing(stream_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(data[0], 0.0f);
  size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 3u);
  run(graph, 5);
  EXPECT_EQ(static_cast<float*>(pinned)[999], 15.0f);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

TEST_F(Graphs, ForkAndJoinStreamsByEvents) {
  cudaStream_t other = nullptr;
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  ASSERT_EQ(cudaStreamCreate(&other), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&fork), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&join), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(append(1, stream_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
  ASSERT_EQ(append(2, other), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(join, other), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream_, join, 0), cudaSuccess);
  ASSERT_EQ(append(3, stream_), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(appended_count, 0);
  run(graph);
  ASSERT_EQ(appended_count, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(appended[i], i + 1);
  ASSERT_EQ(append(4, other), cudaSuccess);  // no longer captured
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(appended[3], 4);
}

TEST_F(Graphs, RefuseWhatCannotBeCaptured) {
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(append(1, stream_), cudaErrorStreamCaptureInvalidated);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorIllegalState);
  EXPECT_EQ(append(1, stream_), cudaSuccess);
}

TEST_F(Graphs, AreMadeByHand) {
  int value = 7;
  void* arguments[] = {&value};
  cudaKernelNodeParams kernel{};
  kernel.func = const_cast<void*>(kAppend);
  kernel.gridDim = 1;
  kernel.blockDim = 1;
  kernel.kernelParams = arguments;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t last = nullptr;
  cudaGraphNode_t first = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddKernelNode(&last, graph, nullptr, 0, &kernel), cudaSuccess);
  value = 5;
  ASSERT_EQ(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel), cudaSuccess);
  ASSERT_EQ(cudaGraphAddDependencies(graph, &first, &last, 1), cudaSuccess);
  run(graph);
  EXPECT_EQ(appended[0], 5);
  EXPECT_EQ(appended[1], 7);
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  EXPECT_EQ(cudaGraphNodeGetType(first, &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeKernel);
  ASSERT_EQ(cudaGraphAddDependencies(graph, &last, &first, 1), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
}

TEST_F(Graphs, TakeOtherParametersBetweenLaunches) {
  int value = 1;
  void* arguments[] = {&value};
  cudaKernelNodeParams kernel{};
  kernel.func = const_cast<void*>(kAppend);
  kernel.gridDim = 1;
  kernel.blockDim = 1;
  kernel.kernelParams = arguments;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  value = 2;
  ASSERT_EQ(cudaGraphExecKernelNodeSetParams(exec, node, &kernel), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(appended[0], 1);
  EXPECT_EQ(appended[1], 2);
}

}  // namespace
}  // namespace cudart_test
