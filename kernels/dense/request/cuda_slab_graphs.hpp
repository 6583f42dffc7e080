// SPDX-License-Identifier: Apache-2.0
// Graphs of what one GPU does by itself in a forward transform: some hundred launches, copies and events that
// calls with the same arrays repeat.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/base/types.hpp"
#include "kernels/cuda/runtime/graph.hpp"

namespace sfft::detail {

/// What these depend on, but not the caller's streams.
struct SlabGraphKey {
  ElementType type = ElementType::c64;
  const void *signal = nullptr, *workspace = nullptr;
  std::vector<const void*> spectra;  ///< of all GPUs, which it sends rows to
  friend bool operator==(const SlabGraphKey&, const SlabGraphKey&) = default;
};

/// The last few that were captured, which callers guard.
class SlabGraphs {
 public:
  /// Captures in a stream of the current device what `queue` puts there, unless the key is known.
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
