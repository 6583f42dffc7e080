// SPDX-License-Identifier: Apache-2.0
// One pass over the coefficients serves all grids. Threads process coefficients in parts, whose sums are
// added in a fixed order: the result does not depend on the number of threads.
#include "template/comb/error_bounds.hpp"

#include <algorithm>

#include "kernels/base/math/index.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/cpu/stages/bucket_systems.hpp"

namespace sfft::detail {

namespace {

std::size_t padded(std::size_t cells) {
  constexpr auto kWidth = static_cast<std::size_t>(cpu::kSystemLanes);
  return (cells + kWidth - 1) / kWidth * kWidth;
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

struct RoughLook::Sums {
  std::vector<double> errors;  ///< per entry
  double near = 0, weights = 0;
};

void RoughLook::look(std::span<const Folding::Grid> grids, std::span<Entry> entries, cpu::ThreadPool* pool) {
  if (grids.empty() || members_.empty()) return;
  const AliasTails aliases(folding_, grids);
  const auto members = static_cast<double>(folding_.support().members.size());
  std::vector<double> shares;
  shares.reserve(entries.size());
  for (const Entry& entry : entries) {
    const Folding::Grid& grid = grids[entry.grid];
    const double others = (members - 1) / static_cast<double>(grid[0] * grid[1] * grid[2]);
    shares.push_back(1 / std::max(1.0, static_cast<double>(entry.delays) - others));
  }
  constexpr std::size_t kTogether = 8;
  std::vector<Sums> parts((members_.size() + kTogether - 1) / kTogether);
  const std::size_t middle = grids.size() / 2;
  cpu::for_each(pool, parts.size(), [&](std::size_t p, int) {
    Sums& sums = parts[p];
    sums.errors.assign(entries.size(), 0.0);
    AliasTails::Scratch scratch;
    std::vector<double> tails(grids.size());
    for (std::size_t i = p * kTogether; i < std::min((p + 1) * kTogether, members_.size()); ++i) {
      aliases.of(folding_.support().members[members_[i]].f, scratch, tails);
      const double own = folding_.tail_at_members()[members_[i]];
      for (double& tail : tails) tail = std::max(0.0, tail - own);
      for (std::size_t e = 0; e < entries.size(); ++e)
        sums.errors[e] += std::min(shares[e] * tails[entries[e].grid], power_[i]);
      if (folding_.white()) continue;
      const double weight = std::min(tails[middle], power_[i]);
      if (tails[middle] > 0) sums.near += weight * near_share(members_[i], grids[middle], tails[middle]);
      sums.weights += weight;
    }
  });
  double power = 1e-300, near = 0, weights = 1e-300;
  for (const double of_one : power_) power += of_one;
  for (const Sums& sums : parts) {
    for (std::size_t e = 0; e < entries.size(); ++e) entries[e].bound += sums.errors[e] / power;
    near += sums.near;
    weights += sums.weights;
  }
  resolution_ = 0.4 * near / weights;
}

/// The share of a member's aliasing tail that is at most one step away, minus the share that a white tail
/// would have there; at least 0.
double RoughLook::near_share(std::size_t member, const Folding::Grid& grid, double tail) const {
  const CellGrid& cells = folding_.cells();
  const Shape& shape = folding_.support().shape;
  std::array<std::int64_t, 3> reach{};
  double neighbours = 1;
  for (int d = 0; d < shape.rank(); ++d) {
    const auto axis = static_cast<std::size_t>(d);
    reach[axis] = grid[axis] < shape[d] ? 1 : 0;
    neighbours *= static_cast<double>(std::min<std::int64_t>(3, shape[d] / grid[axis]));
  }
  const auto aliases = static_cast<double>(shape.points() / (grid[0] * grid[1] * grid[2]));
  const std::array<std::int64_t, 3>& f = folding_.support().members[member].f;
  double power = -folding_.tail_at_members()[member];
  std::array<std::int64_t, 3> at{};
  for (std::int64_t a = -reach[0]; a <= reach[0]; ++a) {
    at[0] = floor_mod(f[0] + a * grid[0], shape[0]);
    for (std::int64_t b = -reach[1]; b <= reach[1]; ++b) {
      at[1] = floor_mod(f[1] + b * grid[1], shape[1]);
      for (std::int64_t c = -reach[2]; c <= reach[2]; ++c) {
        at[2] = floor_mod(f[2] + c * grid[2], shape[2]);
        power += folding_.prior().tail.power[cells.cell(at)];
      }
    }
  }
  return std::max(0.0, std::min(1.0, power / tail) - (neighbours - 1) / (aliases - 1));
}

}  // namespace sfft::detail
