// SPDX-License-Identifier: Apache-2.0
// Folds frequencies at half the frame rate and looks for those that coincide with a peak.
#include "video/vibration/aliases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sfft::video {

double folded(double hz, double rate_hz) {
  const double rest = std::abs(std::remainder(hz, rate_hz));
  return rest;
}

std::vector<double> alias_candidates(double hz, double rate_hz, std::size_t count) {
  std::vector<double> candidates;
  for (double turns = 1; candidates.size() < count; ++turns) {
    candidates.push_back(turns * rate_hz - hz);
    if (candidates.size() < count) candidates.push_back(turns * rate_hz + hz);
  }
  return candidates;
}

std::optional<Alias> likely_alias(double hz, double error_hz, double resolution_hz, double rate_hz,
                                  std::span<const KnownFrequency> known,
                                  std::span<const KnownFrequency> stronger) {
  const double half = 0.5 * rate_hz;
  const auto meets = [&](double frequency, double error) {
    return std::abs(folded(frequency, rate_hz) - hz) <=
           std::max(resolution_hz, 3 * std::hypot(error, error_hz));
  };
  for (const KnownFrequency& one : known) {
    if (one.hz > half && meets(one.hz, one.error_hz))
      return Alias{one.hz, fmt::format("{} folds to this", one.name)};
  }
  constexpr int kMultiples = 4;
  for (const KnownFrequency& one : stronger) {
    for (int m = 2; m <= kMultiples; ++m) {
      if (!meets(m * one.hz, m * one.error_hz)) continue;
      if (m * one.hz <= half) return std::nullopt;
      return Alias{m * one.hz, fmt::format("{} times the peak at {:.2f} Hz folds to this", m, one.hz)};
    }
  }
  constexpr double kClose = 0.9;
  if (hz > kClose * half)
    return Alias{rate_hz - hz, "close to half the frame rate, where both look the same"};
  return std::nullopt;
}

}  // namespace sfft::video
