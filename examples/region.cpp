// SPDX-License-Identifier: Apache-2.0
// SignalView::rows(): transforms a region of a larger image in place, without copying it out first.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  // An 8-bit image of 600 by 800. The region has 256 rows and 512 columns, starting at row 100 and column
  // 200.
  constexpr std::int64_t rows = 600, columns = 800, top = 100, left = 200;
  const sfft::Shape region{256, 512};
  std::vector<std::uint8_t> image;
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t x = 0; x < columns; ++x) {
      const double turns = static_cast<double>(9 * (x - left)) / 512;
      image.push_back(static_cast<std::uint8_t>(128.5 + 100 * std::cos(2 * std::numbers::pi * turns)));
    }
  }

  // The first element, the region's shape, and the distance from row to row. For an OpenCV matrix `m` of
  // bytes: SignalView::rows(m.ptr<std::uint8_t>(), {m.rows, m.cols}, m.step1()).
  const auto view = sfft::SignalView::rows(image.data() + top * columns + left, region, columns);

  const sfft::Template tmpl = sfft::learn(view, {.keep = sfft::Largest{2}});
  const sfft::Spectrum<double> spectrum = sfft::transform(view, tmpl);
  bool found = false;
  for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
    const std::int64_t f = (*spectrum.support)[i];
    const double amplitude =
        std::abs(spectrum.values[i]) / static_cast<double>(region.points()) * (f == 0 ? 1 : 2);
    std::printf("frequency (%lld, %lld): amplitude %.1f\n", static_cast<long long>(f / region[1]),
                static_cast<long long>(f % region[1]), amplitude);
    found = found || ((f == 9 || f == 512 - 9) && std::abs(amplitude - 100) < 1);
  }
  return found ? 0 : 1;
}
