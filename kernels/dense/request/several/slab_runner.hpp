// SPDX-License-Identifier: Apache-2.0
// Runs transforms whose arrays are distributed over several devices: one transform in slabs, or whole signals
// of a batch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

/// Workspaces and streams of a call, one per slab. Workspaces are aligned to 256 bytes.
struct SlabCall {
  std::span<std::byte* const> workspaces;
  std::span<CUstream_st* const> streams;
};

/// Arguments have been checked; every span has one entry per slab. Calls return at once, and are thread-safe
/// with separate workspaces.
template <class Real>
class SlabRunner {
 public:
  virtual ~SlabRunner() = default;

  virtual const std::vector<dense::Slab>& signal_slabs() const noexcept = 0;
  virtual const std::vector<dense::Slab>& spectrum_slabs() const noexcept = 0;
  virtual std::size_t workspace_bytes(std::size_t slab) const noexcept = 0;
  virtual void enqueue_forward(std::span<const void* const> signals, ElementType type,
                               std::span<std::complex<Real>* const> spectra, const SlabCall& call) const = 0;
  virtual void enqueue_inverse(std::span<const std::complex<Real>* const> spectra,
                               std::span<void* const> signals, const SlabCall& call) const = 0;
  virtual dense::Engine engine() const noexcept = 0;
  virtual std::string name() const = 0;
  virtual std::string reason() const = 0;
  virtual std::string explain() const = 0;  ///< several lines, beginning with the reason
};

/// Throws Error: backend_unavailable for transforms that cannot be shared and for missing devices,
/// out_of_memory if the arrays do not fit.
template <class Real>
std::unique_ptr<const SlabRunner<Real>> make_slab_runner(const DenseRequest& request);

/// Copy between the whole array, contiguous in host memory, and its slabs in device memory. Both block.
/// `whole_extents` are the extents of one signal or one spectrum.
void copy_to_slabs(const void* whole, const Shape& whole_extents, std::size_t element_bytes,
                   const std::vector<dense::Slab>& slabs, std::span<void* const> parts);
void copy_from_slabs(void* whole, const Shape& whole_extents, std::size_t element_bytes,
                     const std::vector<dense::Slab>& slabs, std::span<const void* const> parts);

}  // namespace sfft::detail
