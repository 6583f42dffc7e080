// SPDX-License-Identifier: Apache-2.0
// Takes Gauss-Newton steps on the phases between a frame and its moved reference, first at low frequencies.
// Phases that disagree get Huber's weights. The 2 x 2 normal equations are solved along their principal axes,
// so a direction without structure does not harm the other.
#include "video/motion/phase_shift.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "kernels/base/math/quantiles.hpp"
#include "sfft/dense.hpp"
#include "sfft/error.hpp"

namespace sfft::video {

namespace {

using Complex = std::complex<double>;

/// The signed frequency of the unsigned index f.
std::int64_t folded(std::int64_t f, std::int64_t n) {
  return 2 * f > n ? f - n : f;
}

/// One coefficient, linearised at the current shift, in units of its noise.
struct Phase {
  double ahead;             ///< difference from the model, at right angles to the model's phase
  double slope_x, slope_y;  ///< derivatives of that part of the model with respect to the shift
  double magnitude;         ///< of the model
};

/// The principal axes of a symmetric 2 x 2 matrix; the first has the larger eigenvalue.
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

/// An axis below this share of the larger one is rounding, not structure.
constexpr double kMinAxis = 1e-9;
/// Huber's bound, in standard deviations. It costs 3 % of the precision if the noise is Gaussian.
constexpr double kHuber = 1.7;

class Fit {
 public:
  Fit(const FrequencyGrid& grid, std::span<const std::complex<float>> reference,
      std::span<const std::complex<float>> frame, const PhaseShiftOptions& options)
      : grid_(grid),
        reference_(reference),
        frame_(frame),
        options_(options),
        turns_x_(static_cast<std::size_t>(grid.highest_column) + 1),
        turns_y_(static_cast<std::size_t>(grid.highest_row) + 1) {
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
  /// Shifts below this many pixels cannot wrap a phase: they are half a radian at the highest frequencies.
  static constexpr double kNear = 0.15;

  /// Linearises the coefficients whose phases a shift of `reach` pixels cannot wrap; all of them if `reach`
  /// is 0.
  void linearise(double reach) {
    phases_.clear();
    powers(grid_.unit_x * shift_.x, turns_x_);
    powers(grid_.unit_y * shift_.y, turns_y_);
    double projected = 0;
    double power = 0;
    // Uses real arithmetic, because products of std::complex check for infinities.
    for (std::size_t i = 0; i < frame_.size(); ++i) {
      const double wx = grid_.omega_x[i];
      const double wy = grid_.omega_y[i];
      if ((wx == 0 && wy == 0) || (reach > 0 && reach * std::hypot(wx, wy) > 0.5 * std::numbers::pi))
        continue;
      const double frame_re = static_cast<double>(frame_[i].real());
      const double frame_im = static_cast<double>(frame_[i].imag());
      const Turn turn = turned(i);
      const double a = turn.re * static_cast<double>(reference_[i].real()) -
                       turn.im * static_cast<double>(reference_[i].imag());
      const double b = turn.re * static_cast<double>(reference_[i].imag()) +
                       turn.im * static_cast<double>(reference_[i].real());
      double re = a, im = b;                 // the model
      double x_re = wx * b, x_im = -wx * a;  // its derivatives
      double y_re = wy * b, y_im = -wy * a;
      if (options_.edges != nullptr) {
        const std::complex<float> ex = options_.edges->x[i];
        const std::complex<float> ey = options_.edges->y[i];
        const double ex_re = static_cast<double>(ex.real()), ex_im = static_cast<double>(ex.imag());
        const double ey_re = static_cast<double>(ey.real()), ey_im = static_cast<double>(ey.imag());
        re -= shift_.x * ex_re + shift_.y * ey_re;
        im -= shift_.x * ex_im + shift_.y * ey_im;
        x_re -= ex_re;
        x_im -= ex_im;
        y_re -= ey_re;
        y_im -= ey_im;
      }
      const double model_power = re * re + im * im;
      if (!(model_power > 0)) continue;
      const double noise = options_.noise.empty() ? 1.0 : static_cast<double>(options_.noise[i]);
      if (!(noise > 0)) continue;
      const double along = re * frame_re + im * frame_im;
      const double across = re * frame_im - im * frame_re;
      projected += along / (noise * noise);
      power += model_power / (noise * noise);
      const double magnitude = std::sqrt(model_power);
      const double unit = std::numbers::sqrt2 / noise;  // half of the noise is at right angles to the phase
      // Far from the solution, the difference of a coefficient is its angle. Near it, the difference is its
      // part at right angles, whose error does not depend on the coefficient's magnitude.
      const double ahead =
          reach > 0 ? std::atan2(across, along) * std::min(magnitude, std::hypot(frame_re, frame_im))
                    : across / magnitude;
      const double slope = unit / magnitude * (reach > 0 ? 1 : shift_.gain);
      phases_.push_back({ahead * unit, (re * x_im - im * x_re) * slope, (re * y_im - im * y_re) * slope,
                         magnitude * magnitude * slope});
    }
    if (power > 0) shift_.gain = projected / power;
  }

  struct Turn {
    double re, im;
  };

  /// Powers exp(-i n angle) for n = 0, 1, 2 …: the phase factors of one direction.
  static void powers(double angle, std::vector<Turn>& table) {
    const Turn one{std::cos(angle), -std::sin(angle)};
    Turn at{1, 0};
    for (Turn& entry : table) {
      entry = at;
      at = {at.re * one.re - at.im * one.im, at.re * one.im + at.im * one.re};
    }
  }

  /// The factor by which the shift multiplies coefficient i.
  Turn turned(std::size_t i) const {
    const std::int64_t row = grid_.rows[i];
    const std::int64_t column = grid_.columns[i];
    Turn y = turns_y_[static_cast<std::size_t>(std::abs(row))];
    Turn x = turns_x_[static_cast<std::size_t>(std::abs(column))];
    if (row < 0) y.im = -y.im;
    if (column < 0) x.im = -x.im;
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
  }

  /// Robust scale of the residuals after subtracting a step.
  double scale(double x, double y) {
    sizes_.clear();
    for (const Phase& p : phases_) sizes_.push_back(std::abs(p.ahead - p.slope_x * x - p.slope_y * y));
    return 1.4826 * detail::median_in_place(sizes_);
  }

  /// One Gauss-Newton step; returns its length in pixels.
  double step(double reach) {
    linearise(reach);
    if (phases_.size() < 3) return 0;
    double x = 0;
    double y = 0;
    // The first round has no estimate of the step, so every phase would seem far off; it uses no weights. The
    // median of its residuals sets the scale of the weighted rounds. Two of these are enough, because the
    // next step weights again.
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
      std::tie(x, y) = solve_axes(Axes(xx, xy, yy), bx, by, variance);
      shift_.weight_used = all > 0 ? (xx + yy) / all : 0;
      shift_.phase_rms = power > 0 ? std::sqrt(square / power) : 0;
    }
    shift_.x += x;
    shift_.y += y;
    return std::hypot(x, y);
  }

