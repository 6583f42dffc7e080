// SPDX-License-Identifier: Apache-2.0
// The data that the parts of discovery exchange: the request, what one round saw, and the result.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"
#include "template/discovery/grid_point.hpp"
#include "template/discovery/sampler.hpp"

namespace sfft::detail {

/// A frequency believed to be present.
struct DiscoveryComponent {
  GridPoint f;
  std::complex<double> value;  ///< X[f]
  double variance;             ///< E|error|² of value
  double doubt = 1;            ///< factor on the variance, if estimates disagree by more than it explains
};

struct DiscoveryRequest {
  std::int64_t k = 0;       ///< frequencies expected, both of a conjugate pair counted; 0: unknown
  double accuracy = 1e-6;   ///< no further samples are read below this relative L2 error of the values
  double noise_gain = 2.6;  ///< the same for their standard error relative to a dense transform's
  std::uint64_t seed = 1;
  Path path = Path::automatic;  ///< or comb, or flat_window
  /// Limits on the predicted time beyond which no round starts: one without progress, one that extends a
  /// likely answer, and one that only refines and checks the answer. 0: no limit.
  double patience_us = 0;
  double search_us = 0;
  double effort_us = 0;
  std::int64_t max_samples = 0;  ///< no round starts that would read more in total; 0: no limit
  double read_us = 0;            ///< fixed cost of one request for samples
  double confidence = 1e-9;      ///< probability that the final scattered samples miss a disturbance
  bool everything = false;       ///< also read the whole signal and verify its sums
  bool exact_only = false;       ///< give up if more than rounding is outside what can be found
  bool off_grid = false;         ///< look for tones between bins once a round fails
  double first_look_us = 0;      ///< look for them also once explaining the buckets has taken this long
};

struct DiscoveryResult {
  std::vector<DiscoveryComponent> components;  ///< in no order; both halves for real signals
  bool verified = false;
  bool finite = true;
  double tail_energy = 0;   ///< Σ|X|² outside the components
  double missed_bound = 0;  ///< bound on |X| outside the components, with the tests' confidence
  std::int64_t samples = 0;
  std::int64_t check_samples = 0;  ///< the scattered ones among them that the answer was compared with
  double unseen_share = 1;    ///< share of the signal; a disturbance of a smaller share may have been missed
  bool whole_agrees = false;  ///< all samples were read, and their sums are explained
  double excess = 0;          ///< Σ|x|² that these sums show beyond what the rounds said
  std::vector<OffGridTone> off_grid_tones;  ///< seen before the search ended or failed
  int rounds = 0;
  Path path = Path::comb;  ///< the path of the last round
  const char* reason = "";
};

/// What one round saw.
struct DiscoveryRound {
  std::int64_t significant = 0;  ///< buckets that stand out of the noise
  std::int64_t unresolved = 0;   ///< those that a few frequencies do not explain
  std::int64_t added = 0, dropped = 0;
  double total_energy = 0;  ///< Σ|X|², estimated
  double noise = 0;         ///< power of one delay of an empty bucket, in units of |X|², including rounding
  double rounding = 0;      ///< the part of `noise` due to rounding
  double weakest = 0;       ///< smallest power of a significant bucket
  double missed_power = 0;  ///< a component with more power would have been seen
  bool crowded = false;     ///< most buckets are full: there are too few, or the spectrum is not sparse
  bool finite = true;

  bool clean() const noexcept { return unresolved == 0 && added == 0 && dropped == 0 && finite; }
};

/// The value that the mean of `count` unit exponentials exceeds with probability below exp(−a). It separates
/// a bucket of noise from one with a frequency (Laurent and Massart, Annals of Statistics 28, 2000).
inline double exceedance(std::int64_t count, double a) noexcept {
  const auto n = static_cast<double>(count);
  return 1 + std::sqrt(2 * a / n) + a / n;
}

/// |difference|² of two estimates of one value, relative to its variance; 1 on average. Estimates come from
/// different grids or windows. They differ more if another frequency is hidden in a bucket of one of them,
/// too weak to be found or in phase with the known one at all delays.
inline double disagreement(std::complex<double> difference, double variance) noexcept {
  return std::norm(difference) / variance;
}
/// DiscoveryComponent::doubt of a value whose estimates disagree; 1.07 on average by chance.
inline double doubt_of(double disagreement) noexcept {
  return std::max(1.0, disagreement / 2);
}
/// Disagreement, in units of the round's confidence, at which the hidden part is no longer small compared
/// with missed_power.
constexpr double kContradiction = 2;

/// Rounding error of one bucket from the given samples and the small FFT, in units of epsilon · √Σ|X|².
constexpr double kRoundingShare = 0.35;
/// Rounding error of a bucket's content, in units of epsilon: a frequency that is weaker than another of the
/// same bucket by this factor is not seen.
constexpr double kOwnRounding = 3;
/// Rounds per wrong decision between noise and signal.
constexpr double kRoundsPerMistake = 1e3;

/// Runs rounds of combs if the shape has suitable divisors, and rounds of permuted windowed lines if it has
/// none or if frequencies share a residue class. Fresh samples then decide `verified`. The number of rounds
/// is bounded, and their predicted time by the request's limits. Signals may be complex or real; the result
/// of a real one holds both frequencies of each conjugate pair.
///
/// If the call is stopped, `until_stopped` (or null) receives what was found until then, before Stopped is
/// thrown.
template <class Real>
DiscoveryResult run_discovery(SampleReader& signal, const Shape& shape, const DiscoveryRequest& request,
                              DiscoveryResult* until_stopped = nullptr);

extern template DiscoveryResult run_discovery<float>(SampleReader&, const Shape&, const DiscoveryRequest&,
                                                     DiscoveryResult*);
extern template DiscoveryResult run_discovery<double>(SampleReader&, const Shape&, const DiscoveryRequest&,
                                                      DiscoveryResult*);

}  // namespace sfft::detail
