// SPDX-License-Identifier: Apache-2.0
// Runs dense plans on a GPU through an engine, and converts the elements that the engine cannot read or
// write.
#pragma once

#include <functional>
#include <mutex>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/request/device/transfer.hpp"
#include "kernels/dense/request/runner.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

template <class Real>
class GpuRunner final : public DenseRunner<Real> {
 public:
  /// `like`: an engine made for another batch of the same transforms; null at first.
  using Make = std::function<std::unique_ptr<const GpuDenseEngine<Real>>(const DenseProblem&,
                                                                         const GpuDenseEngine<Real>* like)>;

  /// Calls `make` again when the plan is first used on host memory. The problem's device must be current.
  GpuRunner(const DenseProblem& problem, const DenseScales& scales, Make make);
  ~GpuRunner() override;

  std::size_t workspace_bytes() const noexcept override { return 0; }
  void forward(const void* signals, ElementType type, std::complex<Real>* spectra,
               std::byte* workspace) const override;
  void inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace) const override;
  std::size_t device_workspace_bytes() const noexcept override;
  void enqueue_forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                       std::byte* workspace, CUstream_st* stream) const override;
  void enqueue_inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace,
                       CUstream_st* stream) const override;
  bool on_gpu() const noexcept override { return true; }
  std::string name() const override { return any_engine().name(); }
  std::string kernel() const { return any_engine().kernel(); }

 private:
  using Engine = GpuDenseEngine<Real>;

  const Engine& any_engine() const noexcept { return strided_ != nullptr ? *strided_ : *packed_; }
  /// The engine that reads signals in place; may be null.
  const Engine* direct() const noexcept {
    return strided_ != nullptr ? strided_.get() : contiguous_ ? packed_.get() : nullptr;
  }
  bool reads_everything(const Engine& engine) const noexcept;
  const DenseTransfer<Real>& transfer() const;

  DenseProblem problem_;
  DenseScales scales_;
  Make make_;
  bool contiguous_;
  std::unique_ptr<const Engine> strided_;  ///< for strided problems that an engine supports directly
  std::unique_ptr<const Engine> packed_;   ///< for contiguous signals; null if nothing is ever converted
  std::size_t conversion_bytes_ = 0;       ///< after the workspace of packed_
  mutable std::once_flag once_;
  mutable std::unique_ptr<const GpuRunner> chunk_;  ///< for a part of the batch, contiguous
  mutable std::unique_ptr<const DenseTransfer<Real>> transfer_;
};

/// Engines for the library's internal forward transforms of `problem`, in this and other batch sizes: the
/// engine that wisdom names, or cuFFT. `batch` says whether wisdom about another batch size counts.
template <class Real>
cuda::DenseEngines<Real> remembered_engines(const DenseProblem& problem,
                                            Wisdom::Batch batch = Wisdom::Batch::nearest);

}  // namespace sfft::detail
