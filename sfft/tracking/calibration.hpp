// SPDX-License-Identifier: Apache-2.0
// Learns correction factors for a tracker's reported errors, from frames that are also transformed densely.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sfft/plan.hpp"

namespace sfft::detail {

/// Three logarithms that hardly vary while changes are of one kind, whatever their size. They differ between
/// shadows, sensor noise, textures and rain. They cost one pass over the coefficients. All frames of a stream
/// that does not repeat have the shape {0, 0, 0}: their coefficients change by their whole magnitude.
struct ChangeShape {
  double held = 0;    ///< log of Σ|Δ_i|² over the tail's energy; Δ_i is the change of a coefficient
  double shared = 0;  ///< log of (Σ|Δ_i|²)² / Σ|Δ_i|⁴: how many coefficients share the change
  /// log(0.1 + r), where r is the energy of the change since the previous frame over Σ|Δ_i|². r is nearly 0
  /// for slow motion. For noise, which is independent in every frame, r is 2 if Δ is relative to a noise-free
  /// spectrum and 1 if that is as noisy. NaN if the previous frame is not known.
  double fresh = 0;
};

/// `before`: the coefficients of the last renewal, which is the reference if there is one. `previous`: those
/// of the previous frame, or empty. `mean`: the position of f = 0, which is left out, or -1.
template <class Real>
ChangeShape change_shape(const Spectrum<Real>& spectrum, std::span<const std::complex<double>> before,
                         std::span<const std::complex<Real>> previous, std::int64_t mean) {
  const auto square = [](double re, double im) { return re * re + im * im; };
  // Several sums, because in a single one each addition would wait for the one before.
  constexpr std::size_t kLanes = 4;
  double sums[kLanes] = {}, squares[kLanes] = {}, steps[kLanes] = {};
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto re = static_cast<double>(spectrum.values[i].real()),
                 im = static_cast<double>(spectrum.values[i].imag());
      const double p = square(re - before[i].real(), im - before[i].imag());
      sums[i % kLanes] += p;
      squares[i % kLanes] += p * p;
      if (!previous.empty())
        steps[i % kLanes] += square(re - static_cast<double>(previous[i].real()),
                                    im - static_cast<double>(previous[i].imag()));
    }
  };
  const std::size_t k = before.size(), gap = mean < 0 ? k : static_cast<std::size_t>(mean);
  add(0, gap);
  add(std::min(gap + 1, k), k);
  const auto total = [](const double* lanes) { return lanes[0] + lanes[1] + lanes[2] + lanes[3]; };
  const double sum = total(sums), fourth = total(squares), step = total(steps);
  const auto usable = [](double x) {
    return x > std::numeric_limits<double>::min() && x < std::numeric_limits<double>::max();
  };
  if (!usable(sum) || !usable(fourth) || !usable(spectrum.quality.tail_energy)) return {};
  constexpr double kRepeats = 0.5;
  const double norm = spectrum.quality.error_l2 / spectrum.quality.relative_error;
  if (!(sum < kRepeats * norm * norm)) return {};
  constexpr double kLittle = 0.1;
  const bool follows = !previous.empty() && step < std::numeric_limits<double>::max();
  const double fresh = follows ? std::log(kLittle + step / sum) : std::numeric_limits<double>::quiet_NaN();
  return {std::log(sum / spectrum.quality.tail_energy), std::log(sum / fourth * sum), fresh};
}

/// A plan's error estimate rests on a model of what changes from frame to frame. On a given stream, the model
/// is off by a factor that hardly varies while errors have one level and changes are of one kind. A few
/// comparisons with exact spectra determine it. The first comparisons come soon after a new plan, and the
/// interval then grows. A frame is also compared if its reported error or its kind of change differs from
/// those of all known or of recent comparisons. A comparison that contradicts its report shortens the
/// interval. If nothing similar was compared, reports are multiplied by a factor that suits most kinds of
/// change.
class Calibration {
 public:
  /// `interval`: frames between comparisons in the long run; 0: no comparisons.
  explicit Calibration(int interval) : interval_(interval) {}

