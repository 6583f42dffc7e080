// SPDX-License-Identifier: Apache-2.0
// Fits a basis of slow functions by iteratively reweighted least squares.
#include "video/vibration/time_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/base/math/quantiles.hpp"

namespace sfft::video {

namespace {

bool usable(std::span<const double> seconds) {
  if (seconds.size() < 2) return false;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (!std::isfinite(seconds[i]) || (i > 0 && seconds[i] <= seconds[i - 1])) return false;
  }
  return true;
}

}  // namespace

FrameClock frame_clock(double given_hz, double nominal_hz, std::span<const double> seconds) {
  FrameClock clock;
  if (given_hz > 0) {
    clock.rate_hz = given_hz;
    clock.source = "given";
    const FrameClock stamped = frame_clock(0, nominal_hz, seconds);
    if (!stamped.steady) {
      clock.warnings.push_back(fmt::format(
          "By their time stamps frames follow each other after {:.1f} to {:.1f} ms, and --fps takes them for "
          "even: where frames are missing, frequencies come out wrong.",
          1e3 * stamped.shortest_seconds, 1e3 * stamped.longest_seconds));
    }
    return clock;
  }
  if (!usable(seconds)) {
    clock.rate_hz = nominal_hz > 0 ? nominal_hz : 1;
    clock.source = nominal_hz > 0 ? "container" : "unknown";
    if (!(nominal_hz > 0))
      clock.warnings.emplace_back(
          "The input does not say how fast its frames follow each other: frequencies are in cycles per "
          "frame. "
          "Give the rate with --fps.");
    return clock;
  }
  std::vector<double> intervals;
  for (std::size_t i = 1; i < seconds.size(); ++i) intervals.push_back(seconds[i] - seconds[i - 1]);
  const auto count = static_cast<double>(intervals.size());
  const double mean = (seconds.back() - seconds.front()) / count;
  const auto [shortest, longest] = std::minmax_element(intervals.begin(), intervals.end());
  clock.shortest_seconds = *shortest;
  clock.longest_seconds = *longest;
  // Containers that count milliseconds round every time stamp by up to half a millisecond.
  double wander = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    wander = std::max(wander, std::abs(seconds[i] - seconds[0] - mean * static_cast<double>(i)));
  constexpr double kRounding = 1.1e-3;
  clock.steady = wander <= std::max(0.3 * mean, kRounding);
  const bool agrees = nominal_hz > 0 && std::abs(nominal_hz * mean - 1) < 2e-3;
  clock.rate_hz = agrees && clock.steady ? nominal_hz : 1 / mean;
  clock.source = agrees && clock.steady ? "container" : "time_stamps";
  if (!clock.steady) {
    std::vector<double> ordered = intervals;
    std::ranges::sort(ordered);
    // If the rate varies, the higher one gives more information. Times without a frame close by then have no
    // sample.
    const double usual = ordered[ordered.size() / 4];
    // If only some frames are missing, the others are evenly spaced, except for stamps in whole milliseconds.
    double sum = 0;
    double number = 0;
    for (const double interval : intervals) {
      if (std::abs(interval - usual) > 0.25 * usual) continue;
      sum += interval;
      ++number;
    }
    clock.rate_hz = number / sum;
    clock.warnings.push_back(
        fmt::format("Frames follow each other after {:.1f} to {:.1f} ms: the recording has a variable frame "
                    "rate. By their time stamps the series are taken at {:.4g} samples a second; where no "
                    "frame is close, there is none.",
                    1e3 * *shortest, 1e3 * *longest, clock.rate_hz));
  } else if (nominal_hz > 0 && !agrees) {
    clock.warnings.push_back(fmt::format(
        "The container states {:.4g} frames a second, and its time stamps {:.4g}: the latter are used.",
        nominal_hz, clock.rate_hz));
  }
  return clock;
}

FrameClock frame_clock(double given_hz, double capture_hz, double nominal_hz,
                       std::span<const double> seconds) {
  FrameClock clock = frame_clock(given_hz, nominal_hz, seconds);
  constexpr double kSame = 0.02;  // stated rates are rounded
  const bool slowed = capture_hz > 0 && std::abs(capture_hz / clock.rate_hz - 1) > kSame;
  if (given_hz > 0 || !slowed) return clock;
  clock = frame_clock(capture_hz, nominal_hz, seconds);
  clock.source = "capture";
  return clock;
}

std::vector<double> at_even_times(std::span<const double> series, std::span<const double> seconds,
                                  double rate_hz) {
  std::vector<double> even;
  if (series.empty()) return even;
  std::size_t after = 1;
  const auto count =
      static_cast<std::size_t>(std::floor((seconds[series.size() - 1] - seconds[0]) * rate_hz + 1e-6)) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const double at = seconds[0] + static_cast<double>(i) / rate_hz;
    while (after + 1 < series.size() && seconds[after] < at) ++after;
    if (after >= series.size()) {
      even.push_back(series.back());
      continue;
    }
    const double before = seconds[after - 1];
    const double share = std::clamp((at - before) / (seconds[after] - before), 0.0, 1.0);
    constexpr double kClose = 0.1, kAdjacent = 1.8;  // steps
    if ((seconds[after] - before) * rate_hz < kAdjacent)
      even.push_back(series[after - 1] + share * (series[after] - series[after - 1]));
    else if ((at - before) * rate_hz < kClose)
      even.push_back(series[after - 1]);
    else if ((seconds[after] - at) * rate_hz < kClose)
      even.push_back(series[after]);
    else
      even.push_back(std::numeric_limits<double>::quiet_NaN());
  }
  return even;
}

namespace {

/// Weighted normal equations A^T W A p = A^T W b, accumulated row by row and solved by Cholesky's method.
/// Columns that depend on earlier ones get the coefficient 0.
class NormalEquations {
 public:
  explicit NormalEquations(std::size_t columns) : n_(columns), matrix_(columns * columns), right_(columns) {}

  void add(std::span<const double> row, double value, double weight) {
    for (std::size_t i = 0; i < n_; ++i) {
      const double w = weight * row[i];
      for (std::size_t j = 0; j <= i; ++j) matrix_[i * n_ + j] += w * row[j];
      right_[i] += w * value;
    }
  }

  std::vector<double> solve() const {
    std::vector<double> factor = matrix_;
    std::vector<double> p = right_;
    constexpr double kRounding = 1e-12;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = matrix_[i * n_ + j];
        for (std::size_t k = 0; k < j; ++k) sum -= factor[i * n_ + k] * factor[j * n_ + k];
        if (i == j) {
          factor[i * n_ + i] = sum > kRounding * matrix_[i * n_ + i] ? std::sqrt(sum) : 0;
        } else {
          factor[i * n_ + j] = factor[j * n_ + j] > 0 ? sum / factor[j * n_ + j] : 0;
        }
      }
    }
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < i; ++k) p[i] -= factor[i * n_ + k] * p[k];
      p[i] = factor[i * n_ + i] > 0 ? p[i] / factor[i * n_ + i] : 0;
    }
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t k = i + 1; k < n_; ++k) p[i] -= factor[k * n_ + i] * p[k];
      p[i] = factor[i * n_ + i] > 0 ? p[i] / factor[i * n_ + i] : 0;
    }
    return p;
  }

 private:
  std::size_t n_;
  std::vector<double> matrix_, right_;  ///< the lower triangle, row-major
};

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
