// SPDX-License-Identifier: Apache-2.0
// Keeps tables per divisor: a search looks at dozens of grids, whose sides are the same few divisors.
#include "template/comb/folding.hpp"

#include <array>

#include "kernels/cpu/stages/bucket_systems.hpp"

namespace sfft::detail {

namespace {

/// Cells of a row, filled up for the kernels.
int padded(int cells) {
  return (cells + cpu::kSystemLanes - 1) / cpu::kSystemLanes * cpu::kSystemLanes;
}

}  // namespace

Folding::Folding(const SupportSet& support, const SpectralPrior& prior)
    : support_(support), prior_(prior), cells_(support.shape), white_(prior.tail.zero()) {
  tail_at_members_.reserve(support.members.size());
  for (const SupportMember& member : support.members)
    tail_at_members_.push_back(white_ ? 1 : prior.tail.power[cells_.cell(member.f)]);
  if (cells_.rank() == 1) {
    tail_ = prior.tail.power;
    tail_.resize(static_cast<std::size_t>(padded(cells_.axis(0).cells())));
  }
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
  const auto row = static_cast<std::size_t>(padded(first.cells()));
  std::vector<double>& counts = counts_[buckets[0]];
  if (counts.empty()) {
    counts.resize(static_cast<std::size_t>(buckets[0]) * row);
    for (std::int64_t b = 0; b < buckets[0]; ++b)
      first.counts(b, buckets[0], &counts[static_cast<std::size_t>(b) * row]);
  }
  std::vector<double>& folded = folded_[{buckets[1], buckets[2]}];
  if (!folded.empty()) return;
  const std::vector<double> sums = cells_.bucket_sums(prior_.tail, buckets, 1);
  const auto outer = static_cast<std::size_t>(buckets[1] * buckets[2]);
  folded.resize(outer * row);
  for (std::size_t c = 0; c < first_cells; ++c) {
    for (std::size_t b = 0; b < outer; ++b) folded[b * row + c] = sums[c * outer + b];
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
  const auto cells = padded(cells_.axis(0).cells());
  tails.resize(flat.size());
  if (cells_.rank() == 1) {
    std::array<double, CellAxis::kMostCells + 8> counts{};
    const int zero = 0;
    for (std::size_t n = 0; n < flat.size(); ++n) {
      cells_.axis(0).counts(flat[n], buckets[0], counts.data());
      cpu::bucket_system_kernels().products(counts.data(), &zero, tail_.data(), &zero, cells, 1, &tails[n]);
    }
    return tails;
  }
  const auto outer = static_cast<std::uint64_t>(buckets[1] * buckets[2]);
  std::vector<int> first(flat.size()), others(flat.size());
  for (std::size_t n = 0; n < flat.size(); ++n) {
    const auto bucket = static_cast<std::uint64_t>(flat[n]);
    first[n] = static_cast<int>(bucket / outer);
    others[n] = static_cast<int>(bucket % outer);
  }
  cpu::bucket_system_kernels().products(counts_.at(buckets[0]).data(), first.data(),
                                        folded_.at({buckets[1], buckets[2]}).data(), others.data(), cells,
                                        static_cast<int>(flat.size()), tails.data());
  return tails;
}

}  // namespace sfft::detail
