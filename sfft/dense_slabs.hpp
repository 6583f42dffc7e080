// SPDX-License-Identifier: Apache-2.0
// Dense FFTs of arrays spread over the memory of several GPUs.
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "sfft/dense.hpp"

namespace sfft::dense {

namespace detail {
/// The calls of a SlabPlan, for either precision.
class AnySlabPlan : public AnyPlan {
 public:
  /// One slab for each GPU in use, in the order of Options::device.gpus().
  SFFT_EXPORT std::span<const Slab> signal_slabs() const noexcept;
  /// The same of spectra.
  SFFT_EXPORT std::span<const Slab> spectrum_slabs() const noexcept;
  /// Device memory that a transform needs on the GPU of a slab besides its
  /// arguments, 256-byte aligned.
  SFFT_EXPORT std::size_t device_workspace_bytes(std::size_t slab) const;
  /// Such memory for one call at a time, one entry per slab. Throws out_of_memory, device.
  SFFT_EXPORT std::vector<Workspace> make_workspaces() const;

  /// Copies the whole array or batch from host memory to the slabs. Blocks; the slabs must not be in use.
  SFFT_EXPORT void scatter_signal(const void* whole, ElementType type, std::span<void* const> slabs) const;
  /// The reverse of scatter_signal().
  SFFT_EXPORT void gather_signal(std::span<const void* const> slabs, ElementType type, void* whole) const;

  /// @cond
 protected:
  AnySlabPlan(const Shape& shape, Domain domain, const Options& options, bool single)
      : AnyPlan(make(shape, domain, options, single)) {}

  SFFT_EXPORT void queue_forward(std::span<const void* const> signals, ElementType type,
                                 std::span<void* const> spectra,
                                 std::span<const std::span<std::byte>> workspaces,
                                 std::span<CUstream_st* const> streams) const;
  SFFT_EXPORT void queue_inverse(std::span<const void* const> spectra, std::span<void* const> signals,
                                 ElementType type, std::span<const std::span<std::byte>> workspaces,
                                 std::span<CUstream_st* const> streams) const;
  SFFT_EXPORT void to_slabs(const void* spectrum, std::span<void* const> slabs) const;
  SFFT_EXPORT void from_slabs(std::span<const void* const> slabs, void* spectrum) const;
  /// The arrays without their types.
  template <class T>
  static std::vector<std::conditional_t<std::is_const_v<T>, const void*, void*>> untyped(
      std::span<T* const> arrays) {
    return {arrays.begin(), arrays.end()};
  }

 private:
  SFFT_EXPORT static std::shared_ptr<const PlanState> make(const Shape& shape, Domain domain,
                                                           const Options& options, bool single);
  /// @endcond
};
}  // namespace detail

/// Transforms of one shape on the GPUs of Options::device, in their memory. Two layouts:
/// | batch    | signals                           | spectra                                     |
/// |----------|-----------------------------------|---------------------------------------------|
/// | 1        | slabs along the first dimension   | slabs along the second dimension            |
/// | above 1  | whole signals, distributed        | whole spectra, distributed                  |
/// Each slab is contiguous and row-major: element (i1, i2, i3) of slab s is element begin + (i1, i2, i3) of
/// the whole array. A single transform has two or three dimensions and a contiguous signal; a batch may have
/// any number of dimensions. Precision, element types, normalization and half spectra are as in Plan. A plan
/// uses fewer GPUs than named if more are predicted to be slower or would have nothing to do; explain() says
/// so. Immutable; copies share their data, and a move is a copy.
template <class Real>
class SlabPlan : public detail::AnySlabPlan {
 public:
  /// Throws invalid_argument (a device that is not a GPU, device_memory, host_share), backend_unavailable (a
  /// GPU that is missing, a single 1D transform), out_of_memory (slabs that do not fit on a GPU).
  SlabPlan(const Shape& shape, Domain domain, const Options& options)
      : AnySlabPlan(shape, domain, options, std::is_same_v<Real, float>) {}
  /// Every span has one entry per slab: an array or a stream of its GPU (a cudaStream_t; null is the legacy
  /// default stream). A transform starts after all work queued earlier in any of the streams; later work in a
  /// stream finds the results of that GPU. The call returns at once and allocates no device memory; a
  /// forward call with new arrays may capture a graph of its launches, which the plan keeps for the next one.
  /// Inputs are not changed. Arrays and workspaces must not overlap. GPUs store into each other's memory, so
  /// it must come from cudaMalloc() or from a pool with peer access. Thread-safe with separate workspaces. If
  /// a call throws, or a GPU fails, its outputs are undefined. Throws shape_mismatch, invalid_argument,
  /// type_mismatch, device.
  void enqueue_forward(std::span<const void* const> signals, ElementType type,
                       std::span<std::complex<Real>* const> spectra,
                       std::span<const std::span<std::byte>> workspaces,
                       std::span<CUstream_st* const> streams) const {
    queue_forward(signals, type, untyped(spectra), workspaces, streams);
  }
  /// The inverse for complex plans; the same rules.
  void enqueue_inverse(std::span<const std::complex<Real>* const> spectra,
                       std::span<std::complex<Real>* const> signals,
                       std::span<const std::span<std::byte>> workspaces,
                       std::span<CUstream_st* const> streams) const {
    queue_inverse(untyped(spectra), untyped(signals), element_type_of<std::complex<Real>>::value, workspaces,
                  streams);
  }
  /// The inverse for real plans; the same rules.
  void enqueue_inverse(std::span<const std::complex<Real>* const> spectra, std::span<Real* const> signals,
                       std::span<const std::span<std::byte>> workspaces,
                       std::span<CUstream_st* const> streams) const {
    queue_inverse(untyped(spectra), untyped(signals), element_type_of<Real>::value, workspaces, streams);
  }

  /// Like scatter_signal(), for spectra.
  void scatter_spectrum(const std::complex<Real>* whole, std::span<std::complex<Real>* const> slabs) const {
    to_slabs(whole, untyped(slabs));
  }
  /// The reverse of scatter_spectrum().
  void gather_spectrum(std::span<const std::complex<Real>* const> slabs, std::complex<Real>* whole) const {
    from_slabs(untyped(slabs), whole);
  }
};

}  // namespace sfft::dense
