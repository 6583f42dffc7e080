// SPDX-License-Identifier: Apache-2.0
// Frames that differ in nothing, and frames that hardly differ where they did.
#include "video/guard/freeze_detector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sfft::video {

namespace {

constexpr int kRepeats = 7;
/// The same where no noise was seen before, longer than encoders usually leave a still picture alone.
constexpr int kRepeatsUnheard = 1000;
/// Share of the tiles that have noise in a scene that should not repeat.
constexpr double kLively = 0.15;
/// Share of the full range, and of the pixels: a picture that shows nothing may repeat.
constexpr double kFlat = 0.02;
constexpr double kAllWhite = 0.9;
/// Gain below which the noise may vanish with the light.
constexpr double kDimmed = 0.7;
/// Logarithm of the factor on the light from one frame to the next, from which noise has to be learned anew.
constexpr double kOtherLight = 0.15;
/// The same from which what changes says nothing of noise.
constexpr double kUnsteadyLight = 0.03;
/// Share of the scene that is hidden, and part of the detail that is left, with which noise may be gone, too.
constexpr double kHidden = 0.6;
constexpr double kSoft = 0.8;

}  // namespace

double FreezeDetector::judge(const Observation& seen, double usual_detail) {
  // Noise depends on the light.
  if (std::abs(seen.brightening) > kOtherLight) {
    stillness_ = {};
    lively_ = 0;
    moves_ = -std::numeric_limits<double>::infinity();
  }
  stillness_.hold(frozen_ || std::abs(seen.brightening) > kUnsteadyLight);
  if (!seen.repeats && !frozen_) lively_ = stillness_.lively();
  stillness_.add(seen.activity);
  const bool plain_picture = seen.spread < kFlat || seen.bright > kAllWhite;
  const double repeats = repeating(seen);
  // What hides the scene, dims it or takes its detail away takes noise away, too.
  const bool visible =
      seen.changed < kHidden && seen.gain > kDimmed && seen.detail > kSoft * usual_detail && !plain_picture;
  // What has just moved again is not still because it was.
  ++frames_;
  const bool known = frozen_ || frames_ > Stillness::kWindow;
  const double standing = visible && known ? sensitivity_ * stillness_.strength() : 0;
  const double strength = plain_picture ? 0 : std::max(repeats, standing);
  if (!frozen_) {
    if (strength > 1) freeze(repeats >= standing);
    return strength;
  }
  if (!plain_picture && stillness_.level() < moves_) return std::max(strength, 1.0);
  frozen_ = false;
  frames_ = plain_picture ? 1 : stillness_.step(Stillness::kWindow).frames;
  return 0;
}

void FreezeDetector::freeze(bool repeats) {
  frozen_ = true;
  const ActivityStep step = stillness_.step(Stillness::kKept);
  moves_ = 0.5 * (step.before + step.after);
  // An encoder goes on refining a stopped picture for a while before it repeats it.
  const bool refined = step.frames >= repeats_ && step.frames <= repeats_ + Stillness::kWindow;
  // The first frame is the one that the others are like.
  frames_ = 1 + (!repeats || refined ? step.frames : repeats_);
}

double FreezeDetector::repeating(const Observation& seen) {
  // A scene without motion whose noise the encoder removes repeats by itself.
  const double least = lively_ > kLively ? kRepeats : kRepeatsUnheard;
  const double limit = std::max(least / sensitivity_, 3 * usual_repeats_);
  if (!seen.repeats) {  // a run has ended; one that was no event is usual here
    usual_repeats_ =
        std::max(usual_repeats_ * 0.9995, repeats_ <= limit ? static_cast<double>(repeats_) : 0.0);
    repeats_ = 0;
    return 0;
  }
  ++repeats_;
  return repeats_ / limit;
}

}  // namespace sfft::video
