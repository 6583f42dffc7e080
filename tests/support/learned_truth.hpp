// SPDX-License-Identifier: Apache-2.0
// Makes frames to learn from, and checks the learned templates against direct sums.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "bench/known_signals.hpp"
#include "sfft/template.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test {

using detail::TemplateData;
using DenseSpectrum = std::vector<std::complex<double>>;

/// A frame of any element type, and its samples as doubles.
struct Frame {
  Shape shape{1};
  ElementType type = ElementType::u8;
  std::vector<std::byte> bytes;
  DenseSpectrum samples;

  bool real() const { return !is_complex(type); }
  SignalView view() const { return {bytes.data(), samples.size(), type, shape}; }
};

template <class T>
struct PartOf {
  using Type = T;
};
template <class T>
struct PartOf<std::complex<T>> {
  using Type = T;
};

template <class T>
Frame make_frame(const Shape& shape, const DenseSpectrum& samples) {
  Frame frame{shape, element_type_of<T>::value, {}, {}};
  std::vector<T> own;
  for (const std::complex<double>& x : samples) {
    if constexpr (element_type_of<T>::value >= ElementType::s8) {
      using Part = typename PartOf<T>::Type;
      const auto part = [](double value) {
        return static_cast<Part>(std::clamp(30 * value, -125.0, 125.0) * (sizeof(Part) == 1 ? 1 : 250));
      };
      if constexpr (std::is_integral_v<T>)
        own.push_back(part(x.real()));
      else
        own.emplace_back(part(x.real()), part(x.imag()));
    } else if constexpr (std::is_integral_v<T>) {
      own.push_back(static_cast<T>(std::clamp(100 + 30 * x.real(), 0.0, 250.0) * (sizeof(T) == 1 ? 1 : 250)));
    } else if constexpr (std::is_floating_point_v<T>) {
      own.push_back(static_cast<T>(x.real()));
    } else {
      own.push_back(T(x));
    }
    if constexpr (std::is_arithmetic_v<T>)
      frame.samples.emplace_back(own.back());
    else
      frame.samples.emplace_back(own.back().real(), own.back().imag());
  }
  frame.bytes.resize(own.size() * sizeof(T));
  std::memcpy(frame.bytes.data(), own.data(), frame.bytes.size());
  return frame;
}

inline Frame make_frame(ElementType type, const Shape& shape, const DenseSpectrum& samples) {
  switch (type) {
    case ElementType::u8:
      return make_frame<std::uint8_t>(shape, samples);
    case ElementType::u16:
      return make_frame<std::uint16_t>(shape, samples);
    case ElementType::f32:
      return make_frame<float>(shape, samples);
    case ElementType::f64:
      return make_frame<double>(shape, samples);
    case ElementType::c64:
      return make_frame<std::complex<float>>(shape, samples);
    case ElementType::s8:
      return make_frame<std::int8_t>(shape, samples);
    case ElementType::s16:
      return make_frame<std::int16_t>(shape, samples);
    case ElementType::s32:
      return make_frame<std::int32_t>(shape, samples);
    case ElementType::cs8:
      return make_frame<std::complex<std::int8_t>>(shape, samples);
    case ElementType::cs16:
      return make_frame<std::complex<std::int16_t>>(shape, samples);
    default:
      break;
  }
  return make_frame<std::complex<double>>(shape, samples);
}

constexpr ElementType kTypes[] = {ElementType::u8,  ElementType::u16,  ElementType::f32, ElementType::f64,
                                  ElementType::c64, ElementType::c128, ElementType::s8,  ElementType::s16,
                                  ElementType::s32, ElementType::cs8,  ElementType::cs16};

