// SPDX-License-Identifier: Apache-2.0
// Frames that differ in nothing, and frames that hardly differ where they did.
#include "video/guard/freeze_detector.hpp"

#include <algorithm>
#include <cmath>

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
/// Share of the scene that is hidden, and part of the detail that is left, with which noise may be gone, too.
constexpr double kHidden = 0.6;
constexpr double kSoft = 0.8;
/// Part of the threshold at which a picture no longer stands still.
constexpr double kReleased = 0.7;

}  // namespace

double FreezeDetector::judge(const Observation& seen, double usual_detail) {
  // Noise depends on the light.
  if (std::abs(seen.brightening) > kOtherLight) {
    stillness_ = {};
    lively_ = 0;
  }
  stillness_.hold(frames_ > 0);
  if (!seen.repeats) lively_ = stillness_.lively();
  stillness_.add(seen.activity);
  const bool plain_picture = seen.spread < kFlat || seen.bright > kAllWhite;
  const double repeats = repeating(seen);
  // What hides the scene, dims it or takes its detail away takes noise away, too.
  const bool visible =
      seen.changed < kHidden && seen.gain > kDimmed && seen.detail > kSoft * usual_detail && !plain_picture;
  const double standing = visible ? sensitivity_ * stillness_.strength() : 0;
  const double strength = plain_picture ? 0 : std::max(repeats, standing);
  if (strength < kReleased) {
    frames_ = 0;
  } else if (stillness_.stopped_frames() > repeats_) {
    frames_ = static_cast<int>(stillness_.stopped_frames());
  } else if (frames_ == 0 || repeats > 0) {
    frames_ = repeats >= standing ? repeats_ : Stillness::kWindow;
  }
  return strength;
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
