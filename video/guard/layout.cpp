// SPDX-License-Identifier: Apache-2.0
// The low block has about the same finest wavelength in both directions. Rings leave out frequencies near the
// axes, which contain the jump between opposite edges of the picture. That jump stays in place when the scene
// moves or blurs.
#include "video/guard/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sfft/error.hpp"

namespace sfft::video {

namespace {

constexpr std::int64_t kSmallestSide = 48;
/// Frequencies this close to an axis do not count as detail.
constexpr int kAxis = 2;

bool smooth(std::int64_t n) {
  for (const std::int64_t p : {2, 3, 5, 7})
    while (n % p == 0) n /= p;
  return n == 1;
}

std::int64_t plannable_side(std::int64_t n) {
  for (const std::int64_t multiple : {16, 8, 4, 2}) {
    const std::int64_t min = n - n / 12;
    for (std::int64_t side = n / multiple * multiple; side >= min && side > 0; side -= multiple)
      if (smooth(side)) return side;
  }
  return n;
}

struct Candidate {
  float power;
  int x, y;
};

}  // namespace

Region plannable(const Region& region) {
  Region inner = region;
  inner.width = plannable_side(region.width);
  inner.height = plannable_side(region.height);
  inner.x += (region.width - inner.width) / 2;
  inner.y += (region.height - inner.height) / 2;
  return inner;
}

void Layout::gather_block(std::span<const std::complex<float>> values,
                          std::vector<std::complex<float>>& low) const {
  low.resize(block.size());
  for (std::size_t i = 0; i < block.size(); ++i) low[i] = values[block[i]];
  for (int fy = 1; fy <= rows; ++fy) low[at(0, -fy)] = std::conj(low[at(0, fy)]);
}

Layout make_layout(const Region& region, std::span<const std::complex<float>> mean,
                   std::span<const float> power, int k) {
  const auto width = static_cast<int>(region.width);
  const auto height = static_cast<int>(region.height);
  if (width < kSmallestSide || height < kSmallestSide) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a picture of {}x{} is too small to be guarded: it needs {}x{}", width, height,
                            kSmallestSide, kSmallestSide));
  }
  Layout layout;
  layout.region = region;
  const double low = 0.28 * k;  // (columns + 1)(2 rows + 1) is a little more than twice this
  const double aspect = static_cast<double>(width) / height;
  layout.columns = std::clamp(static_cast<int>(std::lround(std::sqrt(low * aspect))), 6, width / 4);
  layout.rows = std::clamp(static_cast<int>(std::lround(std::sqrt(low / aspect))), 6, height / 4);

  const int half = width / 2 + 1;
  const double first = std::max(static_cast<double>(layout.columns + 1) / width,
                                static_cast<double>(layout.rows + 1) / height);
  std::vector<std::vector<Candidate>> rings(kRings);
  for (int row = 0; row < height; ++row) {
    const int fy = 2 * row > height ? row - height : row;
    if (std::abs(fy) <= kAxis) continue;
    const double vertical = static_cast<double>(fy) / height;
    for (int fx = kAxis + 1; fx < half - 1; ++fx) {
      const double horizontal = static_cast<double>(fx) / width;
      const double cycles = std::hypot(horizontal, vertical);
      if (cycles >= kFinestCycles) break;
      if (fx <= layout.columns && std::abs(fy) <= layout.rows) continue;
      const auto i =
          static_cast<std::size_t>(row) * static_cast<std::size_t>(half) + static_cast<std::size_t>(fx);
      const float steady = std::norm(mean[i]);
      if (steady < 0.5F * power[i]) continue;  // mostly what moves
      const double place = kRings * std::log(cycles / first) / std::log(kFinestCycles / first);
      const auto ring = static_cast<std::size_t>(std::clamp(place, 0.0, kRings - 1.0));
      rings[ring].push_back({steady, fx, fy});
    }
  }
  const auto each =
      static_cast<std::size_t>(std::max(8, (k - (layout.columns + 1) * (2 * layout.rows + 1)) / kRings));
  std::vector<std::pair<std::int64_t, int>> places;  // linear index, ring or -1
  const auto flat = [&](int fx, int fy) {
    return static_cast<std::int64_t>(fy < 0 ? fy + height : fy) * width + fx;
  };
  for (int fx = 0; fx <= layout.columns; ++fx)
    for (int fy = fx == 0 ? 0 : -layout.rows; fy <= layout.rows; ++fy) places.push_back({flat(fx, fy), -1});
  for (int ring = 0; ring < kRings; ++ring) {
    std::vector<Candidate>& all = rings[static_cast<std::size_t>(ring)];
    const std::size_t count = std::min(each, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                      [](const Candidate& a, const Candidate& b) { return a.power > b.power; });
    for (std::size_t i = 0; i < count; ++i) places.push_back({flat(all[i].x, all[i].y), ring});
  }
  std::ranges::sort(places);
  layout.rings.resize(kRings);
  for (const auto& [index, ring] : places) {
    const auto row = static_cast<int>(index / width);
    if (ring >= 0) layout.rings[static_cast<std::size_t>(ring)].push_back(layout.support.size());
    layout.support.push_back(index);
    layout.frequencies.push_back({static_cast<int>(index % width), 2 * row > height ? row - height : row});
  }
  layout.block.resize(static_cast<std::size_t>((layout.columns + 1) * (2 * layout.rows + 1)));
  for (int fx = 0; fx <= layout.columns; ++fx) {
    for (int fy = -layout.rows; fy <= layout.rows; ++fy) {
      const std::int64_t index = fx == 0 ? flat(0, std::abs(fy)) : flat(fx, fy);
      layout.block[layout.at(fx, fy)] =
          static_cast<std::size_t>(std::ranges::lower_bound(layout.support, index) - layout.support.begin());
    }
  }
  return layout;
}

}  // namespace sfft::video
