// SPDX-License-Identifier: Apache-2.0
// Medians and quantiles. NaN must not be among the values, because it has no order. C++17, for CUDA sources.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <vector>

namespace sfft::detail {

/// The median. Of an even number of values it is the upper one of the two in the middle, so the result is
/// always one of the values. Reorders them; there must be at least one.
template <class Values>
auto median_in_place(Values&& values) {
  const auto middle = std::begin(values) + static_cast<std::ptrdiff_t>(std::size(values) / 2);
  std::nth_element(std::begin(values), middle, std::end(values));
  return *middle;
}

/// The same of a copy; `of_none` if there are no values.
inline double median(std::vector<double> values, double of_none = std::numeric_limits<double>::quiet_NaN()) {
  return values.empty() ? of_none : median_in_place(values);
}

/// The q-quantile (nearest rank); NaN if there are no values.
inline double quantile(std::vector<double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace sfft::detail
