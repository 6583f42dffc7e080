// SPDX-License-Identifier: Apache-2.0
// Signals with a known answer, made without the library: exactly sparse signals, noise, and short films.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <set>
#include <vector>

#include "bench/roots_of_one.hpp"
#include "sfft/types.hpp"

namespace sfft::test {

/// The coordinates of a row-major linear index.
inline std::vector<std::int64_t> split(const Shape& shape, std::int64_t flat) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(shape.rank()));
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at[static_cast<std::size_t>(d)] = flat % shape[d];
    flat /= shape[d];
  }
  return at;
}

inline std::int64_t negated(const Shape& shape, std::int64_t flat) {
  std::int64_t index = 0;
  for (int d = 0; const std::int64_t f : split(shape, flat)) {
    index = index * shape[d] + (shape[d] - f) % shape[d];
    ++d;
  }
  return index;
}

/// A signal that is exactly sparse: k frequencies (one of each conjugate pair if real) with amplitudes.
struct SparseSignal {
  Shape shape;
  bool real;
  std::vector<std::int64_t> support;  ///< ascending
  std::vector<std::complex<double>> values;

  static SparseSignal random(const Shape& shape, bool real, std::int64_t k, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::set<std::int64_t> chosen;
    for (int tries = 0; static_cast<std::int64_t>(chosen.size()) < k && tries < 100000; ++tries) {
      const auto f = static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(shape.points()));
      if (!real || !chosen.contains(negated(shape, f))) chosen.insert(f);
    }
    return with_support(shape, real, {chosen.begin(), chosen.end()}, seed);
  }

  static SparseSignal with_support(const Shape& shape, bool real, std::vector<std::int64_t> support,
                                   unsigned seed) {
    std::sort(support.begin(), support.end());
    SparseSignal signal{shape, real, std::move(support), {}};
    std::mt19937_64 generator(seed + 77);
    std::uniform_real_distribution<double> turn(0, 2 * std::numbers::pi), size(0.5, 2);
    for (const std::int64_t f : signal.support) {
      std::complex<double> value =
          std::polar(size(generator), turn(generator)) * static_cast<double>(shape.points());
      if (real && negated(shape, f) == f) value = value.real();
      signal.values.push_back(value);
    }
    return signal;
  }

  /// x[t] by definition, with phases reduced in integers.
  std::vector<std::complex<double>> samples() const {
    constexpr std::int64_t kBlock =
        256;  // neighbours that share a factor: their other factors are adjacent in memory
    const std::int64_t points = shape.points();
    std::vector<std::complex<double>> x(static_cast<std::size_t>(points));
    std::vector<std::vector<std::complex<double>>> roots;
    for (const std::int64_t n : shape.extents()) roots.push_back(roots_of_one<double>(n));
    const int last = shape.rank() - 1;
    const std::int64_t row = shape[last], block = std::min(row, kBlock);
    std::vector<std::complex<double>> block_roots(static_cast<std::size_t>(block));
    for (std::size_t i = 0; i < support.size(); ++i) {
      const std::vector<std::int64_t> f = split(shape, support[i]);
      const double twice = real && negated(shape, support[i]) != support[i] ? 2 : 1;
      const auto root_at = [&](std::int64_t m) {
        return roots[static_cast<std::size_t>(last)]
                    [static_cast<std::size_t>(f[static_cast<std::size_t>(last)] * m % row)];
      };
      for (std::int64_t j = 0; j < block; ++j) block_roots[static_cast<std::size_t>(j)] = root_at(j);
      for (std::int64_t start = 0; start < points; start += row) {
        const std::vector<std::int64_t> t = split(shape, start);
        std::complex<double> value = values[i] * (twice / static_cast<double>(points));
        for (int d = 0; d < last; ++d) {
          const auto at = static_cast<std::size_t>(d);
          value *= roots[at][static_cast<std::size_t>(f[at] * t[at] % shape[d])];
        }
        for (std::int64_t m = 0; m < row; m += block) {
          const std::complex<double> first = value * root_at(m);
          std::complex<double>* const out = &x[static_cast<std::size_t>(start + m)];
          const auto count = static_cast<std::size_t>(std::min(block, row - m));
          for (std::size_t j = 0; j < count; ++j) {
            const std::complex<double> root = block_roots[j];
            const double re = first.real() * root.real() - first.imag() * root.imag();
            const double im = real ? 0 : first.real() * root.imag() + first.imag() * root.real();
            out[j] += std::complex<double>(re, im);
          }
        }
      }
    }
    return x;
  }

  template <class T>
  std::vector<T> as() const {
    std::vector<T> converted;
    for (const std::complex<double>& value : samples()) {
      if constexpr (std::is_floating_point_v<T>) {
        converted.push_back(static_cast<T>(value.real()));
      } else {
        converted.emplace_back(value);
      }
    }
    return converted;
  }
};

