// SPDX-License-Identifier: Apache-2.0
// Counts in closed form how many frequencies of each cell fall into each residue class, so that the bucket
// sums of an envelope take one small matrix product per dimension instead of a loop over all frequencies.
#include "template/data/envelope.hpp"

#include <algorithm>

#include "kernels/base/log_cells.hpp"

namespace sfft::detail {

CellAxis::CellAxis(std::int64_t extent) : extent_(extent) {
  const int cells = log_cells(extent);
  for (int c = 0; c < cells; ++c) first_.push_back(log_cell_first(c));
  first_.push_back(extent / 2 + 1);
}

int CellAxis::cell(std::int64_t f) const noexcept {
  const std::int64_t magnitude = std::min(f, extent_ - f);
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end() - 1, magnitude) - first_.begin()) - 1;
}

namespace {

/// How many x in [low, high] have x ≡ residue (mod modulus); 0 <= residue < modulus, low >= 0.
std::int64_t congruent(std::int64_t low, std::int64_t high, std::int64_t residue, std::int64_t modulus) {
  if (high < low) return 0;
  const auto below = [&](std::int64_t x) {  // in [0, x)
    return x <= residue ? 0 : (x - residue - 1) / modulus + 1;
  };
  return below(high + 1) - below(low);
}

}  // namespace

std::int64_t CellAxis::count(int cell, std::int64_t residue, std::int64_t modulus) const noexcept {
  const auto i = static_cast<std::size_t>(cell);
  const std::int64_t low = first_[i];
  const std::int64_t high = first_[i + 1] - 1;
  if (low == 0) return residue == 0 ? 1 : 0;
  std::int64_t total = congruent(low, high, residue, modulus);
  // The negative half, without counting n/2 twice.
  const std::int64_t negative_low = std::max(extent_ - high, extent_ / 2 + 1);
  total += congruent(negative_low, extent_ - low, residue, modulus);
  return total;
}

bool Envelope::zero() const noexcept {
  return std::all_of(power.begin(), power.end(), [](double p) { return p == 0; });
}

CellGrid::CellGrid(const Shape& shape) {
  for (const std::int64_t extent : shape.extents()) axes_.emplace_back(extent);
}

std::size_t CellGrid::cells() const noexcept {
  std::size_t total = 1;
  for (const CellAxis& axis : axes_) total *= static_cast<std::size_t>(axis.cells());
  return total;
}

std::size_t CellGrid::cell(const std::array<std::int64_t, 3>& f) const noexcept {
  std::size_t index = 0;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    index =
        index * static_cast<std::size_t>(axes_[d].cells()) + static_cast<std::size_t>(axes_[d].cell(f[d]));
  }
  return index;
}

std::vector<double> CellGrid::counts() const {
  std::vector<double> result{1.0};
  for (const CellAxis& axis : axes_) {
    std::vector<double> next;
    next.reserve(result.size() * static_cast<std::size_t>(axis.cells()));
    for (const double outer : result) {
      for (int c = 0; c < axis.cells(); ++c) next.push_back(outer * static_cast<double>(axis.count(c, 0, 1)));
    }
    result = std::move(next);
  }
  return result;
}

std::vector<double> CellGrid::bucket_sums(const Envelope& envelope,
                                          const std::array<std::int64_t, 3>& buckets) const {
  // One small matrix product per dimension, last first: (outer, cells_d, inner) -> (outer, buckets_d, inner).
  std::vector<double> sums = envelope.power;
  std::size_t inner = 1;
  for (std::size_t d = axes_.size(); d-- > 0;) {
    const CellAxis& axis = axes_[d];
    const auto cells = static_cast<std::size_t>(axis.cells());
    const auto extent = static_cast<std::size_t>(buckets[d]);
    const std::size_t outer = sums.size() / (cells * inner);
    std::vector<double> next(outer * extent * inner, 0.0);
    for (std::size_t b = 0; b < extent; ++b) {
      for (std::size_t c = 0; c < cells; ++c) {
        const auto n = static_cast<double>(
            axis.count(static_cast<int>(c), static_cast<std::int64_t>(b), static_cast<std::int64_t>(extent)));
        if (n == 0) continue;
        for (std::size_t o = 0; o < outer; ++o) {
          const double* from = &sums[(o * cells + c) * inner];
          double* to = &next[(o * extent + b) * inner];
          for (std::size_t i = 0; i < inner; ++i) to[i] += n * from[i];
        }
      }
    }
    sums = std::move(next);
    inner *= extent;
  }
  return sums;
}

}  // namespace sfft::detail
