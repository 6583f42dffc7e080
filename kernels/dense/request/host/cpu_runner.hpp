// SPDX-License-Identifier: Apache-2.0
// Runs dense plans on the CPU. Threads take whole signals of the batch, or share one transform after another.
#pragma once

#include <optional>

#include "kernels/dense/cpu/signal_group.hpp"
#include "kernels/dense/problem/engine.hpp"
#include "kernels/dense/request/host/batch_threads.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

template <class Real>
class CpuRunner final : public Runner<FullCall> {
 public:
  /// `together`: the number of signals that a SignalGroup transforms at once; if 1, the engine transforms
  /// each signal. `real_in_place`: whether the engine transforms real rows in place.
  CpuRunner(std::unique_ptr<const DenseEngine<Real>> engine, const DenseRequest& request,
            std::int64_t together = 1, bool real_in_place = false);

  std::size_t workspace_bytes() const noexcept override {
    return slot_bytes_ * static_cast<std::size_t>(threads_.slots());
  }
  void run(const FullCall& call) const override;
  bool on_gpu() const noexcept override { return false; }
  bool real_in_place() const noexcept override { return real_in_place_; }
  std::string name() const override { return engine_->name(); }

 private:
  void forward(const void* signals, ElementType type, std::complex<Real>* spectra,
               std::byte* workspace) const;
  /// `signals` holds Reals for a real problem, otherwise complex values.
  void inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace) const;
  /// Calls grouped(group, first signal, workspace) for groups of signals and transform(signal, scratch) for
  /// other signals. Rethrows the first exception.
  template <class Grouped, class Transform>
  void over_batch(std::byte* workspace, const Grouped& grouped, const Transform& transform) const;

  std::unique_ptr<const DenseEngine<Real>> engine_;
  DenseProblem problem_;
  std::optional<SignalGroup<Real>> group_, rest_;  ///< groups of `together` signals, and the rest
  DenseScales scales_;
  bool real_in_place_;
  bool packed_;  ///< each signal is contiguous; there may be gaps between signals
  BatchThreads threads_;
  bool alone_;  ///< one packed signal, one thread, no scale: a forward call needs only the engine
  std::size_t engine_bytes_, slot_bytes_;
};

/// Transforms any axes with strides on both sides; threads take whole units of the batch, or share one unit
/// after another.
template <class Real>
std::unique_ptr<const Runner<FullCall>> make_strided_runner(const DenseRequest& request);

}  // namespace sfft::detail
