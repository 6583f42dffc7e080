// SPDX-License-Identifier: Apache-2.0
// The interface behind every dense plan, on the CPU or on a GPU, and the functions that choose an
// implementation.
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kernels/dense/problem/problem.hpp"
#include "sfft/dense_options.hpp"
#include "sfft/error.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sfft::detail {

/// A checked request for a plan.
struct DenseRequest {
  DenseProblem problem;
  DenseScales scales;
  dense::Options options;
};

/// Throws Error(invalid_argument, size_overflow, backend_unavailable) for invalid options and for engines
/// that the build lacks.
DenseRequest make_request(const Shape& shape, bool real, const dense::Options& options);
/// Throws Error(backend_unavailable) if the request is for several devices.
void refuse_several(const DenseRequest& request, const char* plan);
/// Throws Error(invalid_argument) if Options::formats is set, which only CompactPlan uses.
void refuse_formats(const dense::Options& options);
/// Whether exchanged values are packed in block16. Throws Error(invalid_argument) for plans of double.
template <class Real>
bool exchanges_packed(const DenseRequest& request) {
  if (request.options.exchange != dense::Storage::block16) return false;
  if (sizeof(Real) == sizeof(float)) return true;
  throw Error(ErrorCode::invalid_argument,
              "block16 holds values of float: leave Options::exchange at f32 for plans of double");
}
/// Whether a plan with these options runs on a GPU.
bool for_gpu(const dense::Options& options) noexcept;
/// The number of host threads that the options request; at least 1.
int thread_count(const dense::Options& options) noexcept;
/// Throw Error(invalid_argument) for a workspace that is too small or misaligned. check_queued() also throws
/// Error(backend_unavailable) for an enqueue call of a plan that is not on a GPU.
void check_workspace(std::span<std::byte> given, std::size_t bytes, std::size_t alignment,
                     const char* function);
void check_queued(bool on_gpu, std::span<std::byte> workspace, std::size_t bytes);

/// Runs the transforms of a plan. Arguments have been checked. Signals have the problem's strides.
/// Thread-safe with one workspace per call.
template <class Real>
class DenseRunner {
 public:
  virtual ~DenseRunner() = default;

  /// Bytes of 64-byte aligned host memory for one execution.
  virtual std::size_t workspace_bytes() const noexcept = 0;
  virtual void forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                       std::byte* workspace) const = 0;
  /// `signals` holds Reals for a real problem, otherwise complex values.
  virtual void inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace) const = 0;

  /// Bytes of 256-byte aligned device memory for one enqueued transform.
  virtual std::size_t device_workspace_bytes() const noexcept = 0;
  /// Arrays are in device memory.
  virtual void enqueue_forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                               std::byte* workspace, CUstream_st* stream) const = 0;
  virtual void enqueue_inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace,
                               CUstream_st* stream) const = 0;
  virtual bool on_gpu() const noexcept = 0;
  /// Whether real transforms may work in place if signals have the layout of half spectra.
  virtual bool real_in_place() const noexcept { return false; }
  virtual std::string name() const = 0;
  /// What the plan does and how long that takes, if there is more to say than name().
  virtual std::string explain() const { return name(); }
};

/// A runner for arrays in host memory. Its work cannot be enqueued in a stream.
template <class Real>
class HostMemoryRunner : public DenseRunner<Real> {
 public:
  std::size_t device_workspace_bytes() const noexcept final { return 0; }
  void enqueue_forward(const void*, ElementType, std::complex<Real>*, std::byte*, CUstream_st*) const final {
    throw Error(ErrorCode::backend_unavailable, why_not_queued());
  }
  void enqueue_inverse(const std::complex<Real>*, void*, std::byte*, CUstream_st*) const final {
    throw Error(ErrorCode::backend_unavailable, why_not_queued());
  }

 private:
  /// The reason why the work cannot be enqueued, and what to call instead.
  virtual const char* why_not_queued() const noexcept = 0;
};

template <class Real>
struct DenseChoice {
  std::unique_ptr<const DenseRunner<Real>> runner;
  dense::Engine engine = dense::Engine::automatic;
  std::string reason;
};

/// The requested engine must be automatic or a CPU engine.
template <class Real>
DenseChoice<Real> choose_on_cpu(const DenseRequest& request);
/// The requested engine must be automatic or a GPU engine. Throws Error(backend_unavailable) if there is no
/// GPU or no such engine.
template <class Real>
DenseChoice<Real> choose_on_gpu(const DenseRequest& request);
/// For plans on a GPU. If the transform exceeds the memory that the GPU may use, or the options request a
/// host share, returns a runner that streams pieces through the GPU and gives the host a share. Otherwise
/// returns nothing. Throws Error(backend_unavailable) if the host share or device memory in the options calls
/// for this and the transform cannot work this way.
template <class Real>
std::optional<DenseChoice<Real>> choose_out_of_core(const DenseRequest& request);
/// Makes a runner over several devices for a shared batch, or for one transform in slabs, with arrays in host
/// memory. Throws Error(backend_unavailable, out_of_memory).
template <class Real>
DenseChoice<Real> choose_on_several(const DenseRequest& request);
/// Whether this build has the given GPU engine.
bool gpu_engine_in_build(dense::Engine engine) noexcept;

}  // namespace sfft::detail
