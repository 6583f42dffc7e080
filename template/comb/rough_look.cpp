// SPDX-License-Identifier: Apache-2.0
// One pass over the coefficients serves all grids. Threads process coefficients in parts, whose sums are
// added in a fixed order: the result does not depend on the number of threads.
#include "template/comb/rough_look.hpp"

#include <algorithm>

#include "kernels/base/index.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "template/comb/alias_tails.hpp"

namespace sfft::detail {

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
