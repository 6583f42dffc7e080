// SPDX-License-Identifier: Apache-2.0
// Sums one vector of outputs at a time over all folds; the common cases of one and two folds are unrolled.
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/subsample.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

template <class Real, int kFolds>
void fold_fixed(const Real* __restrict taps, const Real* __restrict window, std::int64_t count,
                std::int64_t runtime_folds, Real* __restrict out) {
  const std::int64_t folds = kFolds > 0 ? kFolds : runtime_folds;
  using S = Simd<Real>;
  std::int64_t i = 0;
  for (; i + S::kLanes <= count; i += S::kLanes) {
    typename S::Vector sum = S::load(taps + i) * S::load(window + i);
    for (std::int64_t a = 1; a < folds; ++a)
      sum += S::load(taps + a * count + i) * S::load(window + a * count + i);
    S::store(out + i, sum);
  }
  for (; i < count; ++i) {
    Real sum = 0;
    for (std::int64_t a = 0; a < folds; ++a) sum += taps[a * count + i] * window[a * count + i];
    out[i] = sum;
  }
}

template <class Real>
void fold(const Real* taps, const Real* window, std::int64_t count, std::int64_t folds, Real* out) {
  switch (folds) {
    case 1:
      return fold_fixed<Real, 1>(taps, window, count, folds, out);
    case 2:
      return fold_fixed<Real, 2>(taps, window, count, folds, out);
    default:
      return fold_fixed<Real, 0>(taps, window, count, folds, out);
  }
}

template <class Real>
constexpr SubsampleKernels<Real> kTable{fold<Real>};

}  // namespace

const SubsampleKernels<float>& subsample_table_float() noexcept {
  return kTable<float>;
}
const SubsampleKernels<double>& subsample_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
