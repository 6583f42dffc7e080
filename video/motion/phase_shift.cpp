// SPDX-License-Identifier: Apache-2.0
// Gauss-Newton steps on the phases between a frame and its moved reference, first at low frequencies, with
// Huber's weights for phases that disagree. The normal equations are 2 x 2 and solved along their axes, so
// that a direction without structure harms no other.
#include "video/motion/phase_shift.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sfft/dense.hpp"
#include "sfft/error.hpp"

namespace sfft::video {

namespace {

using Complex = std::complex<double>;

/// Angular frequency in radians per pixel of the unsigned index f; 0 at half the sampling rate.
double omega(std::int64_t f, std::int64_t n) {
  if (2 * f == n) return 0;
  return 2 * std::numbers::pi * static_cast<double>(2 * f > n ? f - n : f) / static_cast<double>(n);
}

/// One coefficient, linearised at the present shift, in units of its noise.
struct Phase {
  double ahead;             ///< of the model, across the direction of its phase
  double slope_x, slope_y;  ///< the same of the model by the shift
  double magnitude;         ///< of the model
};

/// A symmetric 2 x 2 matrix by its axes: the first is the larger one.
struct Axes {
  double along[2], cosine, sine;
  Axes(double xx, double xy, double yy) {
    const double angle = 0.5 * std::atan2(2 * xy, xx - yy);
    cosine = std::cos(angle);
    sine = std::sin(angle);
    const double mean = 0.5 * (xx + yy);
    const double half = std::hypot(0.5 * (xx - yy), xy);
    along[0] = mean + half;
    along[1] = std::max(0.0, mean - half);
  }
};

/// Shares below this of the larger axis are rounding, not structure.
constexpr double kLeastAxis = 1e-9;
/// Huber's bound, in standard deviations: costs 3 % of the precision where noise is normal.
constexpr double kHuber = 1.7;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Fit {
 public:
  Fit(std::span<const double> omega_x, std::span<const double> omega_y,
      std::span<const std::complex<float>> reference, std::span<const std::complex<float>> frame,
      const PhaseShiftOptions& options)
      : omega_x_(omega_x), omega_y_(omega_y), reference_(reference), frame_(frame), options_(options) {
    shift_.x = options.start_x;
    shift_.y = options.start_y;
    phases_.reserve(frame.size());
  }

  PhaseShift solve() {
    for (double reach = options_.reach_px; reach > kNear; reach /= 4) step(reach);
    constexpr int kSteps = 6;
    for (int i = 0; i < kSteps; ++i) {
      const double moved = step(0);
      if (i > 0 && moved < kNear * 1e-3) break;
    }
    return shift_;
  }

 private:
  /// Shifts below this many pixels wrap no phase: half a radian at the highest frequencies.
  static constexpr double kNear = 0.15;

  /// Linearises the coefficients that a shift of `reach` pixels cannot wrap; all of them for 0.
  void linearise(double reach) {
    phases_.clear();
    double projected = 0;
    double power = 0;
    for (std::size_t i = 0; i < frame_.size(); ++i) {
      const double wx = omega_x_[i];
      const double wy = omega_y_[i];
      if ((wx == 0 && wy == 0) || reach * std::hypot(wx, wy) > 0.5 * std::numbers::pi) continue;
      const Complex frame(frame_[i]);
      const Complex turned = std::polar(1.0, -(wx * shift_.x + wy * shift_.y)) * Complex(reference_[i]);
      Complex model = turned;
      Complex by_x(wx * turned.imag(), -wx * turned.real());
      Complex by_y(wy * turned.imag(), -wy * turned.real());
      if (options_.edges != nullptr) {
        const Complex edge_x(options_.edges->x[i]);
        const Complex edge_y(options_.edges->y[i]);
        model -= shift_.x * edge_x + shift_.y * edge_y;
        by_x -= edge_x;
        by_y -= edge_y;
      }
      const double model_power = std::norm(model);
      if (!(model_power > 0)) continue;
      const double noise = options_.noise.empty() ? 1.0 : static_cast<double>(options_.noise[i]);
      if (!(noise > 0)) continue;
      const Complex across = std::conj(model) * frame;
      projected += across.real() / (noise * noise);
      power += model_power / (noise * noise);
      const double magnitude = std::sqrt(model_power);
      const double unit = std::numbers::sqrt2 / noise;  // half of the noise is across the phase
      const double size = magnitude * unit * (reach > 0 ? 1 : shift_.gain);
      phases_.push_back({ahead(across / magnitude, reach > 0, magnitude) * unit,
                         (std::conj(model) * by_x).imag() / model_power * size,
                         (std::conj(model) * by_y).imag() / model_power * size, size});
    }
    if (power > 0) shift_.gain = projected / power;
  }

  /// How far a frame's coefficient, turned so that the model is real, is ahead of the model. Far from the
  /// solution that is its angle. Near it, it is the part at right angles, whose error does not depend on how
  /// large the coefficient is.
  static double ahead(const Complex& frame, bool far, double magnitude) {
    if (far) return std::arg(frame) * std::min(magnitude, std::abs(frame));
    return frame.imag();
  }

  /// Scale of the residuals after subtracting a step.
  double scale(double x, double y) {
    sizes_.clear();
    for (const Phase& p : phases_) sizes_.push_back(std::abs(p.ahead - p.slope_x * x - p.slope_y * y));
    return 1.4826 * median(sizes_);
  }

  /// One Gauss-Newton step; returns its length in pixels.
  double step(double reach) {
    linearise(reach);
    if (phases_.size() < 3) return 0;
    double x = 0;
    double y = 0;
    // Without a first idea of the step every phase is far off; the median of what is left over sets the
    // scale, and twice is enough because the next step weighs again.
    const int rounds = options_.robust ? 3 : 1;
    for (int round = 0; round < rounds; ++round) {
      const double spread = round > 0 ? scale(x, y) : 0;
      const bool weigh = spread > 0;
      double xx = 0, xy = 0, yy = 0, bx = 0, by = 0, square = 0, power = 0, all = 0, scatter = 0, inside = 0;
      for (const Phase& p : phases_) {
        const double left = p.ahead - p.slope_x * x - p.slope_y * y;
        const double bound = kHuber * spread;
        const double trust = weigh && std::abs(left) > bound ? bound / std::abs(left) : 1;
        xx += trust * p.slope_x * p.slope_x;
        xy += trust * p.slope_x * p.slope_y;
        yy += trust * p.slope_y * p.slope_y;
        bx += trust * p.slope_x * p.ahead;
        by += trust * p.slope_y * p.ahead;
        square += trust * left * left;
        power += trust * p.magnitude * p.magnitude;
        all += p.slope_x * p.slope_x + p.slope_y * p.slope_y;
        scatter += trust * trust * left * left;
        inside += trust == 1 ? 1 : 0;
      }
      const auto count = static_cast<double>(phases_.size());
      const double share = std::max(inside / count, 0.1);
      const double variance = scatter / std::max(1.0, count - 2) / (share * share);
      solve_axes(xx, xy, yy, bx, by, variance, x, y);
      shift_.weight_used = all > 0 ? (xx + yy) / all : 0;
      shift_.phase_rms = power > 0 ? std::sqrt(square / power) : 0;
    }
    shift_.x += x;
    shift_.y += y;
    return std::hypot(x, y);
  }

  /// The step along each axis of the normal equations, and the covariance of the shift.
  void solve_axes(double xx, double xy, double yy, double bx, double by, double variance, double& x,
                  double& y) {
    const Axes axes(xx, xy, yy);
    const double direction[2][2] = {{axes.cosine, axes.sine}, {-axes.sine, axes.cosine}};
    const double prior = options_.prior_px > 0 ? variance / (options_.prior_px * options_.prior_px) : 0;
    // The prior pulls towards the start, not towards the present shift.
    const double from_x = options_.start_x - shift_.x;
    const double from_y = options_.start_y - shift_.y;
    x = y = 0;
    shift_.covariance = {};
    shift_.directions = 0;
    for (int a = 0; a < 2; ++a) {
      const double ex = direction[a][0];
      const double ey = direction[a][1];
      if (!(axes.along[a] > kLeastAxis * axes.along[0])) continue;
      const double information = axes.along[a] + prior;
      const double along = (ex * bx + ey * by + prior * (ex * from_x + ey * from_y)) / information;
      x += along * ex;
      y += along * ey;
      const double v = variance / information;
      shift_.covariance[0] += v * ex * ex;
      shift_.covariance[1] += v * ex * ey;
      shift_.covariance[2] += v * ey * ey;
      ++shift_.directions;
    }
  }

  std::span<const double> omega_x_, omega_y_;
  std::span<const std::complex<float>> reference_, frame_;
  const PhaseShiftOptions& options_;
  PhaseShift shift_;
  std::vector<Phase> phases_;
  std::vector<double> sizes_;
};

/// Steps between the ends of all rows (or columns), half a pixel outside, where a period of the transform
/// ends and begins. `along` counts the lines, `first` and `next` the samples of a line.
template <class T>
std::vector<double> end_steps(const T* samples, std::int64_t lines, std::int64_t line_stride,
                              std::int64_t length, std::int64_t stride) {
  std::vector<double> steps(static_cast<std::size_t>(lines));
  for (std::int64_t line = 0; line < lines; ++line) {
    const T* const at = samples + line * line_stride;
    const auto value = [&](std::int64_t i) { return static_cast<double>(at[i * stride]); };
    const std::int64_t last = length - 1;
    const std::int64_t inner = length > 1 ? 1 : 0;
    const double end = 1.5 * value(last) - 0.5 * value(last - inner);
    const double begin = 1.5 * value(0) - 0.5 * value(inner);
    steps[static_cast<std::size_t>(line)] = end - begin;
  }
  return steps;
}

std::vector<double> end_steps(const SignalView& frame, bool rows) {
  const int lines = rows ? 0 : 1;
  const int samples = 1 - lines;
  const auto with = [&](const auto* data) {
    return end_steps(data, frame.shape()[lines], frame.stride(lines), frame.shape()[samples],
                     frame.stride(samples));
  };
  switch (frame.type()) {
    case ElementType::u8:
      return with(static_cast<const std::uint8_t*>(frame.data()));
    case ElementType::u16:
      return with(static_cast<const std::uint16_t*>(frame.data()));
    case ElementType::f32:
      return with(static_cast<const float*>(frame.data()));
    case ElementType::f64:
      return with(static_cast<const double*>(frame.data()));
    default:
      throw Error(ErrorCode::type_mismatch, "a picture has real samples: give 8- or 16-bit, float or double");
  }
}

/// The transform of real steps at all of their unsigned frequencies.
std::vector<Complex> transform(const std::vector<double>& steps) {
  const auto n = static_cast<std::int64_t>(steps.size());
  const dense::Plan<double> plan(Shape(n), true);
  std::vector<Complex> half(plan.spectrum_points());
  plan.forward(SignalView::line(steps), half);
  std::vector<Complex> whole(steps.size());
  for (std::int64_t f = 0; f < n; ++f) {
    const bool upper = 2 * f > n;
    const Complex value = half[static_cast<std::size_t>(upper ? n - f : f)];
    whole[static_cast<std::size_t>(f)] = upper ? std::conj(value) : value;
  }
  return whole;
}

}  // namespace

PhaseShiftEstimator::PhaseShiftEstimator(const Shape& shape, std::span<const std::int64_t> support)
    : shape_(shape) {
  if (shape.rank() != 2)
    throw Error(ErrorCode::invalid_argument, "a picture has two dimensions: give {height, width}");
  const std::int64_t height = shape[0];
  const std::int64_t width = shape[1];
  for (const std::int64_t f : support) {
    const std::int64_t row = f / width;
    const std::int64_t column = f % width;
    const bool silent = 2 * row == height || 2 * column == width;
    rows_.push_back(row);
    columns_.push_back(column);
    omega_y_.push_back(silent ? 0 : omega(row, height));
    omega_x_.push_back(silent ? 0 : omega(column, width));
  }
}

PhaseShift PhaseShiftEstimator::estimate(std::span<const std::complex<float>> reference,
                                         std::span<const std::complex<float>> frame,
                                         const PhaseShiftOptions& options) const {
  const auto fits = [&](std::size_t count) { return count == size(); };
  if (!fits(reference.size()) || !fits(frame.size()) ||
      (!options.noise.empty() && !fits(options.noise.size())) ||
      (options.edges != nullptr && (!fits(options.edges->x.size()) || !fits(options.edges->y.size()))))
    throw Error(ErrorCode::shape_mismatch,
                "spectra, noise and edge terms need a value per frequency of the estimator's support");
  return Fit(omega_x_, omega_y_, reference, frame, options).solve();
}

EdgeTerms PhaseShiftEstimator::edge_terms(const SignalView& frame) const {
  if (frame.shape() != shape_)
    throw Error(ErrorCode::shape_mismatch, "the frame is not of the estimator's shape");
  const std::vector<Complex> by_row = transform(end_steps(frame, true));
  const std::vector<Complex> by_column = transform(end_steps(frame, false));
  EdgeTerms terms;
  for (std::size_t i = 0; i < size(); ++i) {
    // The steps are half a pixel before the first sample.
    const Complex x = std::polar(1.0, 0.5 * omega_x_[i]) * by_row[static_cast<std::size_t>(rows_[i])];
    const Complex y = std::polar(1.0, 0.5 * omega_y_[i]) * by_column[static_cast<std::size_t>(columns_[i])];
    terms.x.emplace_back(x);
    terms.y.emplace_back(y);
  }
  return terms;
}

}  // namespace sfft::video
