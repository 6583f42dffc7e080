// SPDX-License-Identifier: Apache-2.0
// A new graph replaces the least recently used one.
#include "kernels/dense/request/cuda_slab_graphs.hpp"

#include <algorithm>

namespace sfft::detail {

namespace {

constexpr std::size_t kMax = 8;

}  // namespace

const cuda::Graph& SlabGraphs::of(const SlabGraphKey& key, cuda::Stream stream,
                                  const std::function<void()>& queue) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found != entries_.end()) {
    found->last_use = ++uses_;
    return found->graph;
  }
  if (entries_.size() < kMax) entries_.emplace_back();
  Entry& entry = *std::min_element(entries_.begin(), entries_.end(),
                                   [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
  entry.key = {};  // matches no call until the capture has succeeded
  entry.graph.capture(stream, queue);
  entry.key = key;
  entry.last_use = ++uses_;
  return entry.graph;
}

}  // namespace sfft::detail
