// SPDX-License-Identifier: Apache-2.0
// Fits a basis of slow functions by iteratively reweighted least squares.
#include "video/vibration/detrend.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/base/quantiles.hpp"
#include "video/vibration/least_squares.hpp"

namespace sfft::video {

namespace {

/// A line and slow cosines at sample i of n; the middle of the sample is at i + 1/2.
void basis(std::size_t i, std::size_t n, std::span<double> row) {
  const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
  row[0] = 1;
  if (row.size() > 1) row[1] = 2 * place - 1;
  for (std::size_t k = 2; k < row.size(); ++k)
    row[k] = std::cos(std::numbers::pi * static_cast<double>(k - 1) * place);
}

}  // namespace

Detrended remove_drift(std::span<const double> series, double periods) {
  const std::size_t n = series.size();
  Detrended result;
  result.rest.assign(n, 0);
  result.drift.assign(n, 0);
  if (n == 0) return result;
  const auto columns = std::min<std::size_t>(2 + static_cast<std::size_t>(std::max(0.0, 2 * periods)),
                                             std::max<std::size_t>(1, n / 4));
  std::vector<double> row(columns);
  double scale = 0;
  constexpr int kRounds = 6;
  constexpr double kHuber =
      2.5;  // a pure oscillation stays within 1.5 of its scale and keeps its full weight
  for (int round = 0; round < kRounds; ++round) {
    NormalEquations equations(columns);
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(series[i])) continue;
      basis(i, n, row);
      const double size = std::abs(series[i] - result.drift[i]);
      equations.add(row, series[i],
                    round > 0 && size > kHuber * scale && scale > 0 ? kHuber * scale / size : 1);
    }
    const std::vector<double> fit = equations.solve();
    std::vector<double> left;
    for (std::size_t i = 0; i < n; ++i) {
      basis(i, n, row);
      double value = 0;
      for (std::size_t k = 0; k < columns; ++k) value += fit[k] * row[k];
      result.drift[i] = value;
      if (std::isfinite(series[i])) left.push_back(std::abs(series[i] - value));
    }
    scale = 1.4826 * detail::median(std::move(left), 0);
  }
  constexpr double kWild = 8;
  for (std::size_t i = 0; i < n; ++i) {
    const double left = series[i] - result.drift[i];
    const bool wild = !std::isfinite(left) || (scale > 0 && std::abs(left) > kWild * scale);
    result.outliers += wild ? 1 : 0;
    result.rest[i] = !wild ? left : std::isfinite(left) ? std::copysign(kWild * scale, left) : 0;
  }
  const auto [low, high] = std::minmax_element(result.drift.begin(), result.drift.end());
  result.drift_range = *high - *low;
  return result;
}

}  // namespace sfft::video
