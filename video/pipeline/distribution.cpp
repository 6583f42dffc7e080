// SPDX-License-Identifier: Apache-2.0
// Keeps the first numbers as they are and sorts them on demand. When there are too many, it counts them and
// all later ones in logarithmic cells.
#include "video/pipeline/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/base/quantiles.hpp"

namespace sfft::video {

namespace {

constexpr std::size_t kExact = 1000;
constexpr int kCellsPerOctave = 64;
// Microseconds, bytes and relative errors lie well within these; the first and last cells count other
// numbers.
constexpr int kLowestExponent = -40;
constexpr int kHighestExponent = 50;
/// One cell is for zero and smaller numbers, and one for infinity and NaN; the others divide the octaves.
constexpr std::size_t kCells =
    static_cast<std::size_t>(kHighestExponent - kLowestExponent) * kCellsPerOctave + 2;

std::size_t cell_of(double value) {
  if (!std::isfinite(value)) return kCells - 1;
  if (value < std::ldexp(1.0, kLowestExponent)) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // in [1/2, 1)
  const int octave = exponent - 1 - kLowestExponent;
  const auto cell = static_cast<std::size_t>(octave) * kCellsPerOctave +
                    static_cast<std::size_t>((2 * mantissa - 1) * kCellsPerOctave) + 1;
  return std::min(cell, kCells - 2);
}

/// The value in the middle of a cell.
double value_of(std::size_t cell) {
  if (cell == 0) return 0;
  if (cell == kCells - 1) return std::numeric_limits<double>::infinity();
  const auto octave = static_cast<int>((cell - 1) / kCellsPerOctave);
  const double part = (static_cast<double>((cell - 1) % kCellsPerOctave) + 0.5) / kCellsPerOctave;
  return std::ldexp(1 + part, octave + kLowestExponent);
}

}  // namespace

void Distribution::push_back(double value) {
  if (cells_.empty() && count_ == kExact) {
    cells_.resize(kCells);
    for (const double first : first_) count(first);
    std::vector<double>().swap(first_);
  }
  if (cells_.empty()) {
    first_.push_back(value);
  } else {
    count(value);
  }
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  sum_ += value;
  ++count_;
}

void Distribution::count(double value) noexcept {
  ++cells_[cell_of(value)];
}

double Distribution::mean() const noexcept {
  return count_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / static_cast<double>(count_);
}

double Distribution::quantile(double q) const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  if (cells_.empty()) {
    std::vector<double> values = first_;
    for (double& value : values) {
      if (std::isnan(value))
        value = std::numeric_limits<double>::infinity();  // NaN has no order: it counts as infinity
    }
    return detail::quantile(std::move(values), q);
  }
  const auto rank = static_cast<std::size_t>(q * static_cast<double>(count_ - 1) + 0.5);
  if (rank == count_ - 1) return max_;
  std::uint64_t below = 0;
  std::size_t cell = 0;
  while (cell < kCells - 1 && below + cells_[cell] <= rank) below += cells_[cell++];
  return std::clamp(value_of(cell), min_, std::max(min_, max_));
}

}  // namespace sfft::video
