// SPDX-License-Identifier: Apache-2.0
// Counts in closed form how many frequencies of each cell fall into each residue class. Bucket sums of an
// envelope then take one small matrix product per dimension instead of a loop over all frequencies.
#include "template/data/envelope.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "kernels/base/math/log_cells.hpp"

namespace sfft::detail {

CellAxis::CellAxis(std::int64_t extent) : extent_(extent) {
  const int cells = log_cells(extent);
  for (int c = 0; c < cells; ++c) first_.push_back(log_cell_first(c));
  first_.push_back(extent / 2 + 1);
  for (const std::int64_t first : first_) {
    ends_.push_back(static_cast<double>(first));
    mirrored_ends_.push_back(static_cast<double>(extent - first + 1));
  }
  mirrored_ends_.back() = static_cast<double>(extent / 2 + 1);
}

int CellAxis::cell(std::int64_t f) const noexcept {
  // The inverse of log_cell_first().
  const std::int64_t magnitude = std::min(f, extent_ - f);
  if (magnitude < 2) return static_cast<int>(magnitude);
  const int octave = std::bit_width(static_cast<std::uint64_t>(magnitude)) - 1;
  return 2 * octave + static_cast<int>(magnitude >> (octave - 1) & 1);
}

void CellAxis::counts(std::int64_t residue, std::int64_t modulus, double* counts) const noexcept {
  // Let below(end) be the number of x in [0, end) with x ≡ residue. A cell holds the x from its first |f| to
  // the next cell's, and their negatives; n/2 is its own negative. Its count is therefore the difference of
  // two neighbouring `ahead`, each of which is below() of the first |f| minus below() of its mirror image.
  const int all = cells();
  std::array<double, kMaxCells + 1> ahead;
  if (extent_ < std::int64_t{1} << 48) {
    // Divides by multiplying, which is exact because quotients are at least 0.5/modulus from an integer, and
    // rounding errors are much smaller. Adding 1.5·2^52 rounds to the nearest integer, the quotient's floor,
    // and cancels in the difference; ties do not occur.
    constexpr double kRound = 6755399441055744.0;
    const double inverse = 1 / static_cast<double>(modulus);
    const auto shift = static_cast<double>(modulus - 1 - residue) + 0.5;
    for (int c = 0; c <= all; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const double low = (ends_[at] + shift) * inverse - 0.5 + kRound;
      const double high = (mirrored_ends_[at] + shift) * inverse - 0.5 + kRound;
      ahead[at] = low - high;
    }
  } else {
    for (int c = 0; c <= all; ++c) {
      const std::int64_t first = first_[static_cast<std::size_t>(c)];
      const std::int64_t mirrored = c == all ? extent_ / 2 + 1 : extent_ - first + 1;
      ahead[static_cast<std::size_t>(c)] = static_cast<double>((first - residue + modulus - 1) / modulus -
                                                               (mirrored - residue + modulus - 1) / modulus);
    }
  }
  counts[0] = residue == 0 ? 1 : 0;
  for (int c = 1; c < all; ++c)
    counts[c] = ahead[static_cast<std::size_t>(c) + 1] - ahead[static_cast<std::size_t>(c)];
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
    std::array<double, CellAxis::kMaxCells> counts{};
    axis.counts(0, 1, counts.data());
    std::vector<double> next;
    next.reserve(result.size() * static_cast<std::size_t>(axis.cells()));
    for (const double outer : result) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(axis.cells()); ++c)
        next.push_back(outer * counts[c]);
    }
    result = std::move(next);
  }
  return result;
}

std::vector<double> CellGrid::bucket_sums(const Envelope& envelope,
                                          const std::array<std::int64_t, 3>& buckets, int first) const {
  // One small matrix product per dimension, last first: (outer, cells_d, inner) -> (outer, buckets_d, inner).
  std::vector<double> sums = envelope.power;
  std::size_t inner = 1;
  for (std::size_t d = axes_.size(); d-- > static_cast<std::size_t>(first);) {
    const CellAxis& axis = axes_[d];
    const auto cells = static_cast<std::size_t>(axis.cells());
    const auto extent = static_cast<std::size_t>(buckets[d]);
    const std::size_t outer = sums.size() / (cells * inner);
    std::vector<double> next(outer * extent * inner, 0.0);
    std::array<double, CellAxis::kMaxCells> counts{};
    for (std::size_t b = 0; b < extent; ++b) {
      axis.counts(static_cast<std::int64_t>(b), static_cast<std::int64_t>(extent), counts.data());
      for (std::size_t c = 0; c < cells; ++c) {
        const double n = counts[c];
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
