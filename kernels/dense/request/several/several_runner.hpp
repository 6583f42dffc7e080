// SPDX-License-Identifier: Apache-2.0
// Runs dense plans on several GPUs, with arrays in host memory.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/request/several/batch_slabs.hpp"
#include "kernels/dense/request/several/slab_runner.hpp"

namespace sfft::detail {

inline constexpr const char* kSeveralNotQueued =
    "a Plan over several GPUs takes host memory: use SlabPlan for arrays in the memory of GPUs";

/// Runs a batch. Each GPU has a plan that transfers and transforms its signals, and a host thread.
template <class Real>
class SharedBatchRunner final : public HostMemoryRunner<Real> {
 public:
  SharedBatchRunner(const DenseRequest& request, std::unique_ptr<const BatchSlabs<Real>> slabs);

  std::size_t workspace_bytes() const noexcept override { return 0; }
  void forward(const void* signals, ElementType type, std::complex<Real>* spectra,
               std::byte* workspace) const override;
  void inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace) const override;
  bool on_gpu() const noexcept override { return true; }
  std::string name() const override { return slabs_->name(); }
  std::string explain() const override { return slabs_->explain(); }

 private:
  const char* why_not_queued() const noexcept override { return kSeveralNotQueued; }
  template <class Job>
  void on_all(const Job& job) const;

  DenseProblem problem_;
  std::unique_ptr<const BatchSlabs<Real>> slabs_;
};

/// Runs one transform in slabs, which are copied to the GPUs and back. Concurrent calls run one after
/// another.
template <class Real>
class HostSlabsRunner final : public HostMemoryRunner<Real> {
 public:
  HostSlabsRunner(const DenseRequest& request, std::unique_ptr<const SlabRunner<Real>> slabs);
  ~HostSlabsRunner() override;

  std::size_t workspace_bytes() const noexcept override { return 0; }
  void forward(const void* signals, ElementType type, std::complex<Real>* spectra,
               std::byte* workspace) const override;
  void inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace) const override;
  bool on_gpu() const noexcept override { return true; }
  std::string name() const override { return slabs_->name(); }
  std::string explain() const override { return slabs_->explain(); }

 private:
  struct Memory;

  const char* why_not_queued() const noexcept override { return kSeveralNotQueued; }

  /// Memory on all GPUs for signals with elements of this size. If it throws, no array has been modified.
  Memory& memory(std::size_t element) const;

  DenseProblem problem_;
  Shape spectrum_;
  std::unique_ptr<const SlabRunner<Real>> slabs_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Memory> memory_;
};

}  // namespace sfft::detail
