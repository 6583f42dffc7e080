// SPDX-License-Identifier: Apache-2.0
// The distribution of a stream of numbers, in constant memory for any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sfft::video {

/// Mean and quantiles of non-negative numbers. Quantiles of up to 1000 numbers are exact. More numbers are
/// counted in cells 1/64 of an octave wide (as in HdrHistogram), and their quantiles are accurate to 0.8 per
/// cent.
class Distribution {
 public:
  void push_back(double value);

  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  /// NaN if there are no numbers; so is quantile().
  double mean() const noexcept;
  /// The q-quantile (nearest rank).
  double quantile(double q) const;

 private:
  void count(double value) noexcept;

  std::size_t count_ = 0;
  double sum_ = 0, min_ = 0, max_ = 0;
  std::vector<double> first_;         ///< the numbers, while there are up to 1000
  std::vector<std::uint64_t> cells_;  ///< counts, if there are more
};

inline double quantile(const Distribution& values, double q) {
  return values.quantile(q);
}
inline double mean(const Distribution& values) {
  return values.mean();
}

}  // namespace sfft::video
