// SPDX-License-Identifier: Apache-2.0
// The interface behind every dense plan, wherever it runs and whatever it stores, and the functions that
// choose an implementation.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/dense/request/request.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft::detail {

/// A call of a plan with full output: complete spectra, or signals. Signals have the problem's strides; real
/// or complex values have the plan's precision.
struct FullCall {
  Direction direction = Direction::forward;
  const void* from = nullptr;           ///< signals or, for an inverse transform, spectra
  ElementType type = ElementType::c64;  ///< of the signals
  void* to = nullptr;
  std::byte* workspace = nullptr;
  CUstream_st* stream = nullptr;  ///< for enqueue()
};

/// A call of a plan with compact output: `from` and `to` hold values in the formats of the request.
struct CompactCall : FullCall {
  const dense::CompactScale* from_scales = nullptr;  ///< for run(), one per transform; null: 0
  dense::CompactScale* to_scales = nullptr;          ///< for run(); may be null
  const int* from_exponents = nullptr;  ///< for enqueue(), one per transform, on the device; null: 0
  int* to_exponents = nullptr;          ///< for enqueue(); may be null
};

/// A forward call of a plan with selected output: the coefficients of a support go to `to`, those above a
/// magnitude to the other arrays.
template <class Real>
struct SelectedCall : FullCall {
  Real magnitude = 0;
  std::vector<std::int64_t>* indices = nullptr;       ///< for run(): appended, ascending
  std::vector<std::complex<Real>>* values = nullptr;  ///< for run(): appended
  dense::DeviceCoefficients<Real> on_device{};        ///< for enqueue()
};

/// What a plan says about its transforms.
class AnyRunner {
 public:
  virtual ~AnyRunner() = default;

  /// Bytes of 64-byte aligned host memory for one run().
  virtual std::size_t workspace_bytes() const noexcept { return 0; }
  /// Bytes of 256-byte aligned device memory for one enqueue().
  virtual std::size_t device_workspace_bytes() const noexcept { return 0; }
  virtual bool on_gpu() const noexcept = 0;
  virtual std::string name() const = 0;
  /// What the plan does and how long that takes, if there is more to say than name().
  virtual std::string explain() const { return name(); }
  /// The text for wisdom, as GpuDenseEngine::kernel().
  virtual std::string kernel() const { return {}; }
  /// Whether real transforms may work in place if signals have the layout of half spectra.
  virtual bool real_in_place() const noexcept { return false; }
  /// Selected output: whether a call stores complete spectra.
  virtual bool stores_spectrum() const noexcept { return true; }
  /// Compact output: the number of times that values are stored in the format `between`.
  virtual int handovers(Direction) const noexcept { return 0; }
  /// Compact output: the relative error of 16-bit matrix kernels, in addition to that of float kernels.
  virtual double kernel_error() const noexcept { return 0; }
};

/// Runs the transforms of a plan. `Call` says what the output is: FullCall, CompactCall or SelectedCall; or
/// SlabCall, for full output distributed over several devices.
/// Arguments have been checked. Thread-safe with one workspace per call.
template <class Call>
class Runner : public AnyRunner {
 public:
  /// Transforms arrays in host memory. Blocks.
  virtual void run(const Call&) const {
    throw Error(ErrorCode::backend_unavailable,
                "this plan takes arrays in GPU memory: call enqueue_forward() or enqueue_inverse()");
  }
  /// Transforms arrays in device memory, ordered in the stream; neither allocates nor synchronises.
  virtual void enqueue(const Call&) const {
    throw Error(ErrorCode::backend_unavailable,
                "this plan is on the CPU and cannot be enqueued: plan with Options{.device = Device::gpu()}");
  }
};

template <class Call>
struct Choice {
  std::unique_ptr<const Runner<Call>> runner;
  dense::Engine engine = dense::Engine::automatic;
  std::string reason;
};

/// Choose the runner of a plan. Throw Error: backend_unavailable if there is no such device or engine, or the
/// request is for several GPUs and they cannot share it, out_of_memory.
template <class Real>
Choice<FullCall> choose(const DenseRequest& request);
Choice<CompactCall> choose_compact(const CompactRequest& request);
/// What a plan with selected output keeps: the coefficients at a support or those of a range, otherwise the
/// ones above a magnitude.
struct KeptOutput {
  std::vector<std::int64_t> support;  ///< empty: none
  std::optional<FrequencyRange> range{};

  std::size_t values() const noexcept {
    return range ? static_cast<std::size_t>(range->count) : support.size();
  }
};
template <class Real>
Choice<SelectedCall<Real>> choose_selected(const DenseRequest& request, const KeptOutput& kept);

// The parts of these, by place. The requested engine must be automatic or one of that place.

template <class Real>
Choice<FullCall> choose_on_cpu(const DenseRequest& request);
template <class Real>
Choice<FullCall> choose_on_gpu(const DenseRequest& request);
/// For plans on a GPU. If the transform exceeds the memory that the GPU may use, or the options request a
/// host share, returns a runner that streams pieces through the GPU and gives the host a share. Otherwise
/// returns nothing. Throws Error(backend_unavailable) if the host share or device memory in the options calls
/// for this and the transform cannot work this way.
template <class Real>
std::optional<Choice<FullCall>> choose_out_of_core(const DenseRequest& request);
/// Makes a runner over several devices for a shared batch, or for one transform in slabs, with arrays in host
/// memory. Throws Error(backend_unavailable, out_of_memory).
template <class Real>
Choice<FullCall> choose_on_several(const DenseRequest& request);
Choice<CompactCall> choose_compact_on_cpu(const CompactRequest& request);
Choice<CompactCall> choose_compact_on_gpu(const CompactRequest& request);
template <class Real>
Choice<SelectedCall<Real>> select_on_cpu(const DenseRequest& request, const KeptOutput& kept);
template <class Real>
Choice<SelectedCall<Real>> select_on_gpu(const DenseRequest& request, std::span<const std::int64_t> support);
/// Cosine, sine and Hartley transforms on the CPU, one kind per dimension; `from` and `to` of a call hold
/// real values. Throws Error(invalid_argument, backend_unavailable) for what such a plan does not do.
template <class Real>
Choice<FullCall> choose_trigonometric(const DenseRequest& request,
                                      std::span<const dense::Options::Trigonometric> kinds);
/// The kernel of a convolution, and which results are wanted.
struct ConvolutionRequest {
  const SignalView& kernel;
  dense::Options::Extent extent = dense::Options::Extent::full;
  bool correlate = false;
};
/// The extents of a convolution's results. Throws Error(shape_mismatch, invalid_argument, size_overflow).
Shape convolution_shape(const Shape& signal, const ConvolutionRequest& convolution);
/// Convolutions on the CPU; `from` and `to` of a call hold values of the plan's precision and domain. Throws
/// Error(invalid_argument, type_mismatch, shape_mismatch, backend_unavailable) for what such a plan does not
/// do.
template <class Real>
Choice<FullCall> choose_convolution(const DenseRequest& request, const ConvolutionRequest& convolution);
/// Whether this build has the given GPU engine.
bool gpu_engine_in_build(dense::Engine engine) noexcept;

}  // namespace sfft::detail
