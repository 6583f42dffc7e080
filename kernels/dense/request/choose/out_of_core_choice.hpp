// SPDX-License-Identifier: Apache-2.0
// Runs dense plans whose arrays stay in host memory and pass through one or several GPUs in pieces.
#pragma once

#include <memory>

#include "kernels/dense/out_of_core/out_of_core_plan.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {

template <class Real>
class OutOfCoreRunner final : public HostMemoryRunner<Real> {
 public:
  OutOfCoreRunner(std::unique_ptr<OutOfCorePlan> fft, const DenseRequest& request);

  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(fft_->workspace_bytes());
  }
  /// Throws Error(type_mismatch) for elements other than those of the plan.
  void forward(const void* signals, ElementType type, std::complex<Real>* spectra,
               std::byte* workspace) const override;
  void inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace) const override;
  bool on_gpu() const noexcept override { return false; }
  bool real_in_place() const noexcept override { return true; }
  std::string name() const override { return fft_->name(); }
  std::string explain() const override { return fft_->explain(); }

 private:
  const char* why_not_queued() const noexcept override {
    return "this plan's arrays go through the GPU in pieces and cannot be enqueued: give forward() or "
           "inverse() "
           "host memory";
  }

  std::unique_ptr<const OutOfCorePlan> fft_;
  ElementType type_;
  DenseScales scales_;
};

}  // namespace sfft::detail
