// SPDX-License-Identifier: Apache-2.0
// The noise floor is a local regression by least absolute deviations at a grid of centres, with interpolation
// between them. Probabilities are those of the extreme values of a spectrum.
#include "video/vibration/spectrum_peaks.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::video {

namespace {

struct Point {
  double log_bin, log_power;
};

struct LocalFit {
  double level = 0, points = 1;  ///< logarithm of the median power; equivalent number of points
};

/// The value at `centre` of the line with the least sum of absolute deviations from the points.
LocalFit fit_at(double centre, std::span<const Point> points) {
  constexpr int kRounds = 10;
  constexpr double kBlunt = 0.05;
  double level = 0;
  double slope = 0;
  for (int round = 0; round < kRounds; ++round) {
    double w0 = 0, w1 = 0, w2 = 0, b0 = 0, b1 = 0;
    for (const Point& p : points) {
      const double x = p.log_bin - centre;
      const double w = round == 0 ? 1 : 1 / std::max(kBlunt, std::abs(p.log_power - level - slope * x));
      w0 += w;
      w1 += w * x;
      w2 += w * x * x;
      b0 += w * p.log_power;
      b1 += w * x * p.log_power;
    }
    const double determinant = w0 * w2 - w1 * w1;
    const bool tilted = points.size() > 8 && determinant > 1e-9 * w0 * w2;
    level = tilted ? (w2 * b0 - w1 * b1) / determinant : b0 / w0;
    slope = tilted ? (w0 * b1 - w1 * b0) / determinant : 0;
  }
  double s1 = 0, s2 = 0;
  for (const Point& p : points) {
    s1 += p.log_bin - centre;
    s2 += (p.log_bin - centre) * (p.log_bin - centre);
  }
  const auto n = static_cast<double>(points.size());
  return {level, s2 > 0 ? std::max(1.0, n - s1 * s1 / s2) : n};
}

}  // namespace

NoiseFloor noise_floor(std::span<const double> power, double padding, std::size_t first, std::size_t last) {
  NoiseFloor floor;
  floor.power.assign(power.size(), 0);
  floor.degrees.assign(power.size(), 1);
  if (last <= first || last >= power.size()) return floor;
  // Two points per 1/T carry all the information.
  const auto step = std::max<std::size_t>(1, static_cast<std::size_t>(padding / 2));
  std::vector<Point> points;
  for (std::size_t i = first; i <= last; i += step)
    points.push_back({std::log(static_cast<double>(i)), std::log(std::max(power[i], 1e-300))});
  const double per_natural = padding / static_cast<double>(step);  // points in 1/T
  // Half widths of the regression in 1/T: wide for a good estimate, narrow enough to follow the colour of the
  // noise.
  constexpr double kNarrow = 24, kWide = 96;
  constexpr double kMedianOfExponentials = 0.36651292;  // -log(log 2)
  constexpr double kMedianCost = 2.08;  // ratio of variances of the median and the mean of exponentials
  std::size_t before = 0;
  LocalFit previous;
  for (std::size_t at = 0; at < points.size();) {
    const double natural = static_cast<double>(at) / per_natural;
    const auto half = static_cast<std::size_t>(std::clamp(natural, kNarrow, kWide) * per_natural);
    const std::size_t begin = at > half ? at - half : 0;
    const std::size_t end = std::min(points.size(), at + half + 1);
    const LocalFit fit = fit_at(points[at].log_bin, std::span(points).subspan(begin, end - begin));
    // Between two centres the logarithm is interpolated.
    const std::size_t to = at + 1 == points.size() ? last : first + at * step;
    const std::size_t from = at == 0 ? first : first + before * step;
    const LocalFit& old = at == 0 ? fit : previous;
    for (std::size_t i = from; i <= to; ++i) {
      const double share = to > from ? static_cast<double>(i - from) / static_cast<double>(to - from) : 1;
      floor.power[i] = std::exp(old.level + share * (fit.level - old.level) + kMedianOfExponentials);
      floor.degrees[i] = std::max(
          1.0, (old.points + share * (fit.points - old.points)) / per_natural / (kMedianCost * kHannCost));
    }
    if (at + 1 == points.size()) break;
    before = at;
    previous = fit;
    at = std::min(points.size() - 1, at + std::max<std::size_t>(1, half / 4));
  }
  return floor;
}

double false_alarm_probability(double height, double floor_degrees, const SearchedBand& band) {
  if (!(height > 0)) return 1;
  const double b = std::max(1.0, floor_degrees);
  const double tail = std::exp(-b * std::log1p(height / b));
  const double one = band.channels > 1 ? tail * (1 + height) : tail;
  const double crossings =
      band.independent * tail * std::pow(height, static_cast<double>(band.channels) - 0.5);
  return std::min(1.0, one + crossings);
}

double significant_height(double probability, double floor_degrees, const SearchedBand& band) {
  double low = 1;
  double high = 1e6;
  for (int i = 0; i < 80; ++i) {
    const double middle = std::sqrt(low * high);
    (false_alarm_probability(middle, floor_degrees, band) > probability ? low : high) = middle;
  }
  return high;
}

}  // namespace sfft::video
