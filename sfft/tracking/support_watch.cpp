// SPDX-License-Identifier: Apache-2.0
// A level is the lowest median over windows of eight frames. A wait doubles after each dense transform or
// learning that did not help.
#include "sfft/tracking/tracking_policy.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::detail {

namespace {

constexpr int kLongestWait = 256;
/// Maximum wait between dense transforms without a reference. It is short because a slow drift gives the
/// first of them nothing to gain.
constexpr int kShortWait = 32;
/// Frames per dense transform in the long run.
constexpr double kSpacing = 32;
/// A sample is above a level if it exceeds the level by kScatters times the scatter of single frames and by
/// kFactor. An unknown scatter is assumed to be kUnknownScatter times the level.
constexpr double kScatters = 6, kFactor = 1.25, kUnknownScatter = 0.15;
/// If errors are too large, an increase of the share outside by this factor matters.
constexpr double kMuchMore = 4;
/// If the support holds less than this fraction of what it held before, neither a comparison nor learning
/// waits, unless the last one was made at a similar loss: at a share that is at most 1/kSince of the present
/// one.
constexpr double kBadLoss = 0.95, kSince = 0.96;
/// If it holds less than this fraction, the template is replaced at once.
constexpr double kBearable = 0.9;
/// If the share outside the support is larger than this, it says little, and the energy decides.
constexpr double kNearlyAll = 0.5;

int longer(int wait, int first) {
  return std::clamp(2 * wait, std::min(first, kLongestWait), kLongestWait);
}

}  // namespace

void SupportWatch::forget_level() noexcept {
  level_ = {kUnknown, kUnknown};
  scatter_ = {};
  windows_ = 0;
  in_window_ = 0;
  above_in_a_row_ = worse_in_a_row_ = 0;
}

void SupportWatch::replanned() noexcept {
  forget_level();
  bias_ = kUnknown;
}

void SupportWatch::renewed(double share, bool estimates_follow) noexcept {
  forget_level();
  expected_ = before_try_ = share;
  bias_ = estimates_follow ? 1 : kUnknown;
  compared_ = kUnknown;
  longest_compare_wait_ = estimates_follow ? kShortWait : kLongestWait;
  if (!estimates_follow || !(share == share)) return;
  level_.share = 1 - share;
  scatter_.share = kUnknownScatter * level_.share;
}

void SupportWatch::next_frame() noexcept {
  ++compare_.since;
  ++try_.since;
  affordable_ = std::min(kBurst, affordable_ + 1 / kSpacing);
}

void SupportWatch::note(const Sample& sample) noexcept {
  window_[in_window_] = sample;
  if (++in_window_ < kWindow) return;
  in_window_ = 0;
  std::array<double, kWindow> sorted{};
  const auto median = [&sorted](auto value_of) {
    for (std::size_t i = 0; i < kWindow; ++i) sorted[i] = value_of(i);
    std::nth_element(sorted.begin(), sorted.begin() + kWindow / 2, sorted.end());
    return sorted[kWindow / 2];
  };
  const auto renew = [&](double Sample::*part) {
    const double middle = median([&](std::size_t i) { return window_[i].*part; });
    const double scatter = median([&](std::size_t i) { return std::fabs(window_[i].*part - middle); });
    scatter_.*part += (scatter - scatter_.*part) / windows_;
    if (!(level_.*part <= middle)) level_.*part = middle;
  };
  constexpr int kMemory = 16;
  windows_ = std::min(windows_ + 1, kMemory);
  renew(&Sample::share);
  renew(&Sample::energy);
}

bool SupportWatch::above(const Sample& sample) const noexcept {
  const auto exceeds = [&](double Sample::*part) {
    return sample.*part > kFactor * (level_.*part) &&
           sample.*part > level_.*part + kScatters * (scatter_.*part);
  };
  // The level may have risen before it was measured, so the share is first compared with the known one.
  if (falls_short(bias_ * (1 - sample.share))) return true;
  if (exceeds(&Sample::share) && 1 - sample.share < worth_asking_ * (1 - level_.share)) return true;
  return sample.share > kNearlyAll && exceeds(&Sample::energy);
}

/// Whether a support lost much, and some of it since an exact share, `before`, was known.
bool SupportWatch::lost_more(double share, double before) const noexcept {
  return share < kBadLoss * expected_ && share < kSince * before;
}

bool SupportWatch::suspects(double residual, double tail_energy) noexcept {
  const Sample sample{residual * residual, tail_energy};
  above_in_a_row_ = above(sample) ? above_in_a_row_ + 1 : 0;
  worse_in_a_row_ = lost_more(bias_ * (1 - sample.share), compared_) ? worse_in_a_row_ + 1 : 0;
  if (above_in_a_row_ == 0) note(sample);
  return above_in_a_row_ >= patience_;
}

void SupportWatch::suspicion_compared() noexcept {
  affordable_ -= 1;
  compare_.since = 0;
  compare_.wait = std::min(longer(compare_.wait, hold_), longest_compare_wait_);
  forget_level();
}

bool SupportWatch::bearable(double share) const noexcept {
  // If much was lost since learning began, its result is outdated.
  return share > kBearable * expected_ && !(trying_ && lost_more(share, tried_));
}

bool SupportWatch::outdated(double share, bool missed) noexcept {
  const bool worth_asking = falls_short(share) || (missed && 1 - share > kMuchMore * (1 - expected_));
  if (!worth_asking) {
    expected_ = expected_ >= share ? expected_ : share;
    return false;
  }
  const bool much_worse = share < kBadLoss * expected_ && 1 - share > 2 * (1 - tried_);
  return try_.over() || much_worse;
}

void SupportWatch::trying(double share) noexcept {
  try_.since = 0;
  trying_ = true;
  before_try_ = expected_;
  expected_ = tried_ = share;
}

void SupportWatch::abandoned() noexcept {
  trying_ = false;
  expected_ = before_try_;
  tried_ = 1;
}

void SupportWatch::tried(bool helped) noexcept {
  trying_ = false;
  try_.wait = helped ? 0 : longer(try_.wait, hold_);
  if (helped) compare_.wait = 0;
}

}  // namespace sfft::detail
