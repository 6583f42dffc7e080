// SPDX-License-Identifier: Apache-2.0
// Adds discovery's alternatives to the cost model: Bluestein lengths, learning, and the first round of
// discovery.
#include "sfft/learning/discover_impl.hpp"

#include <cmath>

#include "kernels/base/math/smooth.hpp"
#include "template/planning/cost_model.hpp"

namespace sfft::detail {

namespace {

/// Microseconds of a trial's first round, which has no limit, per wanted frequency; several dimensions take
/// more buckets (kGridTrialUs). kLearnUs is the minimum time of dense learning, per point and octave, and
/// kTrialShare the fraction of it that a trial may take.
constexpr double kTrialUs = 0.33;
constexpr double kGridTrialUs = 1.3;
constexpr double kLearnUs = 0.25e-3;
constexpr double kTrialShare = 0.09;
/// Cost of learning from a dense transform on a GPU: a fixed part for memory and a cuFFT plan; then double
/// precision, the powers and the selection, in units of float transforms.
constexpr double kDeviceLearnUs = 1000;
constexpr double kDeviceLearnTransforms = 8;

}  // namespace

/// Large primes take two transforms of at least twice the length (Bluestein), which stay in cache for
/// short lines.
double dense_us(const Shape& shape, bool real) {
  constexpr std::int64_t kShortLine = 4096;
  constexpr double kShortLineFactor = 1.6;
  double us = predict_dense_us(shape, real);
  for (const std::int64_t extent : shape.extents()) {
    if (is_smooth(extent)) continue;
    if (extent <= kShortLine) {
      us *= kShortLineFactor;
      continue;
    }
    const auto padded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * extent - 1)));
    us *= 2 * predict_dense_us(Shape{padded}, real) / predict_dense_us(Shape{extent}, real);
  }
  return us;
}

double dense_device_us(const Shape& shape, bool real) {
  return kDeviceLearnUs + kDeviceLearnTransforms * predict_dense_device_us(shape, real, 1);
}

bool worth_a_trial(const Shape& shape, bool real, std::int64_t wanted) {
  const auto points = static_cast<double>(shape.points());
  const double learn_us = kLearnUs * points * std::log2(points) * (real ? 0.5 : 1);
  const double trial_us = (shape.rank() > 1 ? kGridTrialUs : kTrialUs) * static_cast<double>(wanted);
  return trial_us <= kTrialShare * learn_us;
}

}  // namespace sfft::detail
