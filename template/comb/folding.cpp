// SPDX-License-Identifier: Apache-2.0
// Keeps tables per divisor: a search examines hundreds of grids whose sides are the same few divisors. Counts
// for a divisor are sums of the counts for one of its multiples, if these are known.
#include "template/comb/folding.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <set>

#include "kernels/base/math/fast_divisor.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/cpu/stages/bucket_systems.hpp"

namespace sfft::detail {

namespace {

/// Cells of a row, padded for the kernels.
int padded(int cells) {
  return (cells + cpu::kSystemLanes - 1) / cpu::kSystemLanes * cpu::kSystemLanes;
}

}  // namespace

Folding::Folding(const SupportSet& support, const SpectralPrior& prior)
    : support_(support), prior_(prior), cells_(support.shape), white_(prior.tail.zero()) {
  tail_at_members_.reserve(support.members.size());
  for (const SupportMember& member : support.members)
    tail_at_members_.push_back(white_ ? 1 : prior.tail.power[cells_.cell(member.f)]);
  for (std::size_t d = 0; d < static_cast<std::size_t>(support.shape.rank()); ++d) {
    if (support.shape[static_cast<int>(d)] > kMaxBuckets) continue;
    coordinates_[d].reserve(support.members.size());
    for (const SupportMember& member : support.members)
      coordinates_[d].push_back(static_cast<std::uint32_t>(member.f[d]));
  }
  if (white_) return;
  if (cells_.rank() == 1) {
    tail_ = prior.tail.power;
    tail_.resize(static_cast<std::size_t>(padded(cells_.axis(0).cells())));
  } else if (cells_.rank() == 2) {
    const auto first = static_cast<std::size_t>(cells_.axis(0).cells());
    const auto last = static_cast<std::size_t>(cells_.axis(1).cells());
    const auto row = static_cast<std::size_t>(padded(cells_.axis(0).cells()));
    columns_.resize(last * row);
    for (std::size_t c = 0; c < first; ++c) {
      for (std::size_t e = 0; e < last; ++e) columns_[e * row + c] = prior.tail.power[c * last + e];
    }
  }
}

void Folding::add_residues(std::size_t d, std::int64_t divisor) {
  std::vector<std::int32_t>& residues = residues_[d][divisor];
  if (!residues.empty()) return;
  residues.resize(support_.members.size());
  if (const std::vector<std::uint32_t>& f = coordinates_[d]; !f.empty()) {
    const FastDivisor by(static_cast<std::uint32_t>(divisor));
    for (std::size_t i = 0; i < residues.size(); ++i)
      residues[i] = static_cast<std::int32_t>(f[i] - by.divide(f[i]) * by.divisor);
  } else {
    for (std::size_t i = 0; i < residues.size(); ++i)
      residues[i] = static_cast<std::int32_t>(support_.members[i].f[d] % divisor);
  }
}

const std::vector<double>& Folding::counts(std::size_t d, std::int64_t divisor) {
  std::vector<double>& counts = counts_[d][divisor];
  if (!counts.empty()) return counts;
  const CellAxis& axis = cells_.axis(static_cast<int>(d));
  const auto row = static_cast<std::size_t>(padded(axis.cells()));
  const auto rows = static_cast<std::size_t>(divisor);
  counts.resize(rows * row);
  const auto multiple = std::find_if(
      counts_[d].upper_bound(divisor), counts_[d].end(),
      [divisor](const auto& entry) { return entry.first % divisor == 0 && !entry.second.empty(); });
  if (multiple != counts_[d].end()) {
    const std::vector<double>& from = multiple->second;
    for (std::size_t i = 0; i < from.size(); i += counts.size()) {
      for (std::size_t j = 0; j < counts.size(); ++j) counts[j] += from[i + j];
    }
    return counts;
  }
  // Cells are symmetric in f and −f, so the counts of residues b and −b are equal.
  for (std::size_t b = 0; b <= rows / 2; ++b) {
    axis.counts(static_cast<std::int64_t>(b), divisor, &counts[b * row]);
    if (b > 0 && b != rows - b)
      std::copy_n(counts.begin() + static_cast<std::ptrdiff_t>(b * row), row,
                  counts.begin() + static_cast<std::ptrdiff_t>((rows - b) * row));
  }
  return counts;
}

/// Folds the last of two dimensions into buckets: [bucket][cell of the first].
std::vector<double> Folding::fold_last(std::int64_t divisor) const {
  const std::vector<double>& weights = counts_[1].at(divisor);
  const int cells = cells_.axis(1).cells(), row = padded(cells_.axis(0).cells());
  const int step = padded(cells);
  std::vector<double> folded(static_cast<std::size_t>(divisor * row));
  for (std::int64_t b = 0; b < divisor; ++b) {
    double* const to = &folded[static_cast<std::size_t>(b * row)];
    if (2 * b > divisor) {
      std::copy_n(&folded[static_cast<std::size_t>((divisor - b) * row)], row, to);
    } else {
      cpu::bucket_system_kernels().mixture(&weights[static_cast<std::size_t>(b * step)], columns_.data(),
                                           cells, row, to);
    }
  }
  return folded;
}

void Folding::prepare(const Grid& buckets) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(support_.shape.rank()); ++d)
    add_residues(d, buckets[d]);
  add_tails(buckets);
}

