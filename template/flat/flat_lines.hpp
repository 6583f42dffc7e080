// SPDX-License-Identifier: Apache-2.0
// Draws the lines of flat-window plans: directions and delays, from a seeded generator.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::detail {

/// The lines along which samples are taken.
struct FlatLines {
  std::array<std::int64_t, 3> sigma;
  std::vector<std::array<std::int64_t, 3>> delays;
  std::int64_t buckets;
  std::int64_t taps;         ///< M, a multiple of buckets
  std::int64_t row_buckets;  ///< p
  /// The lines cover the whole period of σ once (M = B), every frequency is exactly in a bucket, and the
  /// window is rectangular.
  bool full_period;
};

/// The longest period of a line: the least common multiple of the extents.
std::int64_t line_period(const Shape& shape);

class FlatLineSource {
 public:
  FlatLineSource(const Shape& shape, std::uint64_t seed);

  /// Sets sigma and `count` delays; the caller has set the other fields.
  void draw(std::int64_t count, FlatLines& lines);

 private:
  std::int64_t below(std::int64_t limit);
  std::array<std::int64_t, 3> piece(std::int64_t number, std::int64_t count, const FlatLines& lines);
  std::int64_t name(const std::array<std::int64_t, 3>& delay, const FlatLines& lines) const;

  Shape shape_;
  std::int64_t period_;
  std::mt19937_64 generator_;
};

/// The number of distinct samples on the lines.
std::int64_t count_samples(const Shape& shape, const FlatLines& lines);

}  // namespace sfft::detail
