// SPDX-License-Identifier: Apache-2.0
// How long the results of learning stay valid.
#include "sfft/tracking/relearning.hpp"

#include <algorithm>

namespace sfft::detail {

template <class Real>
void Relearning<Real>::learned(std::int64_t frame, const LearnAnswer<Real>& answer, double all) noexcept {
  learned_at_ = frame;
  fresh_share_ = answer.fresh_held / std::max(all, 1e-300);
}

template <class Real>
void Relearning<Real>::note_tones(const LearnAnswer<Real>& answer, std::int64_t frame) {
  constexpr std::int64_t kLongEnough = 64;
  const bool drift = std::ranges::any_of(answer.tones, &DriftingTone::drifts);
  if (!answer.fresh || (!drift && frame - tones_at < kLongEnough && answer.tones.size() == tones.size()))
    return;
  tones = answer.tones;
  tones_at = frame;
}

template <class Real>
bool Relearning<Real>::worthwhile(std::int64_t frame, double held, double all,
                                  double relearn_below) const noexcept {
  constexpr std::int64_t kLongestTrust = 256;
  if (frame - learned_at_ >= kLongestTrust) return true;
  const double halfway = (1 + relearn_below) / 2;
  return !(held >= halfway * fresh_share_ * all);
}

template struct Relearning<float>;
template struct Relearning<double>;

}  // namespace sfft::detail
