// SPDX-License-Identifier: Apache-2.0
// Frames that differ in nothing, and frames that hardly differ where they did.
#include "video/guard/freeze_detector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "video/events/pace.hpp"

namespace sfft::video {

namespace {

/// Repeats that are a stop at any rate, and the least that are one at low rates.
constexpr int kRepeats = 7;
constexpr int kMinRepeats = 3;
/// Part of the longest usual run of repeats that is left after a frame, and how many times it is too long.
constexpr double kForgetRun = 0.9995;
constexpr double kLonger = 3;
/// Stops in a row that are as long as each other, within this factor: the stream's rate has fallen.
constexpr int kSameRuns = 3;
constexpr double kRegular = 1.3;
/// Share of the tiles that have noise in a scene that should not repeat.
constexpr double kLively = 0.15;
/// Share of the full range, and of the pixels: a picture that shows nothing may repeat.
constexpr double kFlat = 0.02;
constexpr double kAllWhite = 0.9;
/// Gain below which the noise may vanish with the light.
constexpr double kDimmed = 0.7;
/// Logarithm of the factor on the light from one frame to the next, from which noise has to be learned again.
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
  stillness_.set_window(
      std::clamp(frames_in(thresholds_.still_s, seen.interval_s), Stillness::kMinWindow, Stillness::kWindow));
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
  const bool known = frozen_ || frames_ > stillness_.window();
  const double standing = visible && known ? sensitivity_ * stillness_.strength() : 0;
  const double returning = visible || replayed_ ? seen.returning : 0;
  const double strength = plain_picture ? 0 : std::max({repeats, standing, returning});
  if (frozen_) return remain(seen, strength, plain_picture);
  if (strength > 1) {
    frozen_ = true;
    replayed_ = returning >= std::max(repeats, standing);
    if (replayed_) {
      frames_ = seen.returned_frames;
    } else {
      freeze(repeats >= standing);
    }
  }
  return strength;
}

double FreezeDetector::remain(const Observation& seen, double strength, bool plain_picture) {
  if (!plain_picture) {
    if (replayed_ ? seen.returning > 0 || strength > 1 : stillness_.level() < moves_)
      return std::max(strength, 1.0);
    // Two pictures in turn may follow one that has stood still.
    if (!replayed_ && seen.returning > 0) {
      replayed_ = true;
      return std::max(strength, 1.0);
    }
  }
  frozen_ = false;
  frames_ = plain_picture ? 1
            : replayed_   ? std::max<std::int64_t>(1, seen.returned_frames)
                          : stillness_.step(stillness_.window()).frames;
  replayed_ = false;
  return 0;
}

void FreezeDetector::freeze(bool repeats) {
  const ActivityStep step = stillness_.step(Stillness::kKept);
  moves_ = 0.5 * (step.before + step.after);
  // An encoder goes on refining a stopped picture for a while before it repeats it.
  const bool refined = step.frames >= repeats_ && step.frames <= repeats_ + stillness_.window();
  // The first frame is the one that the others are like.
  frames_ = 1 + (!repeats || refined ? step.frames : repeats_);
}

double FreezeDetector::repeating(const Observation& seen) {
  // A scene without motion whose noise the encoder removes repeats by itself.
  const int min = lively_ > kLively
                      ? std::min(kRepeats, frames_in(thresholds_.repeats_s, seen.interval_s, kMinRepeats))
                      : frames_in(thresholds_.unheard_s, seen.interval_s);
  const double limit = std::max(min / sensitivity_, kLonger * usual_repeats_);
  if (!seen.repeats) {  // a run has ended; one that was no event is usual here
    const double run = repeats_;
    if (run > limit) {
      same_runs_ = run < kRegular * long_run_ && kRegular * run > long_run_ ? same_runs_ + 1 : 1;
      long_run_ = run;
    }
    const bool usual = run <= limit || same_runs_ >= kSameRuns;
    usual_repeats_ = std::max(usual_repeats_ * kForgetRun, usual ? run : 0.0);
    repeats_ = 0;
    return 0;
  }
  ++repeats_;
  return repeats_ / limit;
}

}  // namespace sfft::video
