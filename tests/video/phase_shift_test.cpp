// SPDX-License-Identifier: Apache-2.0
// Tests shifts from phases on pictures that are computed at the shifted position and transformed by a direct
// sum.
#include "video/motion/phase_shift.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "sfft/error.hpp"

namespace sfft::video::phase_shift_test {
namespace {

using Spectrum = std::vector<std::complex<float>>;
constexpr std::int64_t kHeight = 48, kWidth = 64;
const Shape kShape{kHeight, kWidth};

/// The brightness at any position of a scene without edges or periods.
using Scene = std::function<double(double x, double y)>;

double blobs(double x, double y) {
  double light = 100 + 0.6 * x - 0.4 * y;
  std::mt19937 draw(7);
  std::uniform_real_distribution<double> place(-10, 74), size(2.5, 7), height(-40, 60);
  for (int i = 0; i < 60; ++i) {
    const double cx = place(draw);
    const double cy = place(draw) * 0.8;
    const double s = size(draw);
    light += height(draw) * std::exp(-((x - cx) * (x - cx) + (y - cy) * (y - cy)) / (2 * s * s));
  }
  return light;
}

/// A sum of waves with whole periods in the picture.
double waves(double x, double y) {
  double light = 100;
  for (int i = 1; i < 9; ++i)
    light +=
        20.0 / i * std::cos(2 * std::numbers::pi * (i * x / kWidth + ((i * 5) % 7 - 3) * y / kHeight) + i);
  return light;
}

std::vector<float> picture(const Scene& scene, double dx, double dy) {
  std::vector<float> samples;
  for (std::int64_t y = 0; y < kHeight; ++y) {
    for (std::int64_t x = 0; x < kWidth; ++x)
      samples.push_back(static_cast<float>(scene(static_cast<double>(x) - dx, static_cast<double>(y) - dy)));
  }
  return samples;
}

/// Returns frequencies up to 6 rows and 6 columns, one of each conjugate pair, including f = 0 and half the
/// sampling rate.
std::vector<std::int64_t> low_support() {
  std::vector<std::int64_t> support{0};
  for (std::int64_t row = -6; row <= 6; ++row) {
    for (std::int64_t column = 0; column <= 6; ++column) {
      if (column > 0 || row > 0) support.push_back((row + kHeight) % kHeight * kWidth + column);
    }
  }
  support.push_back(kWidth / 2);
  return support;
}

Spectrum direct(const std::vector<float>& samples, const std::vector<std::int64_t>& support) {
  Spectrum spectrum;
  for (const std::int64_t f : support) {
    std::complex<double> sum = 0;
    for (std::int64_t y = 0; y < kHeight; ++y) {
      for (std::int64_t x = 0; x < kWidth; ++x) {
        const double turns =
            static_cast<double>(f / kWidth * y) / kHeight + static_cast<double>(f % kWidth * x) / kWidth;
        sum += static_cast<double>(samples[static_cast<std::size_t>(y * kWidth + x)]) *
               std::polar(1.0, -2 * std::numbers::pi * turns);
      }
    }
    spectrum.emplace_back(sum);
  }
  return spectrum;
}

struct Scenery {
  std::vector<std::int64_t> support = low_support();
  PhaseShiftEstimator estimator{kShape, support};
  Scene scene;
  std::vector<float> first;
  Spectrum reference;
  explicit Scenery(Scene from)
      : scene(std::move(from)), first(picture(scene, 0, 0)), reference(direct(first, support)) {}
  Spectrum moved(double dx, double dy) const { return direct(picture(scene, dx, dy), support); }
};

TEST(PhaseShift, IsExactForPeriodicPictures) {
  const Scenery scenery(waves);
  for (const double d : {0.0, 0.005, 0.02, 0.1, 0.5, 2.0}) {
    const PhaseShift shift = scenery.estimator.estimate(scenery.reference, scenery.moved(d, -0.7 * d));
    EXPECT_NEAR(shift.x, d, 1e-5 + 1e-6 * d);
    EXPECT_NEAR(shift.y, -0.7 * d, 1e-5 + 1e-6 * d);
    EXPECT_NEAR(shift.gain, 1, 1e-6);
    EXPECT_EQ(shift.directions, 2);
  }
}

TEST(PhaseShift, KnowsWhatEntersAtTheEdges) {
  const Scenery scenery(blobs);
  const EdgeTerms edges = scenery.estimator.edge_terms(SignalView(scenery.first, kShape));
  PhaseShiftOptions options;
  options.edges = &edges;
  for (const double d : {0.005, 0.02, 0.1, 0.5, -1.0}) {
    const Spectrum moved = scenery.moved(d, 0.5 * d);
    const PhaseShift with = scenery.estimator.estimate(scenery.reference, moved, options);
    EXPECT_NEAR(with.x, d, 0.02 * std::abs(d) + 1e-5);
    EXPECT_NEAR(with.y, 0.5 * d, 0.02 * std::abs(d) + 1e-5);
    const PhaseShift without = scenery.estimator.estimate(scenery.reference, moved);
    EXPECT_GT(std::hypot(without.x - d, without.y - 0.5 * d), 2 * std::hypot(with.x - d, with.y - 0.5 * d));
  }
}

TEST(PhaseShift, ReachesSeveralPixels) {
  const Scenery scenery(waves);
  PhaseShiftOptions options;
  options.reach_px = 5;
  const PhaseShift far = scenery.estimator.estimate(scenery.reference, scenery.moved(4.3, -2.6), options);
  EXPECT_NEAR(far.x, 4.3, 1e-4);
  EXPECT_NEAR(far.y, -2.6, 1e-4);
  options = {};
  options.start_x = 24;
  options.start_y = -14;
  const PhaseShift farther =
      scenery.estimator.estimate(scenery.reference, scenery.moved(25.1, -14.8), options);
  EXPECT_NEAR(farther.x, 25.1, 1e-4);
  EXPECT_NEAR(farther.y, -14.8, 1e-4);
}

TEST(PhaseShift, StatesTheErrorThatNoiseMakes) {
  const Scenery scenery(waves);
  const Spectrum clean = scenery.moved(0.3, 0.2);
  std::mt19937 draw(1);
  std::normal_distribution<double> noise(0, 150);
  double square = 0, stated = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    Spectrum noisy = clean;
    for (auto& value : noisy) value += std::complex<float>(std::complex<double>(noise(draw), noise(draw)));
    const PhaseShift shift = scenery.estimator.estimate(scenery.reference, noisy);
    square += (shift.x - 0.3) * (shift.x - 0.3) + (shift.y - 0.2) * (shift.y - 0.2);
    stated += shift.covariance[0] + shift.covariance[2];
  }
  // A sum of 800 squares is right to 5 %; the bound is three times that.
  EXPECT_GT(stated / square, 0.8);
  EXPECT_LT(stated / square, 1.25);
  EXPECT_GT(square / kTrials, 1e-6) << "the noise is large enough to be seen";
}

TEST(PhaseShift, SetsAsideWhatDisagrees) {
  const Scenery scenery(blobs);
  Spectrum moved = scenery.moved(0.2, 0.1);
  const EdgeTerms edges = scenery.estimator.edge_terms(SignalView(scenery.first, kShape));
  PhaseShiftOptions options;
  options.edges = &edges;
  const PhaseShift clean = scenery.estimator.estimate(scenery.reference, moved, options);
  for (std::size_t i = 3; i < moved.size(); i += 12) moved[i] *= std::polar(1.0F, 0.5F);
  const PhaseShift robust = scenery.estimator.estimate(scenery.reference, moved, options);
  options.robust = false;
  const PhaseShift plain = scenery.estimator.estimate(scenery.reference, moved, options);
  const auto error = [](const PhaseShift& shift) { return std::hypot(shift.x - 0.2, shift.y - 0.1); };
  EXPECT_LT(error(robust), 0.3 * error(plain));
  EXPECT_LT(robust.weight_used, 0.95);
  EXPECT_DOUBLE_EQ(plain.weight_used, 1);
  EXPECT_GT(robust.phase_rms + 1e-9, clean.phase_rms);
}

TEST(PhaseShift, TellsContrastFromMotion) {
  const Scenery scenery(blobs);
  Spectrum brighter = scenery.reference;
  for (auto& value : brighter) value *= 1.07F;
  const PhaseShift shift = scenery.estimator.estimate(scenery.reference, brighter);
  EXPECT_NEAR(shift.gain, 1.07, 1e-5);
  EXPECT_NEAR(std::hypot(shift.x, shift.y), 0, 1e-5);
}

TEST(PhaseShift, StripesTellOneDirection) {
  const Scenery scenery([](double x, double y) {
    return 100 + 30 * std::cos(2 * std::numbers::pi * (2 * x / kWidth + 3 * y / kHeight)) +
           10 * std::sin(2 * std::numbers::pi * (4 * x / kWidth + 6 * y / kHeight));
  });
  const std::vector<std::int64_t> support{2 + 3 * kWidth, 4 + 6 * kWidth, 5 * kWidth + 6};
  const PhaseShiftEstimator estimator(kShape, support);
  Spectrum reference = direct(scenery.first, support);
  Spectrum moved = direct(picture(scenery.scene, 0.4, 0), support);
  reference[2] = moved[2] = 1e-3F;  // a coefficient of negligible weight
  const PhaseShift shift = estimator.estimate(reference, moved);
  EXPECT_EQ(shift.directions, 1);
  const double nx = 2.0 / kWidth / std::hypot(2.0 / kWidth, 3.0 / kHeight);
  const double ny = 3.0 / kHeight / std::hypot(2.0 / kWidth, 3.0 / kHeight);
  EXPECT_NEAR(shift.x * nx + shift.y * ny, 0.4 * nx, 1e-4);
  EXPECT_NEAR(-shift.x * ny + shift.y * nx, 0, 1e-4) << "along the stripes nothing is known";

  PhaseShiftOptions options;
  options.prior_px = 1e-3;
  const PhaseShift held = estimator.estimate(reference, moved, options);
  EXPECT_LE(std::hypot(held.x, held.y), std::hypot(shift.x, shift.y) + 1e-6);
}

TEST(PhaseShift, NothingIsKnownWithoutPhases) {
  const std::vector<std::int64_t> support{0, kWidth / 2, kHeight / 2 * kWidth};
  const PhaseShiftEstimator estimator(kShape, support);
  const Spectrum any(3, 5.0F);
  EXPECT_EQ(estimator.estimate(any, any).directions, 0);
  const Spectrum none(low_support().size(), 0.0F);
  EXPECT_EQ(PhaseShiftEstimator(kShape, low_support()).estimate(none, none).directions, 0);
}

TEST(PhaseShift, RefusesWhatDoesNotFit) {
  const PhaseShiftEstimator estimator(kShape, low_support());
  const Spectrum one(1), all(low_support().size());
  EXPECT_THROW(estimator.estimate(one, all), Error);
  EXPECT_THROW(estimator.estimate(all, one), Error);
  EXPECT_THROW(PhaseShiftEstimator(Shape(100), low_support()), Error);
  const std::vector<float> wrong(100);
  EXPECT_THROW(estimator.edge_terms(SignalView(wrong, Shape{10, 10})), Error);
}

}  // namespace
}  // namespace sfft::video::phase_shift_test