/// Noise, a wave and a step: energy at low frequencies, at a tone, and everywhere.
inline DenseSpectrum drawn_samples(const Shape& shape, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  const double step = uniform(random), turns = uniform(random), noise = std::pow(10, -4 * uniform(random));
  DenseSpectrum x;
  for (std::int64_t t = 0; t < shape.points(); ++t) {
    const double wave = 2 * std::numbers::pi * turns * static_cast<double>(t);
    const double level = static_cast<double>(t) < step * static_cast<double>(shape.points()) ? 1.0 : -0.5;
    x.push_back(level + std::polar(0.7, wave) + noise * std::complex<double>(normal(random), normal(random)));
  }
  return x;
}

/// Computes direct sums, in two steps if a line is long.
inline DenseSpectrum exact_spectrum(const Frame& frame) {
  const std::int64_t n = frame.shape.points();
  if (frame.shape.rank() > 1 || n <= 2048) return direct_dft(frame.samples, frame.shape.extents());
  std::int64_t rows = 1;
  for (std::int64_t d = 2; d * d <= n; ++d) rows = n % d == 0 ? d : rows;
  const std::int64_t columns = n / rows;
  DenseSpectrum y = direct_dft_axis(frame.samples, 1, rows, columns);
  for (std::int64_t f = 0; f < rows; ++f) {
    for (std::int64_t t = 0; t < columns; ++t) {
      const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(f * t) /
                                static_cast<long double>(n);
      y[static_cast<std::size_t>(f * columns + t)] *=
          std::complex<double>(static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle)));
    }
  }
  const DenseSpectrum z = direct_dft_axis(y, rows, columns, 1);
  DenseSpectrum x(y.size());
  for (std::int64_t f1 = 0; f1 < rows; ++f1) {
    for (std::int64_t f2 = 0; f2 < columns; ++f2)
      x[static_cast<std::size_t>(f1 + rows * f2)] = z[static_cast<std::size_t>(f1 * columns + f2)];
  }
  return x;
}

/// The cell of |f| by its definition: f = 0 has a cell to itself, and each octave has two.
inline std::size_t cell_of(std::int64_t f, std::int64_t extent) {
  const auto magnitude = static_cast<std::uint64_t>(std::min(f, extent - f));
  if (magnitude < 2) return static_cast<std::size_t>(magnitude);
  const int octave = std::bit_width(magnitude) - 1;
  return static_cast<std::size_t>(2 * octave) + (magnitude >> (octave - 1) & 1U);
}

inline std::size_t cell_of(const Shape& shape, std::int64_t flat) {
  const std::vector<std::int64_t> f = split(shape, flat);
  std::size_t cell = 0;
  for (int d = 0; d < shape.rank(); ++d)
    cell = cell * (cell_of(shape[d] / 2, shape[d]) + 1) + cell_of(f[static_cast<std::size_t>(d)], shape[d]);
  return cell;
}

/// Whether the half spectrum keeps this frequency. Of a conjugate pair it keeps the one with the smaller last
/// coordinate, then the one with the smaller index.
inline bool represents(const Frame& frame, std::int64_t flat) {
  if (!frame.real()) return true;
  const std::int64_t last = frame.shape[frame.shape.rank() - 1];
  const std::int64_t other = negated(frame.shape, flat);
  return flat % last != other % last ? flat % last < other % last : flat <= other;
}

inline void expect_near(double got, double wanted, double bound, const std::string& what) {
  EXPECT_LE(std::abs(got - wanted), bound) << what << ": " << got << ", not " << wanted;
}

