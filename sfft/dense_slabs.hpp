// SPDX-License-Identifier: Apache-2.0
// Dense FFTs of arrays that lie in the memory of several GPUs.
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <string>

#include "sfft/dense.hpp"

namespace sfft::dense {

namespace detail {
template <class Real>
class SlabImpl;
}

/// Transforms of one shape over the GPUs of Options::devices, in their memory. Two layouts:
/// | batch    | signals                           | spectra                                     |
/// |----------|-----------------------------------|---------------------------------------------|
/// | 1        | slabs along the first dimension   | slabs along the second dimension            |
/// | above 1  | whole signals, shared out         | whole spectra, shared out                   |
/// Each slab is contiguous and row-major, so its elements are in natural order: element (i1, i2, i3) of slab
/// s is that of the whole array at begin + (i1, i2, i3). One transform has two or three dimensions and
/// contiguous signals; batches have any number of dimensions. Everything else is as in Plan: precision,
/// element types, normalization, half spectra. Plans use fewer GPUs than named where more are predicted to be
/// slower, or would have nothing; explain() says so. Immutable; copies share, and moving is copying.
template <class Real>
class SFFT_EXPORT SlabPlan {
 public:
  /// Throws invalid_argument (no devices), backend_unavailable (a GPU that is not there, a transform of one
  /// dimension), out_of_memory (slabs that exceed a GPU).
  SlabPlan(const Shape& shape, bool real, const Options& options);
  SlabPlan(const SlabPlan&) noexcept = default;  // declared, so that nothing is ever moved from
  SlabPlan& operator=(const SlabPlan&) noexcept = default;

  /// One for each GPU in use, in the order of Options::devices.
  std::span<const Slab> signal_slabs() const noexcept;
  std::span<const Slab> spectrum_slabs() const noexcept;
  /// Device memory that a transform needs on the GPU of a slab in addition to its arguments, 256-byte
  /// aligned.
  std::size_t workspace_bytes(std::size_t slab) const;

  /// Every span has an entry for each slab: an array or a stream (a cudaStream_t; null is the legacy default
  /// stream) of its GPU. The work is ordered in the streams: what is in any of them before is done before an
  /// array is touched, and what comes after finds the results of that GPU. The call returns at once, and
  /// allocates no device memory. Inputs stay as they are. No two of the arrays and workspaces overlap. GPUs
  /// store into each other's memory, which is that of cudaMalloc(); memory of pools must allow it.
  /// Thread-safe with workspaces for each call. If it throws, or a GPU fails, outputs are undefined. Throws
  /// shape_mismatch, invalid_argument, type_mismatch, device.
  void enqueue_forward(std::span<const void* const> signals, ElementType type,
                       std::span<std::complex<Real>* const> spectra,
                       std::span<const std::span<std::byte>> workspaces,
                       std::span<CUstream_st* const> streams) const;
  void enqueue_inverse(std::span<const std::complex<Real>* const> spectra,
                       std::span<std::complex<Real>* const> signals,
                       std::span<const std::span<std::byte>> workspaces,
                       std::span<CUstream_st* const> streams) const;
  void enqueue_inverse(std::span<const std::complex<Real>* const> spectra, std::span<Real* const> signals,
                       std::span<const std::span<std::byte>> workspaces,
                       std::span<CUstream_st* const> streams) const;

  /// From the whole array, or batch, in host memory to its slabs, and back. Block; the slabs must not be in
  /// use.
  void scatter_signal(const void* whole, ElementType type, std::span<void* const> slabs) const;
  void gather_signal(std::span<const void* const> slabs, ElementType type, void* whole) const;
  void scatter_spectrum(const std::complex<Real>* whole, std::span<std::complex<Real>* const> slabs) const;
  void gather_spectrum(std::span<const std::complex<Real>* const> slabs, std::complex<Real>* whole) const;

  const Shape& shape() const noexcept;
  bool is_real() const noexcept;
  const Options& options() const noexcept;
  Engine engine() const noexcept;   ///< of the transforms within a slab
  std::string engine_name() const;  ///< as Plan::engine_name()
  std::string reason() const;       ///< why these GPUs, in one sentence
  std::string explain() const;      ///< the reason, what each GPU does, the exchange, predicted times

 private:
  std::shared_ptr<const detail::SlabImpl<Real>> impl_;
};

extern template class SlabPlan<float>;
extern template class SlabPlan<double>;

}  // namespace sfft::dense
