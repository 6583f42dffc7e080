// SPDX-License-Identifier: Apache-2.0
// Signals of any size whose every output is known. They are products of short factors: one per dimension or,
// for a line, one for the high and one for the low part of the index. No output of random factors is small.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "bench/threads.hpp"
#include "sfft/types.hpp"

namespace sfft::bench {

class ProductSignal {
 public:
  ProductSignal(const Shape& shape, bool real) : shape_(shape), real_(real) {
    std::mt19937 generator(7);
    std::uniform_real_distribution<float> values(-1, 1);
    const auto add = [&](int dimension, std::int64_t length, std::int64_t stride) {
      Factor factor{dimension, stride, {}};
      for (std::int64_t i = 0; i < length; ++i) {
        const float re = values(generator);
        factor.values.emplace_back(re, real ? 0 : values(generator));
      }
      factors_.push_back(std::move(factor));
    };
    if (shape.rank() > 1) {
      for (int d = 0; d < shape.rank(); ++d) add(d, shape[d], 1);
      return;
    }
    std::int64_t low = 1;
    for (std::int64_t n = 1; n * n <= shape[0]; ++n)
      if (shape[0] % n == 0) low = n;
    add(0, shape[0] / low, low);
    add(0, low, 1);
  }

  /// Fills complex values without gaps, or real ones in rows that begin `pitch` apart. Uses several threads,
  /// so that several threads touch fresh memory first.
  void fill(float* array, std::int64_t pitch, int threads) const {
    const std::vector<std::complex<float>>& last = factors_.back().values;
    const auto row = static_cast<std::int64_t>(last.size()), rows = shape_.points() / row;
    // In a line, a row is a part.
    const std::int64_t step = !real_ ? 2 * row : shape_.rank() > 1 ? pitch : row;
    each_in_parts(rows, threads, [&](std::int64_t r) {
      std::complex<float> others = 1;
      std::int64_t index = r;
      for (std::size_t f = factors_.size() - 1; f-- > 0;) {
        const auto& values = factors_[f].values;
        const auto length = static_cast<std::int64_t>(values.size());
        others = times(others, values[static_cast<std::size_t>(index % length)]);
        index /= length;
      }
      float* const to = array + r * step;
      for (std::int64_t i = 0; i < row; ++i) {
        const std::complex<float> value = times(others, last[static_cast<std::size_t>(i)]);
        if (real_) {
          to[i] = value.real();
        } else {
          to[2 * i] = value.real();
          to[2 * i + 1] = value.imag();
        }
      }
    });
  }

  /// Relative error of randomly drawn outputs of spectra or half spectra without gaps, against direct sums.
  double error(const std::complex<float>* spectrum, int threads) const {
    constexpr std::int64_t kOutputs = 10000;
    const std::int64_t row = shape_[shape_.rank() - 1], kept = real_ ? row / 2 + 1 : row;
    std::mt19937_64 generator(11);
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < kOutputs; ++i)
      places.push_back(
          static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(shape_.points() / row * kept)));
    std::vector<double> differences(places.size()), norms(places.size());
    each_in_parts(kOutputs, threads, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      const std::complex<double> expected = output(places[at], kept);
      differences[at] = std::norm(std::complex<double>(spectrum[places[at]]) - expected);
      norms[at] = std::norm(expected);
    });
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      difference += differences[i];
      norm += norms[i];
    }
    return std::sqrt(difference / norm);
  }

 private:
  /// Values at multiples of a stride in one dimension.
  struct Factor {
    int dimension;
    std::int64_t stride;
    std::vector<std::complex<float>> values;
  };

  static std::complex<float> times(const std::complex<float>& a, const std::complex<float>& b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  std::complex<double> output(std::int64_t place, std::int64_t kept) const {
    std::vector<std::int64_t> frequency(static_cast<std::size_t>(shape_.rank()));
    for (int d = shape_.rank() - 1; d >= 0; --d) {
      const std::int64_t n = d + 1 == shape_.rank() ? kept : shape_[d];
      frequency[static_cast<std::size_t>(d)] = place % n;
      place /= n;
    }
    std::complex<double> product = 1;
    for (const Factor& factor : factors_) {
      const std::int64_t n = shape_[factor.dimension];
      // The exact fraction of a turn, in units of 1/n, from one value to the next.
      const auto turn = static_cast<std::int64_t>(
          static_cast<unsigned __int128>(factor.stride) *
          static_cast<unsigned __int128>(frequency[static_cast<std::size_t>(factor.dimension)]) %
          static_cast<unsigned __int128>(n));
      std::complex<double> sum = 0;
      std::int64_t angle = 0;
      for (const std::complex<float>& value : factor.values) {
        const double radians = -2 * std::numbers::pi * static_cast<double>(angle) / static_cast<double>(n);
        sum += std::complex<double>(value) * std::polar(1.0, radians);
        angle += turn;
        if (angle >= n) angle -= n;
      }
      product *= sum;
    }
    return product;
  }

  Shape shape_;
  bool real_;
  std::vector<Factor> factors_;  ///< from the slowest index to the fastest
};

}  // namespace sfft::bench
