// SPDX-License-Identifier: Apache-2.0
// Shifts separably: rows first, then columns.
#include "video/vibration/shifted_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "sfft/dense.hpp"

namespace sfft::video {

namespace {

constexpr int kTaps = 8;

struct Kernel {
  std::int64_t first = 0;  ///< first sample of the combination, relative to the result
  std::array<float, kTaps> weight{};

  explicit Kernel(double shift) {
    // The sample at i comes from the place i - shift.
    const double floor = std::floor(-shift);
    const double rest = -shift - floor;
    first = static_cast<std::int64_t>(floor) - kTaps / 2 + 1;
    std::array<double, kTaps> exact{};
    double sum = 0;
    for (int i = 0; i < kTaps; ++i) {
      const double away = std::numbers::pi * (i - (kTaps / 2 - 1) - rest);
      const double window = away * 2 / kTaps;
      exact[static_cast<std::size_t>(i)] =
          std::abs(away) < 1e-9 ? 1 : std::sin(away) / away * std::sin(window) / window;
      sum += exact[static_cast<std::size_t>(i)];
    }
    for (std::size_t i = 0; i < kTaps; ++i) weight[i] = static_cast<float>(exact[i] / sum);
  }
};

}  // namespace

Picture to_picture(const SignalView& view) {
  Picture picture{view.shape()[1], view.shape()[0], {}};
  picture.samples.reserve(static_cast<std::size_t>(view.shape().points()));
  const auto copy = [&](const auto* samples) {
    for (std::int64_t row = 0; row < picture.height; ++row) {
      const auto* const begin = samples + row * view.stride(0);
      for (std::int64_t i = 0; i < picture.width; ++i)
        picture.samples.push_back(static_cast<float>(begin[i]));
    }
  };
  if (view.type() == ElementType::u16)
    copy(static_cast<const std::uint16_t*>(view.data()));
  else if (view.type() == ElementType::f32)
    copy(static_cast<const float*>(view.data()));
  else
    copy(static_cast<const std::uint8_t*>(view.data()));
  return picture;
}

Picture denoised(const Picture& picture, double variance) {
  if (!(variance > 0)) return picture;
  const dense::Plan<float> plan(Shape{picture.height, picture.width}, Domain::real);
  std::vector<std::complex<float>> spectrum(plan.spectrum_points());
  plan.forward(picture.view(), spectrum);
  // This is spectral subtraction. With three times the mean power, 2 % of the noise remains.
  constexpr double kOver = 3;
  const auto points = static_cast<double>(picture.samples.size());
  const auto floor = static_cast<float>(kOver * variance * points);
  for (std::size_t i = 1; i < spectrum.size(); ++i) {
    const float power = std::norm(spectrum[i]);
    spectrum[i] *= power > floor ? 1 - floor / power : 0.0F;
  }
  Picture result = picture;
  plan.inverse(spectrum, std::span<float>(result.samples));
  return result;
}

Picture shifted(const Picture& picture, double x, double y) {
  const std::int64_t width = picture.width;
  const std::int64_t height = picture.height;
  const Kernel across(x);
  const Kernel down(y);
  Picture result{width, height, std::vector<float>(picture.samples.size())};
  std::vector<float> line(static_cast<std::size_t>(width));
  for (std::int64_t row = 0; row < height; ++row) {
    std::fill(line.begin(), line.end(), 0.0F);
    for (std::int64_t t = 0; t < kTaps; ++t) {
      const std::int64_t from = std::clamp<std::int64_t>(row + down.first + t, 0, height - 1);
      const float weight = down.weight[static_cast<std::size_t>(t)];
      const float* const source = picture.samples.data() + from * width;
      for (std::size_t i = 0; i < line.size(); ++i) line[i] += weight * source[i];
    }
    float* const out = result.samples.data() + row * width;
    for (std::int64_t i = 0; i < width; ++i) {
      const std::int64_t begin = i + across.first;
      float sum = 0;
      if (begin >= 0 && begin + kTaps <= width) {
        for (std::int64_t t = 0; t < kTaps; ++t)
          sum += across.weight[static_cast<std::size_t>(t)] * line[static_cast<std::size_t>(begin + t)];
      } else {
        for (std::int64_t t = 0; t < kTaps; ++t)
          sum += across.weight[static_cast<std::size_t>(t)] *
                 line[static_cast<std::size_t>(std::clamp<std::int64_t>(begin + t, 0, width - 1))];
      }
      out[i] = sum;
    }
  }
  return result;
}

}  // namespace sfft::video
