// SPDX-License-Identifier: Apache-2.0
// Shifts separably: rows first, then columns. Takes central differences of the transforms of shifted
// references, and solves 3 x 3 normal equations per cell.
#include "video/vibration/motion_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "sfft/dense.hpp"
#include "video/sources/samples.hpp"

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
  if (view.type() == ElementType::f32)
    copy(static_cast<const float*>(view.data()));
  else
    with_samples(view, copy);
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

namespace {

constexpr double kDifference = 0.25;  ///< pixels to either side

/// Sum of weight * Re(conj(a) b).
double dot(std::span<const float> weight, std::span<const std::complex<float>> a,
           std::span<const std::complex<float>> b) {
  double sum = 0;
  for (std::size_t i = 0; i < weight.size(); ++i)
    sum += static_cast<double>(weight[i] * (a[i].real() * b[i].real() + a[i].imag() * b[i].imag()));
  return sum;
}

std::vector<std::complex<float>> difference(const std::vector<std::complex<float>>& after,
                                            const std::vector<std::complex<float>>& before, double distance) {
  std::vector<std::complex<float>> slope(after.size());
  for (std::size_t i = 0; i < after.size(); ++i)
    slope[i] = (after[i] - before[i]) / static_cast<float>(distance);
  return slope;
}

}  // namespace

MotionModel::MotionModel(const Plan<float>& plan, Picture reference, double prior_px)
    : plan_(plan),
      reference_(std::move(reference)),
      prior_px_(prior_px),
      workspace_(plan.make_workspace()),
      spectrum_(plan.make_spectrum()) {
  // Shifting large pictures takes long, so their cells are larger; their templates are also coarser.
  constexpr std::int64_t kLarge = std::int64_t{1} << 19;
  step_ = reference_.width * reference_.height > kLarge ? 1.0 : 0.5;
  const auto support = plan.source().support();
  transform(shifted(reference_, kDifference, kDifference));
  // The weights are relative, to fit into float: errors of coefficients are about the noise times the square
  // root of N.
  double max = 0;
  for (const float error : spectrum_.standard_error) max = std::max(max, static_cast<double>(error));
  for (std::size_t i = 0; i < support.size(); ++i) {
    const double error = max > 0 ? static_cast<double>(spectrum_.standard_error[i]) / max : 1;
    constexpr double kMin = 0.05;
    const double bounded = std::max(error, kMin);
    weight_.push_back(support[i] == 0 ? 0.0F : static_cast<float>(1 / (bounded * bounded)));
  }
}

std::vector<std::complex<float>> MotionModel::transform(const Picture& picture) {
  plan_.execute(picture.view(), spectrum_, workspace_);
  return spectrum_.values;
}

MotionModel::Cell MotionModel::make_cell(double x, double y) {
  Cell cell;
  cell.at = transform(shifted(reference_, x, y));
  cell.by_x = difference(transform(shifted(reference_, x + kDifference, y)),
                         transform(shifted(reference_, x - kDifference, y)), 2 * kDifference);
  cell.by_y = difference(transform(shifted(reference_, x, y + kDifference)),
                         transform(shifted(reference_, x, y - kDifference)), 2 * kDifference);
  cell.normal = {dot(weight_, cell.by_x, cell.by_x), dot(weight_, cell.by_x, cell.by_y),
                 dot(weight_, cell.by_x, cell.at),   dot(weight_, cell.by_y, cell.by_y),
                 dot(weight_, cell.by_y, cell.at),   dot(weight_, cell.at, cell.at)};
  return cell;
}

const MotionModel::Cell& MotionModel::cell(int column, int row) {
  const auto known = cells_.find({column, row});
  if (known != cells_.end()) return known->second;
  constexpr std::size_t kMax = 512;
  if (cells_.size() >= kMax) cells_.clear();
  return cells_.emplace(std::pair(column, row), make_cell(column * step_, row * step_)).first->second;
}

double MotionModel::change(std::span<const std::complex<float>> values) {
  const Cell& reference = cell(0, 0);
  double sum = 0;
  for (std::size_t i = 0; i < weight_.size(); ++i)
    sum += static_cast<double>(weight_[i] * std::norm(values[i] - reference.at[i]));
  return sum;
}

