// SPDX-License-Identifier: Apache-2.0
// Runs dense plans on the CPU: threads take whole signals of the batch, or share the transform of one after
// another.
#pragma once

#include "kernels/dense/problem/engine.hpp"
#include "kernels/dense/request/batch_threads.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

template <class Real>
class CpuRunner final : public DenseRunner<Real> {
 public:
  CpuRunner(std::unique_ptr<const DenseEngine<Real>> engine, const DenseRequest& request);

  std::size_t workspace_bytes() const noexcept override {
    return slot_bytes_ * static_cast<std::size_t>(threads_.slots());
  }
  void forward(const void* signals, ElementType type, std::complex<Real>* spectra,
               std::byte* workspace) const override;
  void inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace) const override;
  std::size_t device_workspace_bytes() const noexcept override { return 0; }
  void enqueue_forward(const void*, ElementType, std::complex<Real>*, std::byte*,
                       CUstream_st*) const override;
  void enqueue_inverse(const std::complex<Real>*, void*, std::byte*, CUstream_st*) const override;
  bool on_gpu() const noexcept override { return false; }
  std::string name() const override { return engine_->name(); }

 private:
  /// Calls transform(signal, scratch) for the whole batch; rethrows the first exception.
  template <class Transform>
  void over_batch(std::byte* workspace, const Transform& transform) const;

  std::unique_ptr<const DenseEngine<Real>> engine_;
  DenseProblem problem_;
  DenseScales scales_;
  bool packed_;  ///< a signal's own elements are contiguous, whatever lies between signals
  BatchThreads threads_;
  std::size_t engine_bytes_, slot_bytes_;
};

}  // namespace sfft::detail
