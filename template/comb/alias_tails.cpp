// SPDX-License-Identifier: Apache-2.0
// Cells of the tail are summed dimension by dimension, the last one first, weighted by how many aliases they
// hold. Grids with equal sides share sums.
#include "template/comb/alias_tails.hpp"

#include <algorithm>

#include "kernels/cpu/stages/bucket_systems.hpp"

namespace sfft::detail {

namespace {

std::size_t padded(std::size_t cells) {
  constexpr auto kLanes = static_cast<std::size_t>(cpu::kSystemLanes);
  return (cells + kLanes - 1) / kLanes * kLanes;
}

/// The index of the entry that equals `entry`, which is appended if there is none.
template <class T, class Equal>
std::size_t number_of(std::vector<T>& entries, const T& entry, const Equal& equal) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const T& other) { return equal(other, entry); });
  if (found != entries.end()) return static_cast<std::size_t>(found - entries.begin());
  entries.push_back(entry);
  return entries.size() - 1;
}

}  // namespace

AliasTails::AliasTails(const Folding& folding, std::span<const Folding::Grid> grids)
    : folding_(folding), first_cells_(padded(static_cast<std::size_t>(folding.cells().axis(0).cells()))) {
  if (folding.white()) {
    const std::int64_t points = folding.support().shape.points();
    for (const auto& grid : grids)
      aliases_.push_back(static_cast<double>(points / (grid[0] * grid[1] * grid[2])));
    return;
  }
  const CellGrid& cells = folding.cells();
  const auto rank = static_cast<std::size_t>(cells.rank());
  std::array<std::size_t, 3> extent{1, 1, 1};
  for (std::size_t d = 0; d < rank; ++d)
    extent[d] = static_cast<std::size_t>(cells.axis(static_cast<int>(d)).cells());
  tail_.assign(extent[2] * extent[1] * first_cells_, 0.0);
  const double* from = folding.prior().tail.power.data();
  for (std::size_t a = 0; a < extent[0]; ++a) {
    for (std::size_t b = 0; b < extent[1]; ++b) {
      for (std::size_t c = 0; c < extent[2]; ++c) tail_[(c * extent[1] + b) * first_cells_ + a] = *from++;
    }
  }
  for (const auto& grid : grids) {
    std::size_t from_sum = 0;
    for (std::size_t d = rank; d-- > 1;) {
      from_sum = number_of(sums_[d], Sum{grid[d], from_sum},
                           [](const Sum& x, const Sum& y) { return x.side == y.side && x.from == y.from; });
    }
    sum_at_.push_back(static_cast<int>(from_sum));
    side_at_.push_back(
        static_cast<int>(number_of(sides_, grid[0], [](std::int64_t x, std::int64_t y) { return x == y; })));
  }
}

void AliasTails::of(const std::array<std::int64_t, 3>& f, Scratch& scratch, std::span<double> tails) const {
  if (folding_.white()) {
    std::copy(aliases_.begin(), aliases_.end(), tails.begin());
    return;
  }
  const cpu::BucketSystemKernels& kernels = cpu::bucket_system_kernels();
  const CellGrid& cells = folding_.cells();
  std::array<double, CellAxis::kMaxCells + 8> counts{};
  const double* from = tail_.data();
  std::size_t size = tail_.size();  // of each sum that `from` holds
  for (auto d = static_cast<std::size_t>(cells.rank()); d-- > 1;) {
    const CellAxis& axis = cells.axis(static_cast<int>(d));
    const std::size_t left = size / static_cast<std::size_t>(axis.cells());
    std::vector<double>& to = scratch.sums[d];
    to.resize(sums_[d].size() * left);
    std::int64_t counted = 0;
    for (std::size_t n = 0; n < sums_[d].size(); ++n) {
      const Sum& sum = sums_[d][n];
      if (sum.side != counted) axis.counts(f[d] % sum.side, sum.side, counts.data());
      counted = sum.side;
      kernels.mixture(counts.data(), from + sum.from * size, axis.cells(), static_cast<int>(left),
                      &to[n * left]);
    }
    from = to.data();
    size = left;
  }
  std::vector<double>& first = scratch.counts;
  first.resize(sides_.size() * size);
  for (std::size_t n = 0; n < sides_.size(); ++n)
    cells.axis(0).counts(f[0] % sides_[n], sides_[n], &first[n * size]);
  kernels.products(first.data(), side_at_.data(), from, sum_at_.data(), static_cast<int>(size),
                   static_cast<int>(side_at_.size()), tails.data());
}

}  // namespace sfft::detail
