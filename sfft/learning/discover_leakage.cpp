// SPDX-License-Identifier: Apache-2.0
// Collects what is known of a spectrum for the search for leakage, from rounds or a dense transform.
#include "sfft/learning/discover_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "template/data/template_data.hpp"

namespace sfft::detail {

namespace {

/// Neighbours per wanted frequency, and the number added to them: a tone is recognised by a few neighbours on
/// each side and axis.
constexpr std::int64_t kNeighbours = 4;
constexpr std::int64_t kFewestNeighbours = 256;
/// Maximum number of additional coefficients; more tell nothing new.
constexpr std::size_t kMaxKnown = 4096;

}  // namespace

std::int64_t with_neighbours(std::int64_t k, std::int64_t distinct) {
  const std::int64_t more =
      std::min(kNeighbours * k + kFewestNeighbours, static_cast<std::int64_t>(kMaxKnown));
  return std::min(distinct, k + more);
}

void keep_largest(Learned& learned, std::int64_t k) {
  const auto count = static_cast<std::int64_t>(learned.chosen.size());
  if (count <= k) return;
  std::vector<std::size_t> order(learned.chosen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(order.begin(), end - 1, order.end(), [&](std::size_t a, std::size_t b) {
    const RankedPower& one = learned.chosen[a];
    const RankedPower& other = learned.chosen[b];
    return one.power != other.power ? one.power > other.power : one.index < other.index;
  });
  const CellGrid grid(learned.layout.shape);
  for (auto cut = end; cut != order.end(); ++cut) {
    const RankedPower& one = learned.chosen[*cut];
    const std::int64_t flat = learned.layout.linear_index(one.index);
    learned.tail[grid.cell(coordinates(learned.layout.shape, flat))] +=
        learned.layout.multiplicity(one.index) * one.power;
    learned.largest_outside = std::max(learned.largest_outside, one.power);
  }
  std::sort(order.begin(), end);
  std::size_t kept = 0;
  for (auto i = order.begin(); i != end; ++i, ++kept) {
    learned.chosen[kept] = learned.chosen[*i];
    learned.values[kept] = learned.values[*i];
  }
  learned.chosen.resize(kept);
  learned.values.resize(kept);
}

std::vector<OffGridTone> suspected_tones(const Shape& shape, bool real, std::vector<KnownCoefficient> known,
                                         double bound) {
  if (known.size() > kMaxKnown) {
    const auto end = known.begin() + static_cast<std::ptrdiff_t>(kMaxKnown);
    std::nth_element(known.begin(), end, known.end(),
                     [](const auto& a, const auto& b) { return std::norm(a.value) > std::norm(b.value); });
    bound = std::max(bound, std::abs(end->value));
    known.resize(kMaxKnown);
    std::sort(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.flat < b.flat; });
  }
  return suspect_leakage({shape, real, known, bound});
}

std::vector<OffGridTone> suspected_tones(const Learned& learned) {
  const SpectrumLayout& layout = learned.layout;
  const double tail = std::accumulate(learned.tail.begin(), learned.tail.end(), 0.0);
  const double noise = tail / static_cast<double>(layout.shape.points());
  std::vector<KnownCoefficient> known;
  known.reserve(learned.chosen.size());
  for (std::size_t i = 0; i < learned.chosen.size(); ++i)
    known.push_back({layout.linear_index(learned.chosen[i].index), learned.values[i], noise});
  return suspected_tones(layout.shape, layout.real, std::move(known), std::sqrt(learned.largest_outside));
}

void report_leakage(Discovery& discovery, std::vector<OffGridTone> tones) {
  if (tones.empty()) return;
  discovery.leakage_suspected = true;
  const OffGridTone& strongest = tones.front();
  std::string where;
  for (std::size_t d = 0; d < strongest.frequency.size(); ++d) {
    // Axes beyond the signal's rank hold 0 ± 0.
    if (d > 0 && strongest.frequency[d] == 0 && strongest.standard_error[d] == 0) continue;
    where += fmt::format("{}{:.3f} ± {:.1g}", where.empty() ? "" : ", ", strongest.frequency[d],
                         strongest.standard_error[d]);
  }
  discovery.reason += fmt::format(
      ". Some coefficients look like the leakage of a tone between bins, the strongest at {}", where);
  discovery.off_grid_tones = std::move(tones);
}

}  // namespace sfft::detail