/// X[f] of a real or complex signal by direct sum, for a few frequencies.
template <class T>
std::vector<std::complex<double>> direct_at(const std::vector<T>& x, const Shape& shape,
                                            const std::vector<std::int64_t>& frequencies) {
  std::vector<std::complex<double>> result;
  for (const std::int64_t flat : frequencies) {
    const std::vector<std::int64_t> f = split(shape, flat);
    std::complex<long double> sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::vector<std::int64_t> t = split(shape, static_cast<std::int64_t>(i));
      long double turns = 0;
      for (std::size_t d = 0; d < f.size(); ++d) {
        turns += static_cast<long double>(f[d] * t[d] % shape[static_cast<int>(d)]) /
                 static_cast<long double>(shape[static_cast<int>(d)]);
      }
      const long double angle = -2 * std::numbers::pi_v<long double> * turns;
      const std::complex<double> sample(x[i]);
      sum += std::complex<long double>(sample) * std::complex<long double>(std::cos(angle), std::sin(angle));
    }
    result.emplace_back(sum);
  }
  return result;
}

/// A fixed textured scene with a bright blob that moves along a line: frame t of a short 8-bit film.
inline std::vector<std::uint8_t> film_frame(std::int64_t rows, std::int64_t columns, int t,
                                            unsigned scene = 1) {
  std::mt19937 generator(scene);
  std::uniform_real_distribution<double> uniform(0, 1);
  struct Wave {
    double fy, fx, phase, size;
  };
  std::vector<Wave> waves;
  for (int i = 0; i < 24; ++i) {
    const double f = 1 + 40 * uniform(generator) * uniform(generator);
    const double angle = std::numbers::pi * uniform(generator);
    waves.push_back({f * std::sin(angle), f * std::cos(angle), 6.28 * uniform(generator), 30 / (1 + f)});
  }
  std::mt19937 sensor(scene * 7919 + static_cast<unsigned>(t));
  std::normal_distribution<double> noise(0, 0.7);
  const double cy = 0.5 * static_cast<double>(rows);
  const double cx = static_cast<double>(columns) * (0.1 + 0.01 * t);
  std::vector<std::uint8_t> frame;
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t x = 0; x < columns; ++x) {
      double value = 110;
      for (const Wave& w : waves) {
        value += w.size * std::cos(2 * std::numbers::pi *
                                       (w.fy * static_cast<double>(y) / static_cast<double>(rows) +
                                        w.fx * static_cast<double>(x) / static_cast<double>(columns)) +
                                   w.phase);
      }
      const double dy = (static_cast<double>(y) - cy) / (0.06 * static_cast<double>(rows));
      const double dx = (static_cast<double>(x) - cx) / (0.05 * static_cast<double>(columns));
      if (dy * dy + dx * dx < 1) value += 70;
      frame.push_back(static_cast<std::uint8_t>(std::clamp(value + noise(sensor), 0.0, 255.0)));
    }
  }
  return frame;
}

}  // namespace sfft::test
