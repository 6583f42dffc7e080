// SPDX-License-Identifier: Apache-2.0
// The interface behind a plan: it transforms a batch on a backend.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/tables/comb_data.hpp"
#include "kernels/base/tables/error_table.hpp"
#include "kernels/base/tables/flat_data.hpp"
#include "kernels/base/tables/witness_data.hpp"
#include "sfft/plan.hpp"
#include "template/data/support_set.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// Consecutive frames of a plan's shape in device memory. `pitch`: elements between their starts; 0: no gaps.
struct DeviceFrames {
  const void* data = nullptr;
  ElementType type = ElementType::f32;
  std::int64_t count = 1;
  std::int64_t pitch = 0;
};

namespace cpu {
class ThreadPool;
template <class Real>
class Witness;
}  // namespace cpu

/// A reference frame's samples and coefficients in the executor's memory.
class PlanReference {
 public:
  virtual ~PlanReference() = default;
};

/// Scratch of one caller, and on a GPU streams and rings.
class PlanWorkspace {
 public:
  virtual ~PlanWorkspace() = default;
  virtual std::size_t host_bytes() const noexcept { return 0; }
  virtual std::size_t device_bytes() const noexcept { return 0; }
};

/// Transforms batches of frames with one plan: on the CPU, on a GPU, or on several. Immutable; thread-safe
/// with one workspace per caller.
template <class Real>
class PlanExecutor {
 public:
  virtual ~PlanExecutor() = default;
  virtual Backend backend() const noexcept = 0;
  virtual std::string describe() const = 0;  ///< PlanInfo::engine
  virtual bool takes_reference() const noexcept = 0;
  /// `error`: as ErrorSums::reference_error.
  virtual std::shared_ptr<const PlanReference> make_reference(
      const SignalView& frame, std::span<const std::complex<double>> coefficients, double error) const = 0;
  /// For calls with up to `frames` frames, on the CPU with a pool of `threads`.
  virtual std::unique_ptr<PlanWorkspace> make_workspace(int frames, int threads) const = 0;
  /// Makes a workspace from that of another plan, or from none. Its memory is reused if it fits and freed
  /// first if not. Nothing may be in flight in it.
  virtual std::unique_ptr<PlanWorkspace> refit(std::unique_ptr<PlanWorkspace> old, int frames,
                                               int threads) const {
    old.reset();
    return make_workspace(frames, threads);
  }
  /// Frames in device memory. Stream-ordered; never allocates or synchronises. Only on a GPU.
  virtual void enqueue(const DeviceFrames& /*frames*/, const typename Plan<Real>::DeviceSpectra& /*spectra*/,
                       const PlanReference* /*reference*/, PlanWorkspace& /*workspace*/,
                       CUstream_st* /*stream*/) const {}

  /// Transforms frames in host memory into prepared spectra. Blocks. `pool` may be null.
  virtual void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                       const PlanReference* reference, PlanWorkspace& workspace,
                       cpu::ThreadPool* pool) const = 0;

  /// Number of frames in a part that submit() sends; 0: frames in host memory go through execute() alone.
  virtual std::size_t part_ahead() const noexcept { return 0; }
  /// Like execute(), but submits only as many of the first frames as can be in flight at once, and does not
  /// wait for them. Returns their number. Frames and spectra must stay in place until wait() has reported
  /// them; execute() must not be called in the meantime. After a failure nothing is in flight.
  virtual std::size_t submit(std::span<const SignalView> /*frames*/, std::span<Spectrum<Real>> /*spectra*/,
                             const PlanReference* /*reference*/, PlanWorkspace& /*workspace*/,
                             cpu::ThreadPool* /*pool*/) const {
    return 0;
  }
  /// Transforms submitted frames again, with another reference: the frame whose spectrum is `first` and all
  /// later ones, whether or not wait() has reported them. wait() reports these frames again. Returns
  /// their number; 0 if the first frame's samples are no longer on the GPU. After a failure nothing is in
  /// flight.
  virtual std::size_t resubmit(const Spectrum<Real>& /*first*/, const PlanReference* /*reference*/,
                               PlanWorkspace& /*workspace*/) const {
    return 0;
  }
  /// Whether wait() would return without waiting for a frame.
  virtual bool ready(PlanWorkspace& /*workspace*/) const { return false; }
  /// Waits until some of the frames in flight are done, the oldest first. Returns their number.
  virtual std::size_t wait(PlanWorkspace& /*workspace*/) const { return 0; }
  /// Waits for everything in flight and discards it.
  virtual void cancel(PlanWorkspace& /*workspace*/) const noexcept {}

  /// Check samples with their rows in host memory; null: none there.
  virtual const cpu::Witness<Real>* host_witness() const noexcept { return nullptr; }
  /// The tail scale that the empty buckets of a frame measure, in the unit of the plan's ErrorModel. Only on
  /// the CPU.
  virtual std::optional<double> tail_scale(const SignalView& /*frame*/) const { return std::nullopt; }
};

/// What every executor of a plan is made from. `errors` and `witness`, which may be empty, are those of a
/// sparse path.
struct PlanTables {
  const ErrorTable& errors;
  const WitnessData& witness;
  const SupportSet& support;
  const TemplateData& data;
  const PlanOptions& options;
};

/// Makes the executors of one backend.
template <class Real>
class ExecutorMaker {
 public:
  using Made = std::unique_ptr<const PlanExecutor<Real>>;

  virtual ~ExecutorMaker() = default;
  virtual Made comb(const CombData& comb, const PlanTables& tables) const = 0;
  virtual Made flat(const FlatPlanData& flat, const PlanTables& tables) const = 0;
  virtual Made direct(const PlanTables& tables) const = 0;
  virtual Made dense(const PlanTables& tables) const = 0;
};
template <class Real>
const ExecutorMaker<Real>& cpu_executors();
/// Executors for the GPU of PlanOptions::device.
template <class Real>
const ExecutorMaker<Real>& gpu_executors();
/// Executors for all GPUs of PlanOptions::device, which share the frames of a call.
template <class Real>
const ExecutorMaker<Real>& several_gpu_executors();

/// Lets executors share the frames of a call, each on one of `devices`.
template <class Real>
std::unique_ptr<const PlanExecutor<Real>> share_frames(
    std::vector<std::unique_ptr<const PlanExecutor<Real>>> parts, const std::vector<int>& devices);

/// Whether the dense path on a GPU runs kernels that were tuned for this shape.
template <class Real>
bool dense_kernels_are_tuned(const TemplateData& data, const PlanOptions& options);

}  // namespace sfft::detail