  /// What is known about a frame without a comparison: its uncalibrated relative error and shape of change.
  struct Report {
    double error;
    ChangeShape shape;
    Report(double relative_error, ChangeShape change = {}) : error(relative_error), shape(change) {}
  };

  /// Call when the plan has changed: comparisons with the old plan say little about a new one.
  void restart();
  /// Call when the reference has changed: the same kind of change now has another shape.
  void referenced() noexcept;
  /// Sets the number of coefficients over which errors are summed. Sums over few coefficients scatter.
  void coefficients(std::int64_t count) noexcept;
  /// Counts a frame. True: compare this one.
  bool due(const Report& report);
  /// Frames up to and including the next scheduled comparison. A large number if none is scheduled, or if it
  /// is overdue because errors are negligible.
  std::int64_t frames_to_next() const noexcept;
  /// What a comparison found: the true ‖X̂ − X‖₂ and the reported one.
  struct KnownErrors {
    double true_l2, reported_l2;
  };
  /// Predicts the comparisons of the next `frames` frames. Calls `take` with the number of each compared
  /// frame, counted from 0, until `take` returns false. `reported` returns a frame's report, and `found` the
  /// result of its comparison, if they are known. A comparison with an unknown result is assumed to find the
  /// expected error.
  template <class Reported, class Finding, class Take>
  void expected(std::size_t frames, const Reported& reported, const Finding& found, const Take& take) const {
    Calibration ahead = *this;
    for (std::size_t i = 0; i < frames; ++i) {
      const std::optional<Report> report = reported(i);
      if (!(report ? ahead.due(*report) : ahead.scheduled())) continue;
      if (!take(i)) return;
      if (const std::optional<KnownErrors> known = report ? found(i) : std::nullopt)
        ahead.compared(known->true_l2, known->reported_l2, *report);
      else
        ahead.agreed(report.value_or(Report(0)));
    }
  }
  /// The caller requested the comparison of this frame; it replaces the next scheduled one.
  void bring_forward() noexcept;
  /// Records the outcome of a comparison, in ‖X̂ − X‖₂.
  void compared(double true_l2, double reported_l2, const Report& report);
  /// The factor by which to multiply a reported relative error.
  double factor(const Report& report) const;

 private:
  /// A frame whose error is known.
  struct Comparison {
    double level;  ///< log of the relative error reported, uncalibrated
    ChangeShape shape;
    double log_ratio;  ///< log of the true error over the reported one

    explicit Comparison(const Report& report, double found = 0);
  };

  bool scheduled() noexcept;
  void agreed(const Report& report);
  std::int64_t longer(std::int64_t step) const noexcept;
  double distance(const Comparison& a, const Comparison& b) const noexcept;
  double scatter(const Comparison& frame) const;
  double nearest(const Comparison& frame, std::size_t count) const;
  double min(const Comparison& frame) const;
  void remember(const Comparison& comparison);

  static constexpr double kBudget = 5;
  int interval_;
  std::int64_t frames_ = 0;        ///< frames since the plan was new
  std::int64_t next_ = 2;          ///< frame of the next scheduled comparison
  std::int64_t step_ = 2;          ///< frames from that to the following one
  std::int64_t last_ = 0;          ///< frame of the last comparison
  double budget_ = kBudget;        ///< unscheduled comparisons that may be made now; refills with time
  bool brought_forward_ = false;   ///< the comparison of this frame was requested by the caller
  double scatter_ = 0;             ///< standard deviation of the log of a true error over k coefficients
  int unlike_in_a_row_ = 0;        ///< consecutive frames unlike all recent comparisons
  std::vector<Comparison> known_;  ///< the most recent ones, and the last ones of each kind of change
};

}  // namespace sfft::detail
