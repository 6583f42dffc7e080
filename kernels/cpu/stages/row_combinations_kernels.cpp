// SPDX-License-Identifier: Apache-2.0
// Vectors span the values of a row. The last vector of a row overlaps the one before it.
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/row_combinations.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

/// One row of kTerms terms.
template <class Real, int kTerms, bool kFromComplex, bool kToComplex>
struct Row {
  const RowCombination<Real>& weights;
  const Real *from_re[kTerms], *from_im[kTerms];
  Real *to_re, *to_im;

  Row(const RowCombination<Real>& row, std::int64_t r, const SplitRows<const Real>& from,
      const SplitRows<Real>& to)
      : weights(row), to_re(to.re + r * to.pitch), to_im(kToComplex ? to.im + r * to.pitch : nullptr) {
    for (int t = 0; t < kTerms; ++t) {
      from_re[t] = from.re + row.index[t] * from.pitch;
      from_im[t] = kFromComplex ? from.im + row.index[t] * from.pitch : nullptr;
    }
  }

  template <class Ops>
  void at(std::int64_t i) const {
    auto re = Ops::load(from_re[0] + i) * weights.re[0];
    auto im = Ops::load(from_re[0] + i) * weights.im[0];
    for (int t = 0; t < kTerms; ++t) {
      if (t > 0) {
        const auto value = Ops::load(from_re[t] + i);
        re += value * weights.re[t];
        im += value * weights.im[t];
      }
      if constexpr (kFromComplex) {
        const auto value = Ops::load(from_im[t] + i);
        re -= value * weights.im[t];
        im += value * weights.re[t];
      }
    }
    Ops::store(to_re + i, re);
    if constexpr (kToComplex) Ops::store(to_im + i, im);
  }
  void over(std::int64_t lanes) const {
    struct Scalar {
      static Real load(const Real* from) { return *from; }
      static void store(Real* to, Real value) { *to = value; }
    };
    constexpr std::int64_t kLanes = Simd<Real>::kLanes;
    if (lanes < kLanes) {
      for (std::int64_t i = 0; i < lanes; ++i) at<Scalar>(i);
      return;
    }
    for (std::int64_t i = 0; i + kLanes <= lanes; i += kLanes) at<Simd<Real>>(i);
    if (lanes % kLanes != 0) at<Simd<Real>>(lanes - kLanes);
  }
};

template <class Real, bool kFromComplex, bool kToComplex>
void combine_as(const RowCombination<Real>* rows, std::int64_t count, const SplitRows<const Real>& from,
                std::int64_t lanes, const SplitRows<Real>& to) {
  for (std::int64_t r = 0; r < count; ++r) {
    switch (rows[r].terms) {
      case 1:
        Row<Real, 1, kFromComplex, kToComplex>(rows[r], r, from, to).over(lanes);
        break;
      case 2:
        Row<Real, 2, kFromComplex, kToComplex>(rows[r], r, from, to).over(lanes);
        break;
      default:
        Row<Real, 4, kFromComplex, kToComplex>(rows[r], r, from, to).over(lanes);
    }
  }
}

template <class Real>
void combine(const RowCombination<Real>* rows, std::int64_t count, const SplitRows<const Real>& from,
             std::int64_t lanes, const SplitRows<Real>& to) {
  if (from.im == nullptr) return combine_as<Real, false, true>(rows, count, from, lanes, to);
  if (to.im == nullptr) return combine_as<Real, true, false>(rows, count, from, lanes, to);
  combine_as<Real, true, true>(rows, count, from, lanes, to);
}

template <class Real>
constexpr RowCombinationKernels<Real> kTable{combine<Real>};

}  // namespace

const RowCombinationKernels<float>& row_combination_table_float() noexcept {
  return kTable<float>;
}
const RowCombinationKernels<double>& row_combination_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
