// SPDX-License-Identifier: Apache-2.0
// Chooses scales of matrices and puts their numbers where lanes hold them.
#include "kernels/dense/tuned/run/matrix_tables.hpp"

#include <bit>
#include <cmath>
#include <complex>

#include "kernels/base/half.hpp"
#include "kernels/dense/tuned/run/tables.hpp"

namespace sfft::detail::tuned {

namespace {

/// The power of two by which results between the products are smaller.
constexpr double kRoom = 2;

std::uint32_t halves(double low, double high) {
  return to_f16(static_cast<float>(low)).bits |
         static_cast<std::uint32_t>(to_f16(static_cast<float>(high)).bits) << 16;
}

/// A DFT's matrix times `scale`: `output(tile, g)` is in row g of a tile, `point(t, i)` is the i-th one of
/// lane t. Rows are eight real parts, then eight imaginary ones.
template <class Output, class Point>
void add_matrix(int radix, int tiles, double scale, bool inverse, Output output, Point point,
                std::vector<std::uint32_t>& words) {
  const Table all = roots(radix, radix);
  for (int tile = 0; tile < tiles * tiles; ++tile) {
    for (int lane = 0; lane < 32; ++lane) {
      const int k = output(tile / tiles, lane / 4);
      for (int half = 0; half < 2; ++half) {
        const int n = point(lane % 4, 2 * (tile % tiles) + half);
        std::complex<double> w = 0;
        if (k < radix && n < radix) w = scale * all[static_cast<std::size_t>(k * n % radix)];
        if (inverse) w = std::conj(w);
        words.push_back(halves(w.real(), -w.imag()));
        words.push_back(halves(w.imag(), w.real()));
      }
    }
  }
}

}  // namespace

double matrix_scale(int radix) {
  constexpr int kTried = 1 << 14;
  const Table all = roots(radix, radix);
  double best = 1, least = HUGE_VAL;
  for (int i = 0; i < kTried; ++i) {
    const double scale = 1 + static_cast<double>(i) / kTried;
    double error = 0;
    for (const std::complex<double>& root : all) {
      for (const double part : {scale * root.real(), scale * root.imag()})
        error += std::pow(to_float(to_f16(static_cast<float>(part))) - part, 2);
    }
    error /= scale * scale;
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

std::vector<std::uint32_t> matrix_tables(const MatrixLayout& layout, bool inverse) {
  const double first = matrix_scale(layout.first), second = kRoom * matrix_scale(layout.second);
  std::vector<std::uint32_t> words;
  add_matrix(
      layout.first, layout.first_tiles, first, inverse, MatrixLayout::output,
      [&](int t, int i) { return MatrixLayout::row(layout.row_step, t, i); }, words);
  add_matrix(
      layout.second, layout.second_tiles, second, inverse,
      [](int tile, int g) { return MatrixLayout::kEdge * tile + g; }, MatrixLayout::point, words);
  const Table all = roots(layout.points(), layout.points());
  for (int tile = 0; tile < layout.first_tiles * layout.second_tiles; ++tile) {
    for (int lane = 0; lane < 32; ++lane) {
      const int k = MatrixLayout::output(tile / layout.second_tiles, lane / 4);
      for (int i = 0; i < 2; ++i) {
        const int n = MatrixLayout::point(lane % 4, 2 * (tile % layout.second_tiles) + i);
        std::complex<double> w = all[static_cast<std::size_t>(k * n % layout.points())] / (first * second);
        if (inverse) w = std::conj(w);
        for (const double part : {w.real(), w.imag()})
          words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(part)));
      }
    }
  }
  return words;
}

}  // namespace sfft::detail::tuned