  /// Computes the step along each axis of the normal equations, and the covariance of the shift.
  std::pair<double, double> solve_axes(const Axes& axes, double bx, double by, double variance) {
    const double direction[2][2] = {{axes.cosine, axes.sine}, {-axes.sine, axes.cosine}};
    const double prior = options_.prior_px > 0 ? variance / (options_.prior_px * options_.prior_px) : 0;
    // The prior pulls towards the start, not towards the current shift.
    const double from_x = options_.start_x - shift_.x;
    const double from_y = options_.start_y - shift_.y;
    double x = 0, y = 0;
    shift_.covariance = {};
    shift_.directions = 0;
    for (int a = 0; a < 2; ++a) {
      const double ex = direction[a][0];
      const double ey = direction[a][1];
      if (!(axes.along[a] > kMinAxis * axes.along[0])) continue;
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
    return {x, y};
  }

  const FrequencyGrid& grid_;
  std::span<const std::complex<float>> reference_, frame_;
  const PhaseShiftOptions& options_;
  std::vector<Turn> turns_x_, turns_y_;
  PhaseShift shift_;
  std::vector<Phase> phases_;
  std::vector<double> sizes_;
};

/// Steps between the two ends of each row (or column), extrapolated to half a pixel outside the picture,
/// where one period of the transform ends and the next begins. `along` counts the lines, `first` and `next`
/// the samples of a line.
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
      throw Error(ErrorCode::type_mismatch, "a picture has real samples: give u8, u16, float or double");
  }
}

/// The transform of real steps at all of their unsigned frequencies.
std::vector<Complex> transform(const std::vector<double>& steps) {
  const auto n = static_cast<std::int64_t>(steps.size());
  const dense::Plan<double> plan(Shape(n), Domain::real);
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
  grid_.unit_x = 2 * std::numbers::pi / static_cast<double>(width);
  grid_.unit_y = 2 * std::numbers::pi / static_cast<double>(height);
  for (const std::int64_t f : support) {
    const std::int64_t row = folded(f / width, height);
    const std::int64_t column = folded(f % width, width);
    const bool silent = 2 * row == height || 2 * column == width;
    grid_.rows.push_back(row);
    grid_.columns.push_back(column);
    grid_.highest_row = std::max(grid_.highest_row, std::abs(row));
    grid_.highest_column = std::max(grid_.highest_column, std::abs(column));
    grid_.omega_y.push_back(silent ? 0 : grid_.unit_y * static_cast<double>(row));
    grid_.omega_x.push_back(silent ? 0 : grid_.unit_x * static_cast<double>(column));
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
  return Fit(grid_, reference, frame, options).solve();
}

EdgeTerms PhaseShiftEstimator::edge_terms(const SignalView& frame) const {
  if (frame.shape() != shape_)
    throw Error(ErrorCode::shape_mismatch, "the frame is not of the estimator's shape");
  const std::vector<Complex> by_row = transform(end_steps(frame, true));
  const std::vector<Complex> by_column = transform(end_steps(frame, false));
  EdgeTerms terms;
  for (std::size_t i = 0; i < size(); ++i) {
    // The steps lie half a pixel before the first sample.
    const auto at = [](std::int64_t f, std::size_t n) {
      return f < 0 ? n - static_cast<std::size_t>(-f) : static_cast<std::size_t>(f);
    };
    const Complex x = std::polar(1.0, 0.5 * grid_.omega_x[i]) * by_row[at(grid_.rows[i], by_row.size())];
    const Complex y =
        std::polar(1.0, 0.5 * grid_.omega_y[i]) * by_column[at(grid_.columns[i], by_column.size())];
    terms.x.emplace_back(x);
    terms.y.emplace_back(y);
  }
  return terms;
}

}  // namespace sfft::video
