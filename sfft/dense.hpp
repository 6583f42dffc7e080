// SPDX-License-Identifier: Apache-2.0
// Dense FFTs of 1D, 2D and 3D signals of any size, on the CPU and on GPUs, behind one plan.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/dense/problem/vocabulary.hpp"  // IWYU pragma: export
#include "sfft/export.hpp"
#include "sfft/types.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft::dense {

namespace detail {
template <class Real>
class Impl;
}

/// Batches of one shape, real or complex samples. Layouts, row-major, one transform after another:
/// | signal  | forward input      | forward output                        |
/// |---------|--------------------|---------------------------------------|
/// | complex | (n1, …, nD)        | (n1, …, nD)                           |
/// | real    | (n1, …, nD)        | (n1, …, nD/2 + 1): half spectrum      |
/// Immutable; copies share, and moving is copying. Execution is thread-safe and allocates its scratch per
/// call unless a workspace is given: no two concurrent calls may share one, which nothing can check. Real
/// inverse transforms expect the symmetry that forward ones give: the result for input without it is
/// undefined. `tuned` has no kernels for dimensions above 16,384 points except complex 1D ones with good
/// factors, nor for strided volumes or a real signal whose last dimension is below 4. Throws
/// backend_unavailable for an engine this build or machine lacks, or that cannot do the shape.
template <class Real>
class SFFT_EXPORT Plan {
 public:
  Plan(const Shape& shape, bool real, const Options& options = {});
  Plan(const Plan&) noexcept = default;  // declared, so that nothing is ever moved from
  Plan& operator=(const Plan&) noexcept = default;

  std::size_t signal_points() const noexcept;    ///< batch × N
  std::size_t spectrum_points() const noexcept;  ///< forward output of the whole batch
  std::size_t workspace_bytes() const noexcept;  ///< host scratch of one execution, 64-byte aligned

  /// One signal of any element type; complex ones only for a complex plan. `spectrum` holds spectrum_points()
  /// values. Blocks. For plans of batch 1 without strides. A region of a larger array is first copied to
  /// temporary memory; plans with strides read such signals in place.
  void forward(const SignalView& signal, std::span<std::complex<Real>> spectrum,
               std::span<std::byte> workspace = {}) const;
  /// The batch in the plan's strides; `signals` is in host memory and has the length that the strides imply.
  /// A plan on a GPU overlaps copies with transforms.
  void forward(const void* signals, ElementType type, std::span<std::complex<Real>> spectra,
               std::span<std::byte> workspace = {}) const;
  /// Complex plans: `signal` holds the batch in the plan's strides. `spectrum` and `signal` may be the same
  /// memory when there are no strides.
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<std::complex<Real>> signal,
               std::span<std::byte> workspace = {}) const;
  /// Real plans. Those that go through the GPU in pieces may work in place, like their forward()
  /// (docs/dense.md).
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<Real> signal,
               std::span<std::byte> workspace = {}) const;

  /// Device memory that one enqueued transform needs besides its arguments, 256-byte aligned; may be 0.
  std::size_t device_workspace_bytes() const noexcept;
  /// The same in GPU memory, for plans on a GPU: the work is ordered in `stream` (a cudaStream_t); the call
  /// returns at once, never allocates or synchronises, and can be captured into a graph. Input and output may
  /// be the same memory for complex values of the plan's precision without strides, otherwise they must not
  /// overlap. `signals`: the batch in the plan's strides; elements of `type`, u8 to complex double. Throws
  /// invalid_argument, type_mismatch, backend_unavailable (a CPU plan), device (the launch failed).
  void enqueue_forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                       std::span<std::byte> workspace, CUstream_st* stream) const;
  void enqueue_inverse(const std::complex<Real>* spectra, std::complex<Real>* signals,
                       std::span<std::byte> workspace, CUstream_st* stream) const;
  void enqueue_inverse(const std::complex<Real>* spectra, Real* signals, std::span<std::byte> workspace,
                       CUstream_st* stream) const;

  const Shape& shape() const noexcept;
  bool is_real() const noexcept;
  const Options& options() const noexcept;
  Engine engine() const noexcept;   ///< the engine that was chosen
  std::string engine_name() const;  ///< "FFTW 3.3.10 (measure)", "built-in AVX-512", "cuFFT 12.0"
  std::string reason() const;       ///< why that engine was chosen, in one sentence
  /// The reason, and what the plan does. For a transform that goes through the GPU in pieces: passes, streams
  /// and shares, with predicted times and those of the last call.
  std::string explain() const;

 private:
  std::shared_ptr<const detail::Impl<Real>> impl_;
};

extern template class Plan<float>;
extern template class Plan<double>;

/// Adds measured choices of an earlier process, a JSON file (docs/file-formats.md). A file that is missing,
/// damaged or of another version, and entries of other devices, drivers or library versions, are ignored; the
/// report says why. Never throws. Thread-safe, like the other two functions.
SFFT_EXPORT WisdomReport load_wisdom(const std::string& file) noexcept;
/// Writes what was measured or loaded, but not the shipped wisdom; an old file is replaced only when the new
/// one is complete. Throws Error(file_unreadable).
SFFT_EXPORT void save_wisdom(const std::string& file);
/// Forgets everything, shipped wisdom too.
SFFT_EXPORT void forget_wisdom() noexcept;

}  // namespace sfft::dense
