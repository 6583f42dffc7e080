// SPDX-License-Identifier: Apache-2.0
// Dense FFTs of 1D, 2D and 3D signals of any size, on the CPU and on GPUs, behind one plan.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sfft/dense_options.hpp"  // IWYU pragma: export
#include "sfft/export.hpp"
#include "sfft/types.hpp"
#include "sfft/workspace.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft::dense {

namespace detail {
class PlanState;

/// What every dense plan says about itself. Copies share their data, and a move is a copy.
class AnyPlan {
 public:
  /// Shares the data; never throws.
  AnyPlan(const AnyPlan&) noexcept = default;  // declared, so that a move is a copy
  /// Shares the data; never throws.
  AnyPlan& operator=(const AnyPlan&) noexcept = default;

  /// Extents of one transform. Of more than three transformed dimensions, all but the last two are
  /// multiplied into the first extent here.
  SFFT_EXPORT const Shape& shape() const noexcept;
  /// What the samples of signals are.
  SFFT_EXPORT Domain domain() const noexcept;
  /// The options of the constructor.
  SFFT_EXPORT const Options& options() const noexcept;
  SFFT_EXPORT Engine engine() const noexcept;   ///< the engine in use; of a SlabPlan, that within a slab
  SFFT_EXPORT std::string engine_name() const;  ///< "FFTW 3.3.10 (measure)", "built-in AVX-512", "cuFFT 12.0"
  SFFT_EXPORT std::string reason()
      const;  ///< why this engine or, for several GPUs, why these; in one sentence
  /// reason(), and what the plan does. For a transform that streams through the GPU in pieces: passes,
  /// streams and shares, with predicted times and those of the last call. For several GPUs: what each does,
  /// and the exchange. Of a CompactPlan: the formats and the predicted errors. Of a SelectivePlan: the
  /// engine, what is kept, and whether the spectrum is stored.
  SFFT_EXPORT std::string explain() const;

  /// @cond
 protected:
  explicit AnyPlan(std::shared_ptr<const PlanState> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const PlanState> state_;
  /// @endcond
};

/// A plan whose calls may use memory of the caller.
class PlanWithWorkspace : public AnyPlan {
 public:
  SFFT_EXPORT std::size_t workspace_bytes()
      const noexcept;  ///< host scratch of one execution, 64-byte aligned
  /// Device memory that one enqueued transform needs besides its arguments, 256-byte aligned; may be 0.
  SFFT_EXPORT std::size_t device_workspace_bytes() const noexcept;
  /// Memory for one call at a time, host and device part. Throws out_of_memory, device.
  SFFT_EXPORT Workspace make_workspace() const;

  /// @cond
 protected:
  using AnyPlan::AnyPlan;
  /// @endcond
};

/// The calls of a Plan, for either precision.
class FullPlan : public PlanWithWorkspace {
 public:
  SFFT_EXPORT std::size_t signal_points() const noexcept;  ///< batch × N
  /// Length of the forward output of the whole batch; with strides, from the first value to the last.
  SFFT_EXPORT std::size_t spectrum_points() const noexcept;

  /// @cond
 protected:
  static constexpr std::size_t kNotGiven = static_cast<std::size_t>(-1);

  /// What a plan computes in place of a Fourier transform of contiguous spectra.
  struct Other {
    std::span<const Options::Trigonometric> kinds{};  ///< of a TrigonometricPlan, one per dimension
    const SignalView* kernel = nullptr;               ///< of a ConvolutionPlan
    Options::Extent extent = Options::Extent::full;
    bool correlate = false;
    const Layout* layout = nullptr;  ///< replaces the shape, the batch and the strides
  };

  FullPlan(const Shape& shape, Domain domain, const Options& options, bool single)
      : FullPlan(shape, domain, options, single, Other{}) {}
  FullPlan(const Shape& shape, Domain domain, const Options& options, bool single, const Other& other)
      : PlanWithWorkspace(make(shape, domain, options, single, other)) {}
  FullPlan(const Layout& layout, Domain domain, const Options& options, bool single)
      : FullPlan(Shape(1), domain, options, single, Other{.layout = &layout}) {}

  SFFT_EXPORT void run_forward(const SignalView& signal, void* spectrum, std::size_t points,
                               std::span<std::byte> workspace) const;
  /// `elements`: of the signals, or kNotGiven.
  SFFT_EXPORT void run_forward(const void* signals, ElementType type, std::size_t elements, void* spectra,
                               std::size_t points, std::span<std::byte> workspace) const;
  SFFT_EXPORT void run_inverse(const void* spectra, std::size_t points, void* signals, ElementType type,
                               std::size_t elements, std::span<std::byte> workspace) const;
  SFFT_EXPORT void queue_forward(const void* signals, ElementType type, void* spectra,
                                 std::span<std::byte> workspace, CUstream_st* stream) const;
  SFFT_EXPORT void queue_inverse(const void* spectra, void* signals, ElementType type,
                                 std::span<std::byte> workspace, CUstream_st* stream) const;

