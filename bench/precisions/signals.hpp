// SPDX-License-Identifier: Apache-2.0
// Makes signals in double that lose different amounts of accuracy when stored in few bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace sfft::bench {

/// Real and imaginary parts, or samples, of a batch.
///   gaussian  independent standard normal values
///   tone      one frequency, and noise 80 dB below it
///   walk      sums of normal values: a power spectrum that falls as 1/f²
///   spike     normal values, and one in 4096 a million times as large
inline std::vector<double> precision_signal(const std::string& kind, std::int64_t count) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<std::size_t>(count));
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double noise = normal(random);
    sum += noise;
    if (kind == "gaussian") {
      values[i] = noise;
    } else if (kind == "tone") {
      values[i] = std::sin(2 * std::numbers::pi * 0.1234567 * static_cast<double>(i)) + 1e-4 * noise;
    } else if (kind == "walk") {
      values[i] = sum;
    } else if (kind == "spike") {
      values[i] = i % 4096 == 1234 ? 1e6 * noise : noise;
    } else {
      throw std::invalid_argument("unknown signal " + kind);
    }
  }
  return values;
}

}  // namespace sfft::bench
