// SPDX-License-Identifier: Apache-2.0
// A stretch of l samples fits into a gap of g at g − l + 1 places, so the probability of a miss needs only
// the number and the sum of the gaps that are long enough.
#include "template/planning/bursts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

#include "kernels/base/math/lattice_line.hpp"

namespace sfft::detail {

ReadSet::ReadSet(std::int64_t points, std::int64_t expected) : points_(points) {
  constexpr std::int64_t kSparse = 1024;  // from this number of points per read, sorting is faster
  if (points / kSparse < expected) marks_.resize(static_cast<std::size_t>(points / kBits + 1));
}

void ReadSet::add(std::int64_t read) {
  if (marks_.empty()) {
    reads_.push_back(read);
  } else {
    marks_[static_cast<std::size_t>(read / kBits)] |= std::uint64_t{1} << (read % kBits);
  }
}

void ReadSet::add(const CombData& comb) {
  const Shape& shape = comb.shape;
  std::vector<std::int64_t> all{0};
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t buckets = comb.buckets[static_cast<std::size_t>(d)];
    std::vector<std::int64_t> longer;
    longer.reserve(all.size() * static_cast<std::size_t>(buckets));
    for (const std::int64_t at : all) {
      for (std::int64_t m = 0; m < buckets; ++m) longer.push_back(at * shape[d] + m * comb.stride(d));
    }
    all = std::move(longer);
  }
  // A delay shifts each dimension by less than its stride, so that nothing wraps.
  for (const auto& delay : comb.delays) {
    std::int64_t shift = 0;
    for (int d = 0; d < shape.rank(); ++d) shift = shift * shape[d] + delay[static_cast<std::size_t>(d)];
    for (const std::int64_t at : all) add(at + shift);
  }
}

void ReadSet::add(const FlatPlanData& flat) {
  // A sample with less weight is read, but its error is reduced too much to be noticed.
  constexpr double kMinWeight = 0.25;
  double largest = 0;
  for (const double tap : flat.window) largest = std::max(largest, std::abs(tap));
  for (const auto& delay : flat.delays) {
    std::size_t m = 0;
    walk_line(flat.shape.extents().data(), flat.shape.rank(), flat.sigma, delay, flat.taps(),
              [&](std::int64_t at) {
                if (std::abs(flat.window[m++]) >= kMinWeight * largest) add(at);
              });
  }
}

ReadGaps::ReadGaps(ReadSet reads) : points_(reads.points()) {
  // Gaps of a lattice have few lengths, and those of random reads rarely exceed the table.
  std::vector<std::int64_t> counts(static_cast<std::size_t>(std::min<std::int64_t>(4096, points_ + 1))),
      longer;
  std::int64_t next = 0;  // the first sample after the last read
  const auto add = [&](std::int64_t end) {
    const auto gap = static_cast<std::size_t>(end - next);
    next = end + 1;
    if (gap < counts.size()) {
      ++counts[gap];
    } else {
      longer.push_back(static_cast<std::int64_t>(gap));
    }
  };
  reads.for_each_ascending([&](std::int64_t read) {
    add(read);
    ++reads_;
  });
  add(points_);
  std::int64_t count = 0, sum = 0;
  const auto take = [&](std::int64_t length, std::int64_t times) {
    lengths_.push_back({length, count += times, sum += length * times});
  };
  std::sort(longer.begin(), longer.end(), std::greater<>());
  for (const std::int64_t length : longer) take(length, 1);
  for (std::size_t length = counts.size() - 1; length > 0; --length) {
    if (counts[length] > 0) take(static_cast<std::int64_t>(length), counts[length]);
  }
}

double ReadGaps::missed_by_one(std::int64_t length) const {
  const auto end = std::partition_point(lengths_.begin(), lengths_.end(),
                                        [&](const Length& gaps) { return gaps.length >= length; });
  if (end == lengths_.begin()) return 0;
  const Length& gaps = end[-1];
  const std::int64_t places = gaps.sum - gaps.count * (length - 1);
  return static_cast<double>(places) / static_cast<double>(points_ - length + 1);
}

double ReadGaps::miss_probability(std::int64_t length, std::int64_t stretches) const {
  const std::int64_t each = length / stretches, longer = length % stretches;
  const double missed = std::pow(missed_by_one(each), static_cast<double>(stretches - longer));
  return longer == 0 ? missed : missed * std::pow(missed_by_one(each + 1), static_cast<double>(longer));
}

double ReadGaps::largest_miss(std::int64_t length) const {
  double worst = miss_probability(length, length);
  for (std::int64_t stretches = 1; stretches < length; stretches *= 2)
    worst = std::max(worst, miss_probability(length, stretches));
  return worst;
}

std::int64_t ReadGaps::shortest_burst(double miss) const {
  std::int64_t missed = 0, seen = points_;
  while (seen - missed > 1) {
    const std::int64_t middle = missed + (seen - missed) / 2;
    (largest_miss(middle) <= miss ? seen : missed) = middle;
  }
  return seen;
}

std::int64_t samples_for_burst(double burst, double miss) {
  constexpr double kMax = 0x1p62;
  return static_cast<std::int64_t>(std::min(kMax, std::ceil(std::log(miss) / std::log1p(-burst))));
}

}  // namespace sfft::detail