 private:
  SFFT_EXPORT static std::shared_ptr<const PlanState> make(const Shape& shape, Domain domain,
                                                           const Options& options, bool single,
                                                           const Other& other);
  /// @endcond
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
class Plan : public detail::FullPlan {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>, "Real is float or double");

 public:
  /// `shape`: extents of one transform, slowest first. Throws invalid_argument,
  /// size_overflow, backend_unavailable, out_of_memory, device.
  Plan(const Shape& shape, Domain domain, const Options& options = {})
      : FullPlan(shape, domain, options, std::is_same_v<Real, float>) {}
  /// Transforms along any axes, with strides on both sides and any number of batch dimensions. `options` has
  /// no batch and no strides. Layouts with up to three transformed dimensions, one batch dimension and
  /// contiguous spectra run on the engines of the other constructor; the engine `built_in` runs the rest, on
  /// the CPU. Throws the same errors.
  Plan(const Layout& layout, Domain domain, const Options& options = {})
      : FullPlan(layout, domain, options, std::is_same_v<Real, float>) {}

  /// Transforms one signal of any element type (complex types only in a complex plan) into spectrum_points()
  /// values. Blocks. Needs a plan of batch 1 without strides. A region of a larger array is copied to
  /// temporary memory first; a plan with strides reads such signals in place.
  void forward(const SignalView& signal, std::span<std::complex<Real>> spectrum,
               std::span<std::byte> workspace = {}) const {
    run_forward(signal, spectrum.data(), spectrum.size(), workspace);
  }
  /// Transforms a batch in host memory that has the plan's strides; `signals` is as long as the strides
  /// imply. Blocks. A plan on a GPU overlaps copies with transforms.
  void forward(const void* signals, ElementType type, std::span<std::complex<Real>> spectra,
               std::span<std::byte> workspace = {}) const {
    run_forward(signals, type, kNotGiven, spectra.data(), spectra.size(), workspace);
  }
  /// For complex plans. `signal` receives the batch in the plan's strides. `spectrum` and `signal` may be the
  /// same memory if both have the same strides; then forward() works in place, too.
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<std::complex<Real>> signal,
               std::span<std::byte> workspace = {}) const {
    run_inverse(spectrum.data(), spectrum.size(), signal.data(), element_type_of<std::complex<Real>>::value,
                signal.size(), workspace);
  }
  /// For real plans. Here and in forward(), plans on the CPU, and those that stream through the GPU in
  /// pieces, work in place if rows of the signal have room for half spectra (docs/dense.md).
  void inverse(std::span<const std::complex<Real>> spectrum, std::span<Real> signal,
               std::span<std::byte> workspace = {}) const {
    run_inverse(spectrum.data(), spectrum.size(), signal.data(), element_type_of<Real>::value, signal.size(),
                workspace);
  }

  /// Like forward(), in GPU memory, for plans on a GPU. The work is ordered in `stream` (a cudaStream_t). The
  /// call returns at once, never allocates or synchronises, and can be captured into a graph. `signals` holds
  /// the batch in the plan's strides, in elements of `type`. Input and output must not overlap, but may be
  /// the same memory if both are contiguous complex values of the plan's precision. Throws invalid_argument,
  /// type_mismatch, backend_unavailable (a CPU plan), device (the launch failed).
  void enqueue_forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                       std::span<std::byte> workspace, CUstream_st* stream) const {
    queue_forward(signals, type, spectra, workspace, stream);
  }
  /// Like inverse() of complex signals, in GPU memory; order and errors are those of enqueue_forward().
  void enqueue_inverse(const std::complex<Real>* spectra, std::complex<Real>* signals,
                       std::span<std::byte> workspace, CUstream_st* stream) const {
    queue_inverse(spectra, signals, element_type_of<std::complex<Real>>::value, workspace, stream);
  }
  /// Like inverse() of real signals, in GPU memory; order and errors are those of enqueue_forward().
  void enqueue_inverse(const std::complex<Real>* spectra, Real* signals, std::span<std::byte> workspace,
                       CUstream_st* stream) const {
    queue_inverse(spectra, signals, element_type_of<Real>::value, workspace, stream);
  }
};

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
