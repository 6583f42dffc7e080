// SPDX-License-Identifier: Apache-2.0
// What is known from templates learned so far, and learning in the background.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sfft/tracking/background_learning.hpp"

namespace sfft::detail {

template <class Real>
struct Relearning {
  /// Records what learning from a frame of this number found. `all`: the frame's energy without f = 0.
  void learned(std::int64_t frame, const LearnAnswer<Real>& answer, double all) noexcept;
  /// Keeps the tones of a frame that gave a fresh template. If none drifts and their number is the same,
  /// earlier tones are kept for 64 frames, because a velocity can be measured only after tones have moved.
  void note_tones(const LearnAnswer<Real>& answer, std::int64_t frame);
  /// Whether a support that holds `held` of the energy `all` of a frame probably holds less than a fresh one,
  /// by more than half of what `relearn_below` allows. The share of a scene's energy in fresh frequencies
  /// changes slowly, so the last known share counts for 256 frames; later, the answer is true.
  bool worthwhile(std::int64_t frame, double held, double all, double relearn_below) const noexcept;

  BackgroundLearning<Real> background;
  std::optional<LearnRequest<Real>> request;  ///< to learn from the current frame in the background
  std::vector<DriftingTone> tones;            ///< tones of a frame that a template was learned from
  std::int64_t tones_at = -1;                 ///< the number of that frame

 private:
  double fresh_share_ = 0;  ///< share of a frame's energy in the support last learned from that frame
  std::int64_t learned_at_ = std::numeric_limits<std::int64_t>::min() / 2;  ///< the number of that frame
};

extern template struct Relearning<float>;
extern template struct Relearning<double>;

}  // namespace sfft::detail
