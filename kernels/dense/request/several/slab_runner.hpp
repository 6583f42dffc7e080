// SPDX-License-Identifier: Apache-2.0
// Transforms whose arrays are distributed over several devices: one transform in slabs, or whole signals of a
// batch.
#pragma once

#include <span>
#include <vector>

#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

/// A call of such a plan, with full output. Every span has one entry per slab. Workspaces are aligned to 256
/// bytes.
struct SlabCall {
  Direction direction = Direction::forward;
  std::span<const void* const> from;
  ElementType type = ElementType::c64;  ///< of the signals
  std::span<void* const> to;
  std::span<std::byte* const> workspaces;
  std::span<CUstream_st* const> streams;
};

struct DistributedChoice : Choice<SlabCall> {
  std::vector<dense::Slab> signals, spectra;
  std::vector<std::size_t> workspace_bytes;  ///< device memory of one call, per slab
};

/// Throws Error: backend_unavailable for transforms that cannot be shared and for missing devices,
/// out_of_memory if the arrays do not fit.
template <class Real>
DistributedChoice choose_distributed(const DenseRequest& request);

/// Copy between the whole array, contiguous in host memory, and its slabs in device memory. Both block.
/// `whole_extents` are the extents of one signal or one spectrum.
void copy_to_slabs(const void* whole, const Shape& whole_extents, std::size_t element_bytes,
                   const std::vector<dense::Slab>& slabs, std::span<void* const> parts);
void copy_from_slabs(void* whole, const Shape& whole_extents, std::size_t element_bytes,
                     const std::vector<dense::Slab>& slabs, std::span<const void* const> parts);

}  // namespace sfft::detail
