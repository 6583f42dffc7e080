// SPDX-License-Identifier: Apache-2.0
// Draws steps coprime to the extents. If one line visits every sample, delays cut it into pieces. Otherwise
// they are random, and no whole line is taken twice.
#include "template/flat/flat_lines.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/base/index.hpp"
#include "kernels/base/lattice_line.hpp"

namespace sfft::detail {

std::int64_t line_period(const Shape& shape) {
  std::int64_t period = 1;
  for (const std::int64_t extent : shape.extents()) period = std::lcm(period, extent);
  return period;
}

FlatLineSource::FlatLineSource(const Shape& shape, std::uint64_t seed)
    : shape_(shape), period_(line_period(shape)), generator_(seed) {}

std::int64_t FlatLineSource::below(std::int64_t limit) {
  return static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(limit));
}

/// A start on the line that visits every sample, chosen so that `count` pieces do not overlap if there is
/// room.
std::array<std::int64_t, 3> FlatLineSource::piece(std::int64_t number, std::int64_t count,
                                                  const FlatLines& lines) {
  const std::int64_t share = period_ / count;
  const std::int64_t start = number * share + below(std::max<std::int64_t>(1, share - lines.taps + 1));
  std::array<std::int64_t, 3> delay{0, 0, 0};
  for (std::size_t d = 0; d < shape_.extents().size(); ++d) {
    const std::int64_t extent = shape_.extents()[d];
    delay[d] = multiply_mod(start % extent, lines.sigma[d], extent);
  }
  return delay;
}

/// The smallest index on the whole line through `delay`: delays with the same name are equivalent.
std::int64_t FlatLineSource::name(const std::array<std::int64_t, 3>& delay, const FlatLines& lines) const {
  std::int64_t min = shape_.points();
  walk_line(shape_.extents().data(), shape_.rank(), lines.sigma, delay, period_,
            [&](std::int64_t flat) { min = std::min(min, flat); });
  return min;
}

void FlatLineSource::draw(std::int64_t count, FlatLines& lines) {
  // Coprime steps have the longest period; random ones also spread the frequencies outside the template.
  lines.sigma = {0, 0, 0};
  for (std::size_t d = 0; d < shape_.extents().size(); ++d) {
    const std::int64_t extent = shape_.extents()[d];
    do {
      lines.sigma[d] = below(extent);
    } while (std::gcd(lines.sigma[d], extent) != 1);
  }
  lines.delays.clear();
  const std::int64_t cosets = shape_.points() / period_;
  // The comparison pays off only if two draws are likely to coincide.
  const bool compare = lines.full_period && count > 1 && cosets <= 16 * count;
  std::vector<std::int64_t> names;
  while (static_cast<std::int64_t>(lines.delays.size()) < count) {
    std::array<std::int64_t, 3> delay{0, 0, 0};
    if (cosets == 1) {
      delay = piece(static_cast<std::int64_t>(lines.delays.size()), count, lines);
    } else {
      for (std::size_t d = 0; d < shape_.extents().size(); ++d) delay[d] = below(shape_.extents()[d]);
    }
    if (compare) {
      const std::int64_t own = name(delay, lines);
      if (std::find(names.begin(), names.end(), own) != names.end()) continue;
      names.push_back(own);
    }
    lines.delays.push_back(delay);
  }
}

std::int64_t count_samples(const Shape& shape, const FlatLines& lines) {
  std::vector<std::int64_t> samples;
  samples.reserve(lines.delays.size() * static_cast<std::size_t>(lines.taps));
  for (const auto& delay : lines.delays) {
    walk_line(shape.extents().data(), shape.rank(), lines.sigma, delay, lines.taps,
              [&](std::int64_t flat) { samples.push_back(flat); });
  }
  std::sort(samples.begin(), samples.end());
  return std::unique(samples.begin(), samples.end()) - samples.begin();
}

}  // namespace sfft::detail
