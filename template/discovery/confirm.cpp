// SPDX-License-Identifier: Apache-2.0
// Decides whether to trust the rounds' result: checks it on fresh samples of combs, then on scattered
// samples, and compares the number of frequencies with the request.
#include <algorithm>
#include <cmath>
#include <limits>

#include "template/discovery/discovery_driver.hpp"

namespace sfft::detail {

namespace {

constexpr std::int64_t kFrequenciesPerCheckBucket = 2;

}  // namespace

template <class Real>
typename DiscoveryDriver<Real>::Verdict DiscoveryDriver<Real>::check(const CombGrids& grids,
                                                                     const CombGrid* used) {
  double energy = 0;
  double error = 0;
  for (const DiscoveryComponent& component : result_.components) {
    energy += std::norm(component.value);
    error += component.variance;
  }
  const auto count = static_cast<std::int64_t>(result_.components.size());
  const double limit = request_.accuracy * request_.accuracy * energy;
  const bool noisy = noisy_ && error > limit;
  double samples = 0;
  std::int64_t target = std::max(kFewestBuckets, count / kFrequenciesPerCheckBucket);
  if (noisy) {
    const double points = static_cast<double>(shape_.points());
    samples = std::min(points / (request_.noise_gain * request_.noise_gain),
                       static_cast<double>(count) * result_.tail_energy / limit);
    target = std::max<std::int64_t>(32 * count, 512);
    while (8 * target > static_cast<std::int64_t>(samples) && target > kFewestBuckets) target /= 2;
  }
  const auto grid = grids.near(target, used, random_);
  if (!grid) return Verdict::none;
  CheckReads reads;
  if (noisy)
    reads.runs = static_cast<std::int64_t>(std::ceil(samples / static_cast<double>(8 * grid->count)));
  // A spectrum that is not sparse already fails with one run.
  Verdict verdict = Verdict::clean;
  if (reads.runs > 1) verdict = check_once(*grid, {.runs = 1});
  if (verdict == Verdict::clean) verdict = check_once(*grid, reads);
  return verdict == Verdict::clean && result_.components.empty() ? Verdict::unclean : verdict;
}

template <class Real>
typename DiscoveryDriver<Real>::Verdict DiscoveryDriver<Real>::check_once(const CombGrid& grid,
                                                                          const CheckReads& reads) {
  if (!affordable(grid, std::max<std::int64_t>(kDiscoveryDelays, 8 * reads.runs), Purpose::refine))
    return Verdict::none;
  const DiscoveryRound round = comb_.check(grid, reads, random_, result_.components);
  ++result_.rounds;
  if (!accept(round, static_cast<double>(grid.count))) return Verdict::unclean;
  if (noisy_ && !round.clean()) judge_prospects(round, 3 * round.unresolved);
  return round.clean() ? Verdict::clean : Verdict::unclean;
}

template <class Real>
void DiscoveryDriver<Real>::confirm() {
  if (!result_.verified) return;
  if (noisy_) drop_doubtful();
  result_.verified = !result_.components.empty();
  if (!result_.verified) {
    result_.reason = "no frequency stands out of the noise";
    return;
  }
  hear_witness();
  // The noise was measured in empty buckets; the rounding of sines and sums is proportional to the value
  // itself.
  constexpr double kOwn = 2 * std::numeric_limits<Real>::epsilon();
  for (DiscoveryComponent& component : result_.components)
    component.variance =
        component.doubt * component.variance + kOwn * kOwn * std::norm(component.value) + result_.excess;
}

template <class Real>
void DiscoveryDriver<Real>::drop_doubtful() {
  constexpr double kSure = 30;
  double dropped = 0;
  std::erase_if(result_.components, [&](const DiscoveryComponent& component) {
    const bool doubtful = std::norm(component.value) < kSure * component.variance;
    if (doubtful) dropped = std::max(dropped, std::norm(component.value));
    return doubtful;
  });
  result_.missed_bound = std::max(result_.missed_bound, kMargin * std::sqrt(dropped));
}

template <class Real>
void DiscoveryDriver<Real>::hear_witness() {
  // The check may take a share of work_us_, which does not depend on where the signal is, but it reads at
  // least the samples that the requested confidence needs.
  constexpr double kShareOfSearch = 0.2;
  constexpr double kSampleUs = 2e-3, kSampleAndWaveUs = 2e-4;
  constexpr double kMaxSamples = 4096;
  const double sample_us = kSampleUs + kSampleAndWaveUs * static_cast<double>(result_.components.size());
  const std::int64_t min = witness_samples(request_.confidence);
  const auto affordable =
      static_cast<std::int64_t>(std::min(kMaxSamples, kShareOfSearch * work_us_ / sample_us));
  DiscoveryWitness<Real> witness(signal_, shape_);
  const WitnessReport report =
      witness.examine(result_.components, {result_.tail_energy, noisy_}, std::max(min, affordable),
                      request_.confidence, request_.everything, scatter_);
  spent_us_ += sample_us * static_cast<double>(report.samples) + request_.read_us;
  result_.check_samples += report.samples;
  result_.unseen_share = report.unseen_share;
  result_.whole_agrees = report.whole_agrees;
  result_.finite = report.finite;
  result_.verified = report.agrees;
  if (!report.agrees) result_.reason = report.finite ? report.reason : kNotFinite;
  // No frequency outside the components exceeds the energy of their residual. Under noise this says little.
  if (!noisy_) result_.missed_bound = std::max(result_.missed_bound, kMargin * std::sqrt(report.tail_energy));
  if (!report.whole_agrees) return;
  // The excess that the pass over all samples saw may come from a few changed samples. One changed sample has
  // a flat spectrum; m adjacent ones may have a peak of m times the mean power.
  constexpr double kPeak = 16;
  result_.tail_energy = std::max(result_.tail_energy, report.tail_energy);
  result_.excess = report.excess;
  result_.missed_bound = std::hypot(result_.missed_bound, std::sqrt(kPeak * report.excess));
}

template <class Real>
void DiscoveryDriver<Real>::judge_count() {
  const auto found = static_cast<std::int64_t>(result_.components.size());
  if (noisy_ && request_.k > 0 && found < request_.k) {
    result_.verified = false;
    result_.reason = "fewer frequencies than requested stand out of the noise";
  } else {
    result_.reason = "verified on samples that discovery had not seen";
  }
}

#define SFFT_INSTANTIATE(Real)                                                                    \
  template typename DiscoveryDriver<Real>::Verdict DiscoveryDriver<Real>::check(const CombGrids&, \
                                                                                const CombGrid*); \
  template void DiscoveryDriver<Real>::confirm();                                                 \
  template void DiscoveryDriver<Real>::judge_count();
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)
#undef SFFT_INSTANTIATE

}  // namespace sfft::detail
