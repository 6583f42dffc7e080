// SPDX-License-Identifier: Apache-2.0
// Runs plans with strides on the CPU, along any axes.
#pragma once

#include "kernels/dense/cpu/strided_fft.hpp"
#include "kernels/dense/request/host/batch_threads.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

/// Threads take whole units of the batch, or share one unit after another.
template <class Real>
class StridedRunner final : public Runner<FullCall> {
 public:
  explicit StridedRunner(const DenseRequest& request);

  std::size_t workspace_bytes() const noexcept override {
    return slot_bytes_ * static_cast<std::size_t>(threads_.slots());
  }
  void run(const FullCall& call) const override;
  bool on_gpu() const noexcept override { return false; }
  bool real_in_place() const noexcept override { return true; }
  std::string name() const override;

 private:
  StridedFft<Real> fft_;
  DenseScales scales_;
  BatchThreads threads_;
  std::size_t slot_bytes_;
};

extern template class StridedRunner<float>;
extern template class StridedRunner<double>;

}  // namespace sfft::detail
