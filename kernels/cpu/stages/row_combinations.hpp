// SPDX-License-Identifier: Apache-2.0
// Sums of a few rows with complex weights: what trigonometric transforms do before and after their FFT.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// A row Σ_i (re[i] + i im[i])·z[index[i]] over 1, 2 or 4 terms.
template <class Real>
struct RowCombination {
  std::int64_t terms = 1;
  std::int64_t index[4] = {};
  Real re[4] = {}, im[4] = {};
};

/// Rows of values in split layout, whose starts are `pitch` values apart.
template <class Real>
struct SplitRows {
  Real *re, *im;
  std::int64_t pitch;
};

template <class Real>
struct RowCombinationKernels {
  /// Row r of `to` is combination r of rows of `from`, for r < count, each of `lanes` values. If from.im is
  /// null the values are real; if to.im is null only the real parts are stored. The arrays must not overlap.
  void (*combine)(const RowCombination<Real>* rows, std::int64_t count, const SplitRows<const Real>& from,
                  std::int64_t lanes, const SplitRows<Real>& to);
};

template <class Real>
const RowCombinationKernels<Real>& row_combination_kernels() noexcept;
template <>
const RowCombinationKernels<float>& row_combination_kernels<float>() noexcept;
template <>
const RowCombinationKernels<double>& row_combination_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