void Folding::add_tails(const Grid& buckets) {
  const int rank = cells_.rank();
  if (white_ || rank == 1) return;
  static_cast<void>(counts(0, buckets[0]));
  std::vector<double>& folded = folded_[{buckets[1], buckets[2]}];
  if (!folded.empty()) return;
  if (rank == 2) {
    static_cast<void>(counts(1, buckets[1]));
    folded = fold_last(buckets[1]);
    return;
  }
  const auto first_cells = static_cast<std::size_t>(cells_.axis(0).cells());
  const auto row = static_cast<std::size_t>(padded(cells_.axis(0).cells()));
  const std::vector<double> sums = cells_.bucket_sums(prior_.tail, buckets, 1);
  const auto outer = static_cast<std::size_t>(buckets[1] * buckets[2]);
  folded.resize(outer * row);
  for (std::size_t c = 0; c < first_cells; ++c) {
    for (std::size_t b = 0; b < outer; ++b) folded[b * row + c] = sums[c * outer + b];
  }
}

void Folding::prepare(std::span<const Grid> grids, cpu::ThreadPool* pool, bool members) {
  using Divisors = std::set<std::int64_t, std::greater<>>;  // multiples first
  std::array<Divisors, 3> divisors;
  for (const Grid& grid : grids) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(support_.shape.rank()); ++d)
      divisors[d].insert(grid[d]);
  }
  // A job is a table of residues, or all counts along a dimension. Maps that several threads use get their
  // keys before the threads start.
  const int rank = cells_.rank();
  const std::size_t counted = white_ || rank == 1 ? 0 : rank == 2 ? 2 : 1;
  std::vector<std::pair<std::size_t, std::int64_t>> residues;
  for (std::size_t d = 0; d < 3 && members; ++d) {
    for (const std::int64_t divisor : divisors[d]) {
      if (residues_[d][divisor].empty()) residues.emplace_back(d, divisor);
    }
  }
  cpu::for_each(pool, counted + residues.size(), [&](std::size_t n, int) {
    if (n >= counted) {
      const auto& [d, divisor] = residues[n - counted];
      return add_residues(d, divisor);
    }
    for (const std::int64_t divisor : divisors[n]) static_cast<void>(counts(n, divisor));
  });
  if (counted == 2) {
    std::vector<std::int64_t> folds;
    for (const std::int64_t divisor : divisors[1]) {
      if (folded_[{divisor, 1}].empty()) folds.push_back(divisor);
    }
    cpu::for_each(pool, folds.size(), [&](std::size_t n, int) {
      folded_.at({folds[n], 1}) = fold_last(folds[n]);
    });
  }
  for (const Grid& grid : grids) add_tails(grid);
}

std::vector<std::int32_t> Folding::buckets_of_members(const Grid& buckets) const {
  std::vector<std::int32_t> flat;
  buckets_of_members(buckets, flat);
  return flat;
}

void Folding::buckets_of_members(const Grid& buckets, std::vector<std::int32_t>& flat) const {
  flat = residues_[0].at(buckets[0]);
  for (std::size_t d = 1; d < static_cast<std::size_t>(support_.shape.rank()); ++d) {
    const auto extent = static_cast<std::int32_t>(buckets[d]);
    const std::vector<std::int32_t>& residues = residues_[d].at(buckets[d]);
    for (std::size_t i = 0; i < flat.size(); ++i) flat[i] = flat[i] * extent + residues[i];
  }
}