FittedMotion MotionModel::fit(std::span<const std::complex<float>> values, double x, double y) {
  FittedMotion motion;
  motion.x = x;
  motion.y = y;
  double stayed = 0;  // residual power at the place where the fit starts
  constexpr int kMoves = 5;
  for (int move = 0; move < kMoves; ++move) {
    const int column = static_cast<int>(std::lround(motion.x / step_));
    const int row = static_cast<int>(std::lround(motion.y / step_));
    const Cell& here = cell(column, row);
    const auto& [xx, xy, xg, yy, yg, gg] = here.normal;
    double bx = 0, by = 0, bg = 0, square = 0;
    for (std::size_t i = 0; i < weight_.size(); ++i) {
      const std::complex<float> left = values[i] - here.at[i];
      const auto along = [&](const std::complex<float>& slope) {
        return static_cast<double>(weight_[i] * (slope.real() * left.real() + slope.imag() * left.imag()));
      };
      bx += along(here.by_x[i]);
      by += along(here.by_y[i]);
      bg += along(here.at[i]);
      square += along(left);
    }
    if (!(gg > 0)) return motion;
    // The gain is eliminated first.
    const double a = xx - xg * xg / gg;
    const double b = xy - xg * yg / gg;
    const double c = yy - yg * yg / gg;
    const double px = bx - xg * bg / gg;
    const double py = by - yg * bg / gg;
    const double degrees = std::max(1.0, 2 * static_cast<double>(weight_.size()) - 3);
    double dx = 0, dy = 0, variance = 0;
    double prior = 0;
    double determinant = 0;
    for (int round = 0; round < 2; ++round) {  // the prior is relative to the residual noise
      determinant = (a + prior) * (c + prior) - b * b;
      if (!(determinant > 1e-12 * (a + prior) * (c + prior))) determinant = 0;
      // The prior pulls towards the reference, not towards the middle of the cell.
      const double qx = px - prior * column * step_;
      const double qy = py - prior * row * step_;
      dx = determinant > 0 ? ((c + prior) * qx - b * qy) / determinant : 0;
      dy = determinant > 0 ? ((a + prior) * qy - b * qx) / determinant : 0;
      const double left =
          square - bg * bg / gg - 2 * (dx * px + dy * py) + dx * dx * a + 2 * dx * dy * b + dy * dy * c;
      if (move == 0 && round == 0) {
        const double ex = x - column * step_;
        const double ey = y - row * step_;
        stayed =
            square - bg * bg / gg - 2 * (ex * px + ey * py) + ex * ex * a + 2 * ex * ey * b + ey * ey * c;
      }
      motion.left_power = std::max(0.0, left);
      motion.explained = stayed > 0 ? 1 - motion.left_power / stayed : 0;
      variance = std::max(0.0, left) / degrees;
      motion.unlike = std::sqrt(std::max(0.0, left) / gg);
      if (!(prior_px_ > 0)) break;
      // If parts of a region move, the residuals are correlated and have far fewer degrees of freedom.
      constexpr double kAlike = 16;
      prior = kAlike * variance / (prior_px_ * prior_px_);
    }
    motion.gain = 1 + (bg - xg * dx - yg * dy) / gg;
    if (determinant > 0)
      motion.covariance = {variance * (c + prior) / determinant, -variance * b / determinant,
                           variance * (a + prior) / determinant};
    const double old_x = motion.x;
    const double old_y = motion.y;
    // The length of a step beyond the neighbouring cells is unreliable.
    const double longest = 2 * step_;
    const double length = std::hypot(dx, dy);
    const double shortened = length > longest ? longest / length : 1;
    motion.x = column * step_ + shortened * dx;
    motion.y = row * step_ + shortened * dy;
    const bool settled = std::abs(dx) <= 0.75 * step_ && std::abs(dy) <= 0.75 * step_;
    if (settled || std::hypot(motion.x - old_x, motion.y - old_y) < 1e-4) break;
  }
  return motion;
}

}  // namespace sfft::video
