// SPDX-License-Identifier: Apache-2.0
// The dense path on the CPU: runs an FFT and picks the template's frequencies from it. It is exact, and also
// measures the energy outside the support.
#pragma once

#include <optional>
#include <vector>

#include "kernels/cpu/executors/executor.hpp"
#include "kernels/dense/cpu/picked_fft.hpp"
#include "sfft/dense.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// Where a coefficient is in a dense spectrum of shape (n1, …, nD), or (n1, …, nD/2 + 1) for a real frame.
struct DensePick {
  std::int64_t at;
  bool conjugate;  ///< the stored element is the conjugate
  double multiplicity;
};
std::vector<DensePick> dense_picks(const TemplateData& data);

template <class Real>
class DenseExecutor final : public cpu::Executor<Real> {
 public:
  /// `threads` share a frame in execute_shared().
  DenseExecutor(const TemplateData& data, int threads);

  std::size_t scratch_bytes() const noexcept override;
  std::size_t reference_reals() const noexcept override { return 0; }
  void gather_reference(const void*, ElementType, Real*) const noexcept override {}
  bool takes_regions() const noexcept override { return false; }
  void execute(FrameData frame, ElementType type, const Real* reference, std::span<std::complex<Real>> values,
               cpu::ExecutionStats& stats, std::byte* scratch) const override;
  std::size_t shared_scratch_bytes() const noexcept override;
  void execute_shared(FrameData frame, ElementType type, const Real* reference,
                      std::span<std::complex<Real>> values, cpu::ExecutionStats& stats, std::byte* scratch,
                      cpu::ThreadPool& pool) const override;

  const dense::Plan<Real>& plan() const noexcept { return plan_; }

 private:
  std::complex<Real>* transform(const dense::Plan<Real>& plan, const void* frame, ElementType type,
                                std::byte* scratch) const;
  /// Computes the tail by Parseval's theorem. Returns false if the tail is so small that rounding of the
  /// energies would hide it, or if values are not finite.
  bool execute_quickly(const dense::Plan<Real>& plan, const void* frame, ElementType type,
                       std::span<std::complex<Real>> values, cpu::ExecutionStats& stats,
                       std::byte* scratch) const;
  void run(const dense::Plan<Real>& plan, FrameData frame, ElementType type,
           std::span<std::complex<Real>> values, cpu::ExecutionStats& stats, std::byte* scratch) const;
  /// Σ|X|² of the whole grid.
  double energy(std::span<const std::complex<Real>> spectrum) const noexcept;

  Shape shape_;
  bool real_;
  dense::Plan<Real> plan_;    ///< on one thread
  dense::Plan<Real> shared_;  ///< on all of them
  std::vector<DensePick> picks_;
  std::optional<PickedFft<Real>> picked_;  ///< for 2D supports with few columns
};

extern template class DenseExecutor<float>;
extern template class DenseExecutor<double>;

}  // namespace sfft::detail
