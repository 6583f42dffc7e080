// SPDX-License-Identifier: Apache-2.0
// The direct path: a k×N matrix of twiddles times the frame. Exact; for frames of a few dozen samples.
#pragma once

#include <vector>

#include "kernels/cpu/executors/executor.hpp"

namespace sfft::detail::cpu {

/// Sums are in double for any Real, and compensated when Real is double. Their rounding therefore stays below
/// that of the result for any number of samples. The rounding of the twiddles remains: a few units in the
/// last place of double, relative to the frame.
template <class Real>
class DirectExecutor final : public Executor<Real> {
 public:
  DirectExecutor(const Shape& shape, std::span<const std::int64_t> support);

  std::size_t scratch_bytes() const noexcept override { return 2 * pitch_ * sizeof(double); }
  std::size_t reference_reals() const noexcept override { return 0; }
  void gather_reference(const void*, ElementType, Real*) const noexcept override {}
  void execute(FrameData frame, ElementType type, const Real* reference, std::span<std::complex<Real>> values,
               ExecutionStats& stats, std::byte* scratch) const noexcept override;

  /// E|X̂_i − X_i|² per unit of scale, which is the square of the largest sample.
  std::vector<double> rounding_power() const {
    std::vector<double> power;
    for (const double rounding : rounding_) power.push_back(rounding * rounding);
    return power;
  }

 private:
  std::size_t samples_;
  std::size_t pitch_;              ///< length of a row of the tables, padded with zeros to whole blocks
  std::vector<double> cos_, sin_;  ///< k × pitch
  std::vector<double> rounding_;   ///< k, relative to the largest sample
};

extern template class DirectExecutor<float>;
extern template class DirectExecutor<double>;

}  // namespace sfft::detail::cpu