/// Compares everything in a template of the k largest coefficients with `exact`. With `keeps_mean` it also
/// contains f = 0.
inline void check(const Frame& frame, std::int64_t k, const Template& tmpl, const DenseSpectrum& exact,
                  bool keeps_mean = false) {
  const std::string what = frame.shape.to_string() + " " + to_string(frame.type) + " k " + std::to_string(k);
  const TemplateData& data = *detail::data_of(tmpl);
  ASSERT_EQ(tmpl.k(), k) << what;
  double energy = 0;
  for (const auto& x : exact) energy += std::norm(x);
  const auto points = static_cast<double>(exact.size());
  const double l2 = 4 * fft_bound<double>(points) * std::sqrt(energy);
  const double each = std::min(l2, 16 * l2 / std::sqrt(points));
  const std::vector<std::int64_t> support(tmpl.support().begin(), tmpl.support().end());
  ASSERT_TRUE(std::is_sorted(support.begin(), support.end())) << what;
  double min = std::numeric_limits<double>::infinity();
  double largest = 0, held = 0, tail = 0;
  std::vector<double> sums(data.tail_envelope.power.size(), 0.0), counts = sums, all = sums,
                                                                  all_counts = sums;
  for (std::int64_t flat = 0; flat < frame.shape.points(); ++flat) {
    const std::complex<double> x = exact[static_cast<std::size_t>(flat)];
    const std::int64_t other = frame.real() ? negated(frame.shape, flat) : flat;
    const std::size_t cell = cell_of(frame.shape, flat);
    ASSERT_LT(cell, sums.size()) << what;
    all[cell] += std::norm(x);
    ++all_counts[cell];
    const auto at = std::lower_bound(support.begin(), support.end(), flat);
    const bool inside = at != support.end() && *at == flat;
    if (inside) {
      ASSERT_TRUE(represents(frame, flat)) << what << " index " << flat;
      const auto i = static_cast<std::size_t>(at - support.begin());
      EXPECT_LE(std::abs(tmpl.values()[i] - x), each) << what << " index " << flat;
      EXPECT_DOUBLE_EQ(tmpl.power()[i], std::norm(tmpl.values()[i])) << what;
      if (flat != 0 || !keeps_mean) min = std::min(min, std::abs(x));
    }
    if (inside || (frame.real() && std::binary_search(support.begin(), support.end(), other))) {
      if (flat != 0) held += std::norm(x);
      continue;
    }
    largest = std::max(largest, std::abs(x));
    tail += std::norm(x);
    sums[cell] += std::norm(x);
    ++counts[cell];
  }
  EXPECT_GE(min, largest - 2 * each) << what << ": these are not the largest";
  const double tail_bound = 2 * std::sqrt(tail) * l2 + l2 * l2;
  expect_near(tmpl.tail_energy(), tail, tail_bound, what + " tail");
  const double without_mean =
      tail - (std::binary_search(support.begin(), support.end(), 0) ? 0 : std::norm(exact[0]));
  expect_near(tmpl.energy_captured() * (held + without_mean), held, 1e-11 * held + tail_bound,
              what + " captured");
  double strongest = 0;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    const double bound = 1e-12 * all[c] + 2 * std::sqrt(all[c]) * l2 + l2 * l2;
    if (counts[c] > 0)
      expect_near(data.tail_envelope.power[c] * counts[c], sums[c], 2 * std::sqrt(sums[c]) * l2 + l2 * l2,
                  what + " tail of cell " + std::to_string(c));
    if (c == 0) continue;
    expect_near(data.change_envelope.power[c] * all_counts[c], all[c], bound,
                what + " cell " + std::to_string(c));
    strongest = std::max(strongest, data.change_envelope.power[c]);
  }
  EXPECT_EQ(data.change_envelope.power[0], strongest) << what;
}

inline std::int64_t distinct(const Frame& frame) {
  std::int64_t count = 0;
  for (std::int64_t flat = 0; flat < frame.shape.points(); ++flat) count += represents(frame, flat);
  return count;
}

inline void expect_same_bits(const Template& a, const Template& b, const std::string& what) {
  const TemplateData &x = *detail::data_of(a), &y = *detail::data_of(b);
  EXPECT_EQ(*x.support, *y.support) << what;
  EXPECT_EQ(x.values, y.values) << what;
  EXPECT_EQ(x.power, y.power) << what;
  EXPECT_EQ(x.tail_energy, y.tail_energy) << what;
  EXPECT_EQ(x.energy_captured, y.energy_captured) << what;
  EXPECT_EQ(x.tail_envelope.power, y.tail_envelope.power) << what;
  EXPECT_EQ(x.change_envelope.power, y.change_envelope.power) << what;
}

}  // namespace sfft::test
