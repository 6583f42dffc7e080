// SPDX-License-Identifier: Apache-2.0
// Keeps tables per divisor: a search looks at dozens of grids, whose sides are the same few divisors.
#include "template/comb/folding.hpp"

#include <array>

namespace sfft::detail {

Folding::Folding(const SupportSet& support, const SpectralPrior& prior)
    : support_(support), prior_(prior), cells_(support.shape), white_(prior.tail.zero()) {
  tail_at_members_.reserve(support.members.size());
  for (const SupportMember& member : support.members)
    tail_at_members_.push_back(white_ ? 1 : prior.tail.power[cells_.cell(member.f)]);
}

void Folding::prepare(const Grid& buckets) {
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<std::int64_t>& residues = residues_[d][buckets[d]];
    if (!residues.empty()) continue;
    const auto divisor = static_cast<std::uint64_t>(buckets[d]);
    const bool power_of_two = (divisor & (divisor - 1)) == 0;
    residues.reserve(support_.members.size());
    for (const SupportMember& member : support_.members) {
      const auto f = static_cast<std::uint64_t>(member.f[d]);
      residues.push_back(static_cast<std::int64_t>(power_of_two ? f & (divisor - 1) : f % divisor));
    }
  }
  const int rank = cells_.rank();
  if (white_ || rank == 1) return;

  const CellAxis& first = cells_.axis(0);
  const auto first_cells = static_cast<std::size_t>(first.cells());
  std::vector<double>& counts = counts_[buckets[0]];
  if (counts.empty()) {
    counts.resize(static_cast<std::size_t>(buckets[0]) * first_cells);
    for (std::int64_t b = 0; b < buckets[0]; ++b)
      first.counts(b, buckets[0], &counts[static_cast<std::size_t>(b) * first_cells]);
  }
  std::vector<double>& folded = folded_[{buckets[1], buckets[2]}];
  if (!folded.empty()) return;
  const std::vector<double> sums = cells_.bucket_sums(prior_.tail, buckets, 1);
  const auto outer = static_cast<std::size_t>(buckets[1] * buckets[2]);
  folded.resize(sums.size());
  for (std::size_t c = 0; c < first_cells; ++c) {
    for (std::size_t b = 0; b < outer; ++b) folded[b * first_cells + c] = sums[c * outer + b];
  }
}

std::vector<std::int64_t> Folding::buckets_of_members(const Grid& buckets) const {
  const std::vector<std::int64_t>& r0 = residues_[0].at(buckets[0]);
  const std::vector<std::int64_t>& r1 = residues_[1].at(buckets[1]);
  const std::vector<std::int64_t>& r2 = residues_[2].at(buckets[2]);
  std::vector<std::int64_t> flat(r0.size());
  for (std::size_t i = 0; i < flat.size(); ++i) flat[i] = (r0[i] * buckets[1] + r1[i]) * buckets[2] + r2[i];
  return flat;
}

std::vector<double> Folding::tails_of(std::span<const std::int64_t> flat, const Grid& buckets) const {
  std::vector<double> tails;
  tails.reserve(flat.size());
  if (white_) {
    const std::int64_t aliases = support_.shape.points() / (buckets[0] * buckets[1] * buckets[2]);
    tails.assign(flat.size(), static_cast<double>(aliases));
    return tails;
  }
  const auto cells = static_cast<std::size_t>(cells_.axis(0).cells());
  const auto product = [cells](const double* counts, const double* power) {
    double even = 0, odd = 0;  // two sums, because additions wait for each other
    for (std::size_t c = 0; c + 1 < cells; c += 2) {
      even += counts[c] * power[c];
      odd += counts[c + 1] * power[c + 1];
    }
    return cells % 2 != 0 ? even + counts[cells - 1] * power[cells - 1] + odd : even + odd;
  };
  if (cells_.rank() == 1) {
    std::array<double, CellAxis::kMostCells> counts{};
    for (const std::int64_t bucket : flat) {
      cells_.axis(0).counts(bucket, buckets[0], counts.data());
      tails.push_back(product(counts.data(), prior_.tail.power.data()));
    }
    return tails;
  }
  const std::int64_t outer = buckets[1] * buckets[2];
  const std::vector<double>& counts = counts_.at(buckets[0]);
  const std::vector<double>& folded = folded_.at({buckets[1], buckets[2]});
  for (const std::int64_t bucket : flat) {
    tails.push_back(product(&counts[static_cast<std::size_t>(bucket / outer) * cells],
                            &folded[static_cast<std::size_t>(bucket % outer) * cells]));
  }
  return tails;
}

}  // namespace sfft::detail
