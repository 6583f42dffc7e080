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

#include "sfft/dense_options.hpp"  // IWYU pragma: export
#include "sfft/export.hpp"
#include "sfft/types.hpp"
#include "sfft/workspace.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft::dense {

namespace detail {
template <class Real>
class Impl;
class PlanState;

/// What every dense plan says about itself.
class SFFT_EXPORT AnyPlan {
 public:
  /// Extents of one transform.
  const Shape& shape() const noexcept;
  /// What the samples of signals are.
  Domain domain() const noexcept;
  /// The options of the constructor.
  const Options& options() const noexcept;
  Engine engine() const noexcept;   ///< the engine in use; of a SlabPlan, that within a slab
  std::string engine_name() const;  ///< "FFTW 3.3.10 (measure)", "built-in AVX-512", "cuFFT 12.0"
  std::string reason() const;       ///< why this engine or, for several GPUs, why these; in one sentence
  /// reason(), and what the plan does. For a transform that streams through the GPU in pieces: passes,
  /// streams and shares, with predicted times and those of the last call. For several GPUs: what each does,
  /// and the exchange. Of a CompactPlan: the formats and the predicted errors. Of a SelectivePlan: the
  /// engine, what is kept, and whether the spectrum is stored.
  std::string explain() const;

 protected:
  AnyPlan() noexcept = default;       ///< sets no state; the plan's constructor does
  const PlanState* state_ = nullptr;  ///< a part of what the plan owns
};

/// A plan whose calls may use memory of the caller.
class SFFT_EXPORT PlanWithWorkspace : public AnyPlan {
 public:
  std::size_t workspace_bytes() const noexcept;  ///< host scratch of one execution, 64-byte aligned
  /// Device memory that one enqueued transform needs besides its arguments, 256-byte aligned; may be 0.
  std::size_t device_workspace_bytes() const noexcept;
  /// Memory for one call at a time, host and device part. Throws out_of_memory, device.
  Workspace make_workspace() const;
};
}  // namespace detail

/// Batches of one shape, real or complex samples. Layouts, row-major, one transform after another:
/// | signal  | forward input      | forward output                        |
/// |---------|--------------------|---------------------------------------|
/// | complex | (n1, …, nD)        | (n1, …, nD)                           |
/// | real    | (n1, …, nD)        | (n1, …, nD/2 + 1): half spectrum      |
/// Immutable; copies share their data, and a move is a copy. Execution is thread-safe. A call allocates its
/// scratch unless it is given a workspace, which two concurrent calls must not share; the library cannot
/// check that. A real inverse transform takes any half spectrum, as numpy.fft.irfftn does:
/// complex inverse transforms along all dimensions but the last, then sums along the last that ignore the
/// imaginary parts of values 0 and, for an even length, nD/2. The engine `tuned` covers dimensions up to
/// 16,384 points, longer complex 1D signals with small prime factors, no strided volumes, and real signals
/// whose last dimension is at least 4. The constructor throws backend_unavailable if this build or machine
/// lacks the engine, or the engine lacks the shape.
template <class Real>
class SFFT_EXPORT Plan : public detail::PlanWithWorkspace {
 public:
  /// `shape`: extents of one transform, slowest first. Throws invalid_argument,
  /// size_overflow, backend_unavailable, out_of_memory, device.
  Plan(const Shape& shape, Domain domain, const Options& options = {});
  /// Shares the data; never throws.
  Plan(const Plan&) noexcept = default;  // declared, so that a move is a copy
  /// Shares the data; never throws.
  Plan& operator=(const Plan&) noexcept = default;

  std::size_t signal_points() const noexcept;    ///< batch × N
  std::size_t spectrum_points() const noexcept;  ///< forward output of the whole batch

  /// Transforms one signal of any element type (complex types only in a complex plan) into spectrum_points()
  /// values. Blocks. Needs a plan of batch 1 without strides. A region of a larger array is copied to
  /// temporary memory first; a plan with strides reads such signals in place.
  void forward(const SignalView& signal, std::span<std::complex<Real>> spectrum,
               std::span<std::byte> workspace = {}) const;
  /// Transforms a batch in host memory that has the plan's strides; `signals` is as long as the strides
  /// imply. Blocks. A plan on a GPU overlaps copies with transforms.
  void forward(const void* signals, ElementType type, std::span<std::complex<Real>> spectra,
               std::span<std::byte> workspace = {}) const;
  /// For complex plans. `signal` receives the batch in the plan's strides. `spectrum` and `signal` may be the
  /// same memory if the plan has no strides.
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<std::complex<Real>> signal,
               std::span<std::byte> workspace = {}) const;
  /// For real plans. A plan that streams through the GPU in pieces may work in place here and in forward()
  /// (docs/dense.md).
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<Real> signal,
               std::span<std::byte> workspace = {}) const;

  /// Like forward(), in GPU memory, for plans on a GPU. The work is ordered in `stream` (a cudaStream_t). The
  /// call returns at once, never allocates or synchronises, and can be captured into a graph. `signals` holds
  /// the batch in the plan's strides, in elements of `type`. Input and output must not overlap, but may be
  /// the same memory if both are contiguous complex values of the plan's precision. Throws invalid_argument,
  /// type_mismatch, backend_unavailable (a CPU plan), device (the launch failed).
  void enqueue_forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                       std::span<std::byte> workspace, CUstream_st* stream) const;
  /// Like inverse() of complex signals, in GPU memory; order and errors are those of enqueue_forward().
  void enqueue_inverse(const std::complex<Real>* spectra, std::complex<Real>* signals,
                       std::span<std::byte> workspace, CUstream_st* stream) const;
  /// Like inverse() of real signals, in GPU memory; order and errors are those of enqueue_forward().
  void enqueue_inverse(const std::complex<Real>* spectra, Real* signals, std::span<std::byte> workspace,
                       CUstream_st* stream) const;

 private:
  std::shared_ptr<const detail::Impl<Real>> impl_;
};

extern template class Plan<float>;
extern template class Plan<double>;

/// Adds choices that an earlier process measured, from a JSON file (docs/file-formats.md). Ignores a file
/// that is missing, damaged or of another version, and entries for other devices, drivers or library
/// versions; the report says why. Never throws. Thread-safe, like the next two functions.
SFFT_EXPORT WisdomReport load_wisdom(const std::string& file) noexcept;
/// Merges what was measured or loaded, without the shipped wisdom, into a file: entries of other machines and
/// transforms stay. Processes that save to one file wait for each other (flock). An existing file is replaced
/// only when the new one is complete. Throws Error(file_unreadable), and Error(file_corrupt) for a file that
/// is neither empty nor wisdom of this version, which stays as it is.
SFFT_EXPORT void save_wisdom(const std::string& file);
/// Forgets all wisdom, including what the library ships, but not what is in the cache folder (below).
SFFT_EXPORT void forget_wisdom() noexcept;
/// Names the folder in which planning for GPUs keeps compiled kernels and the results of comparisons and
/// measurements for later processes, about 256 MiB; an empty name turns this off. The folder is the user's
/// own: files of others are ignored, and so are damaged ones. Default: the environment variable SFFT_CACHE
/// ("off" turns it off), otherwise $XDG_CACHE_HOME/sfft or $HOME/.cache/sfft. Thread-safe.
SFFT_EXPORT void set_cache_folder(const std::string& folder);

}  // namespace sfft::dense
