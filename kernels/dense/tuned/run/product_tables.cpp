// SPDX-License-Identifier: Apache-2.0
// Chooses the scale of a DFT's cosines and sines, and arranges them as the lanes hold them.
#include "kernels/dense/tuned/run/product_tables.hpp"

#include <bit>
#include <cmath>
#include <complex>

#include "kernels/base/storage/half.hpp"
#include "kernels/dense/tuned/run/tables.hpp"

namespace sfft::detail::tuned {

namespace {

std::uint32_t halves(double low, double high) {
  return to_f16(static_cast<float>(low)).bits |
         static_cast<std::uint32_t>(to_f16(static_cast<float>(high)).bits) << 16;
}

}  // namespace

ProductScale product_scale(int points) {
  constexpr int kTried = 1 << 12;
  const Table all = roots(points, points);
  ProductScale best{1, HUGE_VAL};
  for (int i = 0; i < kTried; ++i) {
    const double scale = 1 + static_cast<double>(i) / kTried;
    double sum = 0;
    for (const std::complex<double>& root : all) {
      for (const double part : {scale * root.real(), scale * root.imag()}) {
        const double error = to_float(to_f16(static_cast<float>(part))) - part;
        sum += error * error;
      }
    }
    const double error = std::sqrt(sum / points) / scale;
    if (error < best.error) best = {scale, error};
  }
  return best;
}

std::vector<std::uint32_t> product_tables(const ProductLayout& layout, bool inverse) {
  const int n = layout.points;
  const Table all = roots(n, n);
  const double scale = product_scale(n).value;
  std::vector<std::uint32_t> words;
  for (int tile = 0; tile < layout.out_tiles * layout.in_tiles; ++tile) {
    for (const bool sines : {false, true}) {
      const auto entry = [&](int row, int i) {
        const int k = ProductLayout::output(n, layout.out_tiles, tile / layout.in_tiles, row),
                  point = ProductLayout::point(layout.row_step, i / 4, 4 * (tile % layout.in_tiles) + i % 4);
        if (2 * k > n || point >= n) return 0.0;
        const std::complex<double> w = scale * all[static_cast<std::size_t>(k * point % n)];
        return !sines ? w.real() : inverse ? w.imag() : -w.imag();
      };
      for (int lane = 0; lane < 32; ++lane) {
        for (int word = 0; word < 4; ++word) {
          const int row = lane / 4 + word % 2 * 8, i = lane % 4 * 4 + word / 2 * 2;
          words.push_back(halves(entry(row, i), entry(row, i + 1)));
        }
      }
    }
  }
  words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(1 / scale)));
  return words;
}

}  // namespace sfft::detail::tuned
