// SPDX-License-Identifier: Apache-2.0
// Instantiates a new graph for every capture: CUDA cannot update a graph whose kernels overlap their
// predecessors.
#include "kernels/cuda/runtime/graph.hpp"

#include <cuda_runtime.h>

#include <memory>

namespace sfft::detail::cuda {

namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const noexcept { static_cast<void>(cudaGraphDestroy(graph)); }
};
using OwnedGraph = std::unique_ptr<CUgraph_st, DestroyGraph>;

OwnedGraph captured(Stream stream, const std::function<void()>& queue) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "beginning to capture a graph");
  cudaGraph_t graph = nullptr;
  try {
    queue();
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream, &graph));
    static_cast<void>(cudaGetLastError());
    const OwnedGraph unfinished(graph);
    throw;
  }
  const cudaError_t status = cudaStreamEndCapture(stream, &graph);
  OwnedGraph owned(graph);
  check(status, "capturing a graph");
  return owned;
}

}  // namespace

Graph::~Graph() {
  if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
}

void Graph::capture(Stream stream, const std::function<void()>& queue) {
  const OwnedGraph graph = captured(stream, queue);
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph.get(), 0), "making a graph executable");
  if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
  executable_ = executable;
}

void Graph::launch(Stream stream) const {
  check(cudaGraphLaunch(executable_, stream), "launching a graph");
}

void record_external(const Event& event, Stream stream) {
  check(cudaEventRecordWithFlags(event.get(), stream, cudaEventRecordExternal),
        "recording an event in a graph");
}
void wait_external(const Event& event, Stream stream) {
  check(cudaStreamWaitEvent(stream, event.get(), cudaEventWaitExternal), "making a graph wait for an event");
}

}  // namespace sfft::detail::cuda
