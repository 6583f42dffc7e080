// SPDX-License-Identifier: Apache-2.0
// Sorts the reads once, by counting where they are dense enough: planning waits for it. A stretch of l
// samples fits into a gap of g in g − l + 1 places, so that its probability needs only the number and the sum
// of the gaps that are long enough.
#include "template/planning/bursts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

#include "kernels/base/lattice_line.hpp"

namespace sfft::detail {

namespace {

/// Calls visit(read) for each distinct one, in ascending order.
template <class Visit>
void in_order(std::vector<std::int64_t>& reads, std::int64_t points, const Visit& visit) {
  constexpr std::int64_t kBits = 64, kSparse = 1024;  // points per read from which on sorting takes less time
  if (points / kSparse >= static_cast<std::int64_t>(reads.size())) {
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    for (const std::int64_t read : reads) visit(read);
    return;
  }
  std::vector<std::uint64_t> marks(static_cast<std::size_t>(points / kBits + 1));
  for (const std::int64_t read : reads)
    marks[static_cast<std::size_t>(read / kBits)] |= std::uint64_t{1} << (read % kBits);
  for (std::size_t word = 0; word < marks.size(); ++word) {
    for (std::uint64_t left = marks[word]; left != 0; left &= left - 1)
      visit(static_cast<std::int64_t>(word) * kBits + std::countr_zero(left));
  }
}

/// Sorts positive numbers, the largest first.
void sort_descending(std::vector<std::int64_t>& numbers) {
  const std::int64_t largest = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
  if (largest > static_cast<std::int64_t>(numbers.size()))
    return std::sort(numbers.begin(), numbers.end(), std::greater<>());
  std::vector<std::size_t> counts(static_cast<std::size_t>(largest + 1));
  for (const std::int64_t number : numbers) ++counts[static_cast<std::size_t>(number)];
  auto to = numbers.begin();
  for (std::int64_t number = largest; number > 0; --number)
    to = std::fill_n(to, counts[static_cast<std::size_t>(number)], number);
}

}  // namespace

ReadGaps::ReadGaps(std::vector<std::int64_t> reads, std::int64_t points) : points_(points) {
  std::int64_t next = 0;  // the first sample behind the last read
  const auto add = [&](std::int64_t end) {
    if (end > next) gaps_.push_back(end - next);
    next = end + 1;
  };
  in_order(reads, points, [&](std::int64_t read) {
    add(read);
    ++reads_;
  });
  add(points);
  sort_descending(gaps_);
  gap_sums_.assign(1, 0);
  for (const std::int64_t gap : gaps_) gap_sums_.push_back(gap_sums_.back() + gap);
}

double ReadGaps::missed_by_one(std::int64_t length) const {
  const auto end =
      std::partition_point(gaps_.begin(), gaps_.end(), [&](std::int64_t gap) { return gap >= length; });
  const std::int64_t count = end - gaps_.begin();
  const std::int64_t places = gap_sums_[static_cast<std::size_t>(count)] - count * (length - 1);
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

std::vector<std::int64_t> gathered_samples(const CombData& comb) {
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
  std::vector<std::int64_t> reads;
  reads.reserve(all.size() * comb.delays.size());
  for (const auto& delay : comb.delays) {
    std::int64_t shift = 0;
    for (int d = 0; d < shape.rank(); ++d) shift = shift * shape[d] + delay[static_cast<std::size_t>(d)];
    for (const std::int64_t at : all) reads.push_back(at + shift);
  }
  return reads;
}

std::vector<std::int64_t> gathered_samples(const FlatPlanData& flat) {
  // A sample with less weight is seen, but makes too little of the error that it stands for.
  constexpr double kLeastWeight = 0.25;
  double largest = 0;
  for (const double tap : flat.window) largest = std::max(largest, std::abs(tap));
  std::vector<std::int64_t> reads;
  for (const auto& delay : flat.delays) {
    std::size_t m = 0;
    walk_line(flat.shape.extents().data(), flat.shape.rank(), flat.sigma, delay, flat.taps(),
              [&](std::int64_t at) {
                if (std::abs(flat.window[m++]) >= kLeastWeight * largest) reads.push_back(at);
              });
  }
  return reads;
}

std::int64_t samples_for_burst(double burst, double miss) {
  constexpr double kMax = 0x1p62;
  return static_cast<std::int64_t>(std::min(kMax, std::ceil(std::log(miss) / std::log1p(-burst))));
}

}  // namespace sfft::detail