void Folding::buckets_of(std::span<const std::size_t> members, const Grid& buckets,
                         std::vector<std::int32_t>& flat) const {
  flat.assign(members.size(), 0);
  for (std::size_t d = 0; d < static_cast<std::size_t>(support_.shape.rank()); ++d) {
    const auto extent = static_cast<std::int32_t>(buckets[d]);
    if (const std::vector<std::uint32_t>& f = coordinates_[d]; !f.empty()) {
      const FastDivisor by(static_cast<std::uint32_t>(buckets[d]));
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::uint32_t at = f[members[i]];
        flat[i] = flat[i] * extent + static_cast<std::int32_t>(at - by.divide(at) * by.divisor);
      }
    } else {
      for (std::size_t i = 0; i < members.size(); ++i)
        flat[i] =
            flat[i] * extent + static_cast<std::int32_t>(support_.members[members[i]].f[d] % buckets[d]);
    }
  }
}

std::vector<double> Folding::tails_of(std::span<const std::int32_t> flat, const Grid& buckets) const {
  Scratch scratch;
  std::vector<double> tails;
  tails_of(flat, buckets, scratch, tails);
  return tails;
}

void Folding::tails_of(std::span<const std::int32_t> flat, const Grid& buckets, Scratch& scratch,
                       std::vector<double>& tails) const {
  if (white_) {
    const std::int64_t aliases = support_.shape.points() / (buckets[0] * buckets[1] * buckets[2]);
    tails.assign(flat.size(), static_cast<double>(aliases));
    return;
  }
  const auto cells = padded(cells_.axis(0).cells());
  tails.resize(flat.size());
  if (cells_.rank() == 1) {
    std::array<double, CellAxis::kMaxCells + 8> counts{};
    const int zero = 0;
    for (std::size_t n = 0; n < flat.size(); ++n) {
      cells_.axis(0).counts(flat[n], buckets[0], counts.data());
      cpu::bucket_system_kernels().products(counts.data(), &zero, tail_.data(), &zero, cells, 1, &tails[n]);
    }
    return;
  }
  const FastDivisor outer(static_cast<std::uint32_t>(buckets[1] * buckets[2]));
  std::vector<int>&first = scratch.first, &others = scratch.others;
  first.resize(flat.size());
  others.resize(flat.size());
  for (std::size_t n = 0; n < flat.size(); ++n) {
    const auto bucket = static_cast<std::uint32_t>(flat[n]);
    first[n] = static_cast<int>(outer.divide(bucket));
    others[n] = static_cast<int>(bucket - static_cast<std::uint32_t>(first[n]) * outer.divisor);
  }
  cpu::bucket_system_kernels().products(counts_[0].at(buckets[0]).data(), first.data(),
                                        folded_.at({buckets[1], buckets[2]}).data(), others.data(), cells,
                                        static_cast<int>(flat.size()), tails.data());
}

std::vector<double> Folding::tails(const Grid& buckets) const {
  const std::int64_t total = buckets[0] * buckets[1] * buckets[2];
  if (white_) {
    return std::vector<double>(static_cast<std::size_t>(total),
                               static_cast<double>(support_.shape.points() / total));
  }
  if (cells_.rank() == 1) return cells_.bucket_sums(prior_.tail, buckets);
  // A row of buckets is a weighted sum of rows, one for each cell of the first dimension.
  const std::vector<double>& folded = folded_.at({buckets[1], buckets[2]});
  const std::vector<double>& weights = counts_[0].at(buckets[0]);
  const int cells = cells_.axis(0).cells(), step = padded(cells);
  const auto outer = static_cast<std::size_t>(buckets[1] * buckets[2]);
  const auto row = static_cast<std::size_t>(padded(static_cast<int>(outer)));
  std::vector<double> rows(static_cast<std::size_t>(cells) * row), sums(row);
  for (std::size_t b = 0; b < outer; ++b) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(cells); ++c)
      rows[c * row + b] = folded[b * static_cast<std::size_t>(step) + c];
  }
  std::vector<double> tails;
  tails.reserve(static_cast<std::size_t>(total));
  for (std::int64_t b = 0; b < buckets[0]; ++b) {
    cpu::bucket_system_kernels().mixture(&weights[static_cast<std::size_t>(b * step)], rows.data(), cells,
                                         static_cast<int>(row), sums.data());
    tails.insert(tails.end(), sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(outer));
  }
  return tails;
}

}  // namespace sfft::detail
