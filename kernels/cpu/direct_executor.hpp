// The direct path: a k×N matrix of twiddles times the frame. Exact; for frames of a few dozen samples.
#pragma once

#include <vector>

#include "kernels/cpu/executor.hpp"

namespace sfft::detail::cpu {

template <class Real>
class DirectExecutor final : public Executor<Real> {
 public:
  DirectExecutor(const Shape& shape, std::span<const std::int64_t> support);

  std::size_t scratch_bytes() const noexcept override { return 2 * samples_ * sizeof(Real); }
  std::size_t reference_reals() const noexcept override { return 0; }
  void gather_reference(const void*, ElementType, Real*) const noexcept override {}
  void execute(const void* frame, ElementType type, const Real* reference,
               std::span<std::complex<Real>> values, ExecutionStats& stats,
               std::byte* scratch) const noexcept override;

 private:
  std::size_t samples_;
  std::vector<Real> cos_, sin_;  ///< k × N
};

extern template class DirectExecutor<float>;
extern template class DirectExecutor<double>;

}  // namespace sfft::detail::cpu
