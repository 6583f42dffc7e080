// SPDX-License-Identifier: Apache-2.0
// CUDA graphs of the work that one GPU does by itself in a forward transform. That work is about a hundred
// launches, copies and events, which every call with the same arrays repeats.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/cuda/runtime/graph.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// Everything on which a graph depends. The caller's streams do not matter.
struct SlabGraphKey {
  ElementType type = ElementType::c64;
  const void *signal = nullptr, *workspace = nullptr;
  std::vector<const void*> spectra;  ///< of all GPUs, because this one sends rows to them
  friend bool operator==(const SlabGraphKey&, const SlabGraphKey&) = default;
};

/// Caches the most recently used graphs. Callers must lock it.
class SlabGraphs {
 public:
  /// Returns the graph for `key`. If there is none yet, captures what `queue` enqueues; `stream` belongs to
  /// the current device.
  const cuda::Graph& of(const SlabGraphKey& key, cuda::Stream stream, const std::function<void()>& queue);

 private:
  struct Entry {
    SlabGraphKey key;
    cuda::Graph graph;
    std::uint64_t last_use = 0;
  };

  std::vector<Entry> entries_;
  std::uint64_t uses_ = 0;
};

}  // namespace sfft::detail
