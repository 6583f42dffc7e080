// SPDX-License-Identifier: Apache-2.0
// Makes random signals of every element type, and compares learning on the GPU with learning on the CPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "sfft/error.hpp"
#include "sfft/template.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test {

/// A signal of any element type that owns its samples.
struct Signal {
  Shape shape;
  ElementType type;
  std::vector<std::byte> bytes;

  SignalView view() const { return {bytes.data(), static_cast<std::size_t>(shape.points()), type, shape}; }
};

template <class T>
Signal make_signal(const Shape& shape, const std::vector<T>& samples) {
  Signal signal{shape, element_type_of<T>::value, {}};
  signal.bytes.resize(samples.size() * sizeof(T));
  std::memcpy(signal.bytes.data(), samples.data(), signal.bytes.size());
  return signal;
}

template <class T>
std::vector<T> random_samples(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<T> samples;
  for (std::int64_t i = 0; i < count; ++i) {
    const double re = normal(generator);
    if constexpr (std::is_integral_v<T>) {
      samples.push_back(static_cast<T>(std::clamp(100 + 30 * re, 0.0, 255.0) * (sizeof(T) == 1 ? 1 : 250)));
    } else if constexpr (std::is_floating_point_v<T>) {
      samples.push_back(static_cast<T>(0.5 + re));
    } else {
      using Real = typename T::value_type;
      samples.emplace_back(static_cast<Real>(re), static_cast<Real>(0.25 + normal(generator)));
    }
  }
  return samples;
}

inline Signal random_signal(ElementType type, const Shape& shape, unsigned seed) {
  const std::int64_t n = shape.points();
  switch (type) {
    case ElementType::u8:
      return make_signal(shape, random_samples<std::uint8_t>(n, seed));
    case ElementType::u16:
      return make_signal(shape, random_samples<std::uint16_t>(n, seed));
    case ElementType::f32:
      return make_signal(shape, random_samples<float>(n, seed));
    case ElementType::f64:
      return make_signal(shape, random_samples<double>(n, seed));
    case ElementType::c64:
      return make_signal(shape, random_samples<std::complex<float>>(n, seed));
    default:
      break;
  }
  return make_signal(shape, random_samples<std::complex<double>>(n, seed));
}

/// Both transforms of one signal round, so they differ in L2 by at most this share of its norm.
inline double transform_bound(const Shape& shape) {
  return 4 * fft_bound<double>(static_cast<double>(shape.points()));
}

/// How far the mean power of coefficients may move when each moves by `delta`.
inline double power_bound(double power, double delta) {
  return 1e-12 * power + 2 * std::sqrt(power) * delta + delta * delta;
}

inline void expect_near(const detail::Envelope& gpu, const detail::Envelope& cpu, double delta,
                        const char* name) {
  ASSERT_EQ(gpu.power.size(), cpu.power.size()) << name;
  for (std::size_t c = 0; c < cpu.power.size(); ++c)
    EXPECT_LE(std::abs(gpu.power[c] - cpu.power[c]), power_bound(cpu.power[c], delta))
        << name << " cell " << c;
}

inline void expect_same(const Template& gpu, const Template& cpu) {
  const detail::TemplateData& g = *detail::data_of(gpu);
  const detail::TemplateData& c = *detail::data_of(cpu);
  EXPECT_EQ(g.shape, c.shape);
  EXPECT_EQ(g.real, c.real);
  ASSERT_EQ(*g.support, *c.support);
  EXPECT_EQ(g.reference, c.reference);
  EXPECT_EQ(g.change_measured, c.change_measured);

  double energy = c.tail_energy;
  for (const double power : c.power) energy += 2 * power;
  for (const std::complex<double>& value : c.values) energy += 2 * std::norm(value);
  const double error = transform_bound(c.shape) * std::sqrt(energy);
  // A single coefficient may have more than its share of the error.
  const double delta = 16 * error / std::sqrt(static_cast<double>(c.shape.points()));
  ASSERT_EQ(g.values.size(), c.values.size());
  ASSERT_EQ(g.power.size(), c.power.size());
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    EXPECT_LE(std::abs(g.values[i] - c.values[i]), delta) << "coefficient " << i;
    EXPECT_LE(std::abs(g.power[i] - c.power[i]), power_bound(c.power[i], delta)) << "coefficient " << i;
  }
  EXPECT_LE(std::abs(g.tail_energy - c.tail_energy), power_bound(c.tail_energy, error));
  EXPECT_NEAR(g.energy_captured, c.energy_captured, 1e-12);
  expect_near(g.tail_envelope, c.tail_envelope, delta, "tail");
  expect_near(g.change_envelope, c.change_envelope, delta, "change");
}

/// Expects that both learn the same, or that both fail with the same message.
inline void compare(std::span<const SignalView> frames, LearnOptions options) {
  std::optional<Template> cpu, gpu;
  std::string cpu_error, gpu_error;
  try {
    options.device = Device::cpu();
    cpu = learn(frames, options);
  } catch (const Error& error) {
    cpu_error = error.what();
  }
  try {
    options.device = Device::gpu();
    gpu = learn(frames, options);
  } catch (const Error& error) {
    gpu_error = error.what();
  }
  EXPECT_EQ(gpu_error, cpu_error);
  if (cpu && gpu) expect_same(*gpu, *cpu);
}

inline void compare(const SignalView& frame, const LearnOptions& options) {
  compare(std::span<const SignalView>(&frame, 1), options);
}

}  // namespace sfft::test
