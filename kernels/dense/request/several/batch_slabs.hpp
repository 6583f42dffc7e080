// SPDX-License-Identifier: Apache-2.0
// Runs a batch that several devices share, with arrays in their memory.
#pragma once

#include "kernels/dense/request/several/slab_runner.hpp"
#include "kernels/dense/slabs/slab_grid.hpp"

namespace sfft::detail {

template <class Real>
class BatchSlabs final : public SlabRunner<Real> {
 public:
  /// Uses no more devices than there are signals. `note` is returned as the reason.
  BatchSlabs(const DenseRequest& request, const std::vector<int>& devices, std::string note);

  const std::vector<dense::Slab>& signal_slabs() const noexcept override { return signals_; }
  const std::vector<dense::Slab>& spectrum_slabs() const noexcept override { return spectra_; }
  std::size_t workspace_bytes(std::size_t slab) const noexcept override {
    return parts_[slab].runner->device_workspace_bytes();
  }
  void enqueue_forward(std::span<const void* const> signals, ElementType type,
                       std::span<std::complex<Real>* const> spectra, const SlabCall& call) const override;
  void enqueue_inverse(std::span<const std::complex<Real>* const> spectra, std::span<void* const> signals,
                       const SlabCall& call) const override;
  dense::Engine engine() const noexcept override { return parts_[0].engine; }
  std::string name() const override { return parts_[0].runner->name(); }
  std::string reason() const override { return note_; }
  std::string explain() const override;

  /// The plan of one device, for signals in host memory.
  const DenseRunner<Real>& part(std::size_t slab) const noexcept { return *parts_[slab].runner; }

 private:
  DenseProblem problem_;
  std::vector<dense::Slab> signals_, spectra_;
  std::vector<DenseChoice<Real>> parts_;
  std::string note_;
};

}  // namespace sfft::detail
