// SPDX-License-Identifier: Apache-2.0
// The interfaces of every engine that computes dense FFTs on a GPU: complete spectra, a part of them, and
// values stored in 16 bits.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kernels/cuda/spectrum/kept_part.cuh"
#include "kernels/dense/problem/problem.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft::detail {

/// A transform of one complex volume in two phases, for callers that copy input during the first phase and
/// output during the second. One phase works across the planes, on some columns of all planes; the other
/// works plane by plane. Arrays are device memory for the whole volume; `scale` multiplies the output of the
/// second phase.
template <class Real>
class GpuPhases {
 public:
  struct Volume {
    bool inverse = false;
    const std::complex<Real>* from = nullptr;
    std::complex<Real>* to = nullptr;
    Real scale = 1;
    std::byte* workspace = nullptr;
  };

  virtual ~GpuPhases() = default;
  virtual bool planes_first(bool inverse) const noexcept = 0;
  /// Parts of the columns begin at multiples of this; if it equals the number of columns, there is one part.
  virtual std::int64_t columns_at_once() const noexcept = 0;
  virtual void columns(const Volume& volume, std::int64_t first, std::int64_t count,
                       CUstream_st* stream) const = 0;
  virtual void planes(const Volume& volume, std::int64_t first, std::int64_t count,
                      CUstream_st* stream) const = 0;
};

/// Transforms of one problem in device memory. Arguments have been checked; the problem's device is current.
/// Calls are ordered in `stream`, return at once, neither allocate nor synchronise, and may be captured into
/// a graph. They are thread-safe with one workspace each. Inputs are preserved.
template <class Real>
class GpuDenseEngine {
 public:
  virtual ~GpuDenseEngine() = default;

  /// Bytes of 256-byte aligned device memory for one execution in either direction.
  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Whether forward() reads signals of this type in the problem's layout. It always reads contiguous signals
  /// of the plan's own type; the caller converts everything else first.
  virtual bool reads(ElementType type) const noexcept = 0;
  /// Whether inverse() writes signals in the problem's strides (always if those are contiguous).
  virtual bool writes_strides() const noexcept = 0;
  /// The result is multiplied by `scale`. For complex problems the arrays may be the same memory.
  virtual void forward(const void* signals, ElementType type, std::complex<Real>* spectra, Real scale,
                       std::byte* workspace, CUstream_st* stream) const = 0;
  /// `signals` holds Reals for a real problem, otherwise complex values.
  virtual void inverse(const std::complex<Real>* spectra, void* signals, Real scale, std::byte* workspace,
                       CUstream_st* stream) const = 0;
  /// Null if transforms cannot be split into phases.
  virtual const GpuPhases<Real>* phases() const noexcept { return nullptr; }
  virtual std::string name() const = 0;
  /// The text for wisdom: it rebuilds the engine with the same kernels, without a search.
  virtual std::string kernel() const { return {}; }
};

/// Forward transforms of one problem that store only a part of the spectra. Otherwise like a GpuDenseEngine.
template <class Real>
class GpuKeepingEngine {
 public:
  virtual ~GpuKeepingEngine() = default;

  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// True for the plan's own type and, for real signals, u8 and u16.
  virtual bool reads(ElementType type) const noexcept = 0;
  /// `part.count` must be 0.
  virtual void forward(const void* signals, ElementType type, const device::KeptPart& part, Real scale,
                       std::byte* workspace, CUstream_st* stream) const = 0;
};

/// Transforms of one contiguous problem. Calls behave like those of a GpuDenseEngine.
class GpuCompactEngine {
 public:
  virtual ~GpuCompactEngine() = default;

  /// Bytes of 256-byte aligned device memory for one execution in either direction.
  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Stored results are `scale` times the sums of stored values.
  virtual void run(Direction direction, const void* from, void* to, double scale, std::byte* workspace,
                   CUstream_st* stream) const = 0;
  /// The number of times that values are stored between steps.
  virtual int handovers(Direction direction) const noexcept = 0;
  virtual double kernel_error() const noexcept = 0;  ///< relative, in addition to the error of floats
  virtual std::string name() const = 0;
  virtual std::string kernel() const = 0;  ///< like GpuDenseEngine::kernel()
  /// Says whether tensor cores compute the lines, or why not; empty if they would not be faster.
  virtual std::string note() const = 0;
};

/// Selects kernels that cuFFT compiles for the problem: planning takes longer, and execution is sometimes
/// faster and sometimes slower.
constexpr const char* kCompiledKernels = "compiled";

/// Throw Error(backend_unavailable) if the library cannot do the problem or is missing. `kernel`: empty or
/// kCompiledKernels.
template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_cufft_engine(const DenseProblem& problem,
                                                              const std::string& kernel = {});
template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_vkfft_engine(const DenseProblem& problem);
/// `kernel`: the text that wisdom keeps from an earlier tuning; if empty, rules choose. With `measure`, the
/// candidates are timed.
template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_tuned_engine(const DenseProblem& problem,
                                                              const std::string& kernel, bool measure);
/// Uses the kernels of a tuned engine for the same problem; `kernel` as above. `keep` is not Keep::all.
template <class Real>
std::unique_ptr<const GpuKeepingEngine<Real>> make_keeping_engine(const DenseProblem& problem,
                                                                  const std::string& kernel,
                                                                  device::Keep keep);
bool have_vkfft() noexcept;
/// For contiguous lines of complex floats of a few lengths.
template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_tensor_engine(const DenseProblem& problem);
/// For `frames` single forward transforms that run soon: ready in microseconds, but not the fastest for many
/// or large frames. Returns null for those and for unsupported lengths. Reads every element type of the
/// problem's kind.
std::unique_ptr<const GpuDenseEngine<double>> make_frame_engine(const DenseProblem& problem,
                                                                std::int64_t frames);

/// Whether a kernel multiplies f16 numbers on tensor cores; such kernels cannot serve other formats.
bool multiplies_f16(const std::string& kernel);

/// The tuned kernels. Arguments and exceptions are those of make_tuned_engine().
std::unique_ptr<const GpuCompactEngine> make_compact_engine(const DenseProblem& problem,
                                                            const CompactFormats& formats,
                                                            const std::string& kernel, bool measure);

namespace cuda {

/// Passes engines to the internal GPU transforms, which cannot use wisdom because it is above that layer.
template <class Real>
struct DenseEngines {
  std::function<std::unique_ptr<const GpuDenseEngine<Real>>(const DenseProblem&)> make;
  /// Empty if that engine can only store complete spectra.
  std::function<std::unique_ptr<const GpuKeepingEngine<Real>>(const DenseProblem&, device::Keep)> keep;
  std::string name;  ///< the engine that make() is expected to choose
};

}  // namespace cuda

}  // namespace sfft::detail
