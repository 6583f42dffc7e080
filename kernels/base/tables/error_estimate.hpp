// SPDX-License-Identifier: Apache-2.0
// Turns the sums that a transform collects into error estimates: one implementation for every backend.
//
// Two scales are fitted to each frame. The *tail* scale comes from buckets without template frequencies; it
// multiplies the noise gains of the recovery rows. The *prior* scale says how much larger the coefficients
// are than the template predicts; it multiplies the bias that shrinking towards the prior leaves. A witness
// (a few scattered samples that recovery did not use) is compared with what the coefficients predict there.
// By Parseval's theorem, the mean square of the difference is the energy of everything that the coefficients
// do not explain, wherever in the spectrum it lies. What exceeds the prediction of the two scales is added to
// the error.
#pragma once

#include <cmath>

#include "kernels/base/math/portable.hpp"

namespace sfft::detail {

/// What a plan knows about its errors before it sees a frame. Sums are over the support without f = 0.
struct ErrorModel {
  double gain_sum = 0;     ///< Σ E|error|² per unit of tail scale
  double bias_sum = 0;     ///< Σ E|error|² per unit of prior scale
  double spread_gain = 0;  ///< gain_sum over the whole spectrum: with f = 0 and both of a conjugate pair
  double spread_bias = 0;  ///< bias_sum over the whole spectrum
  double fit_power = 0;    ///< E Σ fit_i |X̂_i|² per unit of prior scale; 0: there is no prior
  double fit_noise = 0;    ///< the same per unit of tail scale
  double fit_scatter = 0;  ///< standard deviation of Σ fit_i |X̂_i|² in noise alone, per unit of tail scale
  double tail_per_scale = 1;  ///< energy outside the support, Σ|X|², per unit of tail scale
  double halves = 1;          ///< 2 for real signals: a coefficient's error shows at −f too
  double witness_scale = 0;   ///< N²: turns the witness's mean square into Σ|X − X̂|²; 0: no witness
  /// The part of the witness's mean square residue that rounding explains, divided by the mean square of the
  /// samples.
  double witness_rounding = 0;
  /// The witness counts when it sees more than witness_limit times the energy that the fitted scales predict;
  /// what exceeds witness_allowed times the prediction is then unexplained. Under Gaussian noise a witness
  /// exceeds 2.25 about once in ten thousand frames.
  double witness_limit = 2.25, witness_allowed = 1;
  double witness_share = 0;  ///< of the samples that a plan reads, the part that is its witness
};

/// Reciprocals of ErrorModel values that the estimates divide by. A GPU takes hundreds of cycles to divide in
/// double precision, and the frame waits for it. The reciprocal of 0 is 0.
struct ErrorReciprocals {
  double fit_power = 0;
  double gain_sum = 0;  ///< of halves · gain_sum
};

SFFT_HOST_DEVICE ErrorReciprocals reciprocals_of(const ErrorModel& model) {
  const double gain_sum = model.halves * model.gain_sum;
  return {model.fit_power > 0 ? 1 / model.fit_power : 0, gain_sum > 0 ? 1 / gain_sum : 0};
}

/// The share of unexplained energy that is attributed to the support; the rest goes to the tail. A frequency
/// outside the template that falls into a bucket of c frequencies moves them by at most its magnitude if c =
/// 1.
constexpr double kWitnessShare = 0.5;

/// Sums over the support without f = 0, and the measurements of the tail and the witness.
struct ErrorSums {
  double scale = 0;            ///< tail scale
  double norm = 0;             ///< Σ|X̂|²
  double held = 0;             ///< the same with both halves of a real spectrum
  double fit = 0;              ///< Σ fit_i |X̂_i|², for the difference from the reference if there is one
  double witness = 0;          ///< mean square of the samples minus what the coefficients predict
  double witness_all = 0;      ///< the same over all samples, whereas `witness` leaves out the largest
  double witness_samples = 0;  ///< mean square of the samples themselves
  double reference_error = 0;  ///< Σ|X − X̂|² of the reference's coefficients, both halves of a real spectrum
  bool finite = true;
};

struct ErrorEstimate {
  double error_l2 = 0, relative_error = 0, tail_energy = 0, residual = 0;
  bool finite = true;
};

/// The estimate before square roots: error_l2² = error, relative_error² = error/norm, residual² = tail/total;
/// a denominator of 0 gives 0. E|X̂_i − X_i|² = gain_scale·gain_i + bias_scale·bias_i.
struct Ratios {
  double error, norm, tail, total;
  double gain_scale, bias_scale;
  bool finite;
};

/// The energy of a burst that the trimmed mean of the witness leaves out; not positive if there is no burst.
/// A witness sample that a burst hits represents its share of all samples that were read. If the burst had
/// hit more samples than that, the empty buckets would have seen it, and the scales would predict it.
SFFT_HOST_DEVICE double burst_energy(const ErrorModel& model, const ErrorSums& sums, double expected) {
  const double all = model.witness_scale * sums.witness_all;
  const double pooled = model.witness_share * all - expected;
  const double beyond = all - model.witness_limit * expected;
  return pooled < beyond ? pooled : beyond;
}

/// `epsilon` of the arithmetic: rounding adds a few units in the last place of what was summed.
SFFT_HOST_DEVICE Ratios error_ratios(const ErrorModel& model, const ErrorReciprocals& reciprocals,
                                     const ErrorSums& sums, double epsilon) {
  Ratios out{};
  out.gain_scale = sums.scale;
  if (model.fit_power > 0) {
    // Noise may hide a prior scale that is as large as the noise's scatter, so the estimate is at least that.
    const double fitted = sums.fit - sums.scale * model.fit_noise, min = sums.scale * model.fit_scatter;
    out.bias_scale = (fitted > min ? fitted : min) * reciprocals.fit_power;
  }
  out.tail = sums.scale * model.tail_per_scale;
  const double seen = model.witness_scale * sums.witness;
  const double rounding = model.witness_scale * model.witness_rounding * sums.witness_samples;
  const double expected =
      out.tail + out.gain_scale * model.spread_gain + out.bias_scale * model.spread_bias + rounding;
  double unexplained = seen > model.witness_limit * expected ? seen - model.witness_allowed * expected : 0;
  const double burst = burst_energy(model, sums, expected);
  if (burst > unexplained) unexplained = burst;
  if (unexplained > 0) {
    const double inside = kWitnessShare * unexplained;
    out.tail += unexplained - inside;
    out.gain_scale += inside * reciprocals.gain_sum;
  }
  out.gain_scale += sums.reference_error * reciprocals.gain_sum;
  const double noise = out.gain_scale * model.gain_sum;
  out.error = noise + out.bias_scale * model.bias_sum + 16 * epsilon * epsilon * sums.norm;
  // Noise adds to the computed norm, so the error relative to the true norm is larger.
  constexpr double kMinNorm = 1.0 / 16;
  const double cleaned = sums.norm - noise, min = kMinNorm * sums.norm;
  out.norm = cleaned > min ? cleaned : min;
  out.total = out.tail + sums.held;
  out.finite = sums.finite && sums.norm - sums.norm == 0 && seen - seen == 0;
  return out;
}

SFFT_HOST_DEVICE Ratios error_ratios(const ErrorModel& model, const ErrorSums& sums, double epsilon) {
  return error_ratios(model, reciprocals_of(model), sums, epsilon);
}

SFFT_HOST_DEVICE ErrorEstimate estimate_error(const Ratios& ratios) {
  ErrorEstimate errors;
  errors.error_l2 = sqrt(ratios.error);
  errors.relative_error = ratios.norm > 0 ? sqrt(ratios.error / ratios.norm) : 0;
  errors.tail_energy = ratios.tail;
  errors.residual = ratios.total > 0 ? sqrt(ratios.tail / ratios.total) : 0;
  errors.finite = ratios.finite;
  return errors;
}

}  // namespace sfft::detail
