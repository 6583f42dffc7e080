// SPDX-License-Identifier: Apache-2.0
// A CUDA graph: work that is captured once and launched many times.
#pragma once

#include <functional>
#include <utility>

#include "kernels/cuda/runtime/runtime.hpp"

struct CUgraphExec_st;

namespace sfft::detail::cuda {

/// An executable graph; empty at first.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(Graph&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(executable_, other.executable_);
    return *this;
  }

  /// Replaces the graph with the work that `queue` enqueues in `stream` and in streams forked from it and
  /// joined to it. `stream` must not be capturing already. Launches in flight are not affected.
  void capture(Stream stream, const std::function<void()>& queue);
  void launch(Stream stream) const;

 private:
  CUgraphExec_st* executable_ = nullptr;
};

/// In a stream that is being captured: each launch of the graph records the event, for streams outside of it.
void record_external(const Event& event, Stream stream);
/// The same, for later work in the stream that waits until the event as it was recorded last, outside of the
/// graph or by record_external(), has been reached.
void wait_external(const Event& event, Stream stream);

}  // namespace sfft::detail::cuda
