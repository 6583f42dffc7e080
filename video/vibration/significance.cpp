// SPDX-License-Identifier: Apache-2.0
// Evaluates the extreme-value distribution of a spectrum's largest peak.
#include "video/vibration/significance.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::video {

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
