// SPDX-License-Identifier: Apache-2.0
// Rounds of windows, for shapes without combs and for frequencies that share a residue class.
#include <algorithm>

#include "template/discovery/discovery_driver.hpp"
#include "template/discovery/window.hpp"

namespace sfft::detail {

namespace {

constexpr std::int64_t kWindowBucketsPerFrequency = 6;

}  // namespace

template <class Real>
void DiscoveryDriver<Real>::run_windows() {
  DiscoveryWindow<Real> window(sampler_);
  std::int64_t max = 1;
  while (DiscoveryWindow<Real>::samples(2 * max) <= shape_.points()) max *= 2;
  if (leaks()) return;
  // Failed combs leave guesses, so windows start with an empty list.
  promising_ = false;
  result_.components.clear();
  result_.missed_bound = everything();
  result_.path = Path::flat_window;
  std::int64_t buckets = kFewestBuckets;
  while (buckets < kWindowBucketsPerFrequency * expected_) buckets *= 2;
  constexpr double kTapUs = 0.013;
  int stalled = 0;
  for (int number = 0; number < kMaxRounds && stalled < 3; ++number) {
    if (buckets > max) return;
    const std::int64_t samples = DiscoveryWindow<Real>::samples(buckets);
    const Purpose purpose = number == 0 || (promising_ && stalled < 2) ? Purpose::search : Purpose::look;
    if (!afford(kTapUs * static_cast<double>(samples), 1, samples, purpose)) return;
    // Leakage has very many peaks. Their number, not that of the samples, decides how long a round takes.
    const DiscoveryRound round =
        window.round(buckets, random_, result_.components, limit_us(Purpose::search) - spent_us_);
    ++result_.rounds;
    spent_us_ += window.work_us();
    if (!accept(round, 1 / window.noise_share())) return;
    // Each frequency appears in about three of a window's buckets.
    judge_prospects(round, (round.unresolved + 2) / 3);
    if (hopeless_) return;
    if (number > 0 && round.clean() && !result_.components.empty()) {
      // Windows are good at finding; combs read more samples in the same time and see what windows miss. If
      // the shape has no combs, two rounds of windows that agree must suffice.
      const bool combs = noisy_ && request_.path == Path::automatic;
      result_.verified = !combs || check(CombGrids(shape_), nullptr) != Verdict::unclean;
      if (!result_.verified) result_.reason = "combs and windows do not agree";
      return;
    }
    stalled = round.added > round.dropped || (round.unresolved == 0 && round.added > 0) ? 0 : stalled + 1;
    result_.reason = round.significant == 0 && result_.components.empty()
                         ? "no frequency stands out of the noise"
                         : "some frequencies could not be told apart";
    const bool empty = result_.components.empty();
    if (empty || round.crowded) {
      buckets *= 4;
    } else if (round.unresolved > round.added) {
      buckets *= 2;
    }
  }
}

template void DiscoveryDriver<float>::run_windows();
template void DiscoveryDriver<double>::run_windows();

}  // namespace sfft::detail
