// SPDX-License-Identifier: Apache-2.0
// Looks for frames that are identical, and for frames that hardly differ where they used to.
#include "video/guard/freeze_detector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "video/events/pace.hpp"

namespace sfft::video {

namespace {

/// More repeats than this are a stop at any rate; at low rates the limit is lower, but at least kMinRepeats.
constexpr int kRepeats = 7;
constexpr int kMinRepeats = 3;
/// The longest usual run of repeats decays by kForgetRunShare per frame that is not a repeat. A run of more
/// than kLongerRun times that length is a stop.
constexpr double kForgetRunShare = 0.9995;
constexpr double kLongerRun = 3;
/// After kSameRuns successive stops of equal length, within the factor kRegularRun, the stream's rate has
/// fallen.
constexpr int kSameRuns = 3;
constexpr double kRegularRun = 1.3;
/// In a scene that should not repeat, more than this share of the tiles has noise.
constexpr double kLively = 0.15;
/// A picture that shows nothing may repeat: its spread is below this share of the full range, or more than
/// the share kAllWhite of its pixels is near white.
constexpr double kFlat = 0.02;
/// Gain below which the noise may vanish with the light.
constexpr double kDimmed = 0.7;
/// Change of the light between two frames, as a natural logarithm, after which noise has to be learned again.
constexpr double kOtherLight = 0.15;
/// The same, above which changes of the picture say nothing about noise.
constexpr double kUnsteadyLight = 0.03;
/// Noise may be gone as well if this share of the scene is hidden, or if no more than this part of the detail
/// is left.
constexpr double kHiddenShare = 0.6;
constexpr double kSoft = 0.8;

}  // namespace

double FreezeDetector::judge(const Observation& seen, double usual_detail, bool empty) {
  if (empty) {
    // An encoder repeats such pictures even if the camera is live, so they say nothing about noise either.
    repeats_ = 0;
    ++frames_;
    return frozen_ ? remain(seen, 0, true) : 0;
  }
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
  // Whatever hides or dims the scene, or removes its detail, also removes noise.
  const bool visible = seen.changed < kHiddenShare && seen.gain > kDimmed &&
                       seen.detail > kSoft * usual_detail && !plain_picture;
  // A picture that has just moved again is not judged by the frames of the freeze.
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
    // A picture that stood still may be followed by two that alternate.
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
  // The first frozen frame is the one that the others repeat.
  frames_ = 1 + (!repeats || refined ? step.frames : repeats_);
}

double FreezeDetector::repeating(const Observation& seen) {
  // A scene without motion repeats by itself if the encoder removes its noise.
  const int min = lively_ > kLively
                      ? std::min(kRepeats, frames_in(thresholds_.repeats_s, seen.interval_s, kMinRepeats))
                      : frames_in(thresholds_.unheard_s, seen.interval_s);
  const double limit = std::max(min / sensitivity_, kLongerRun * usual_repeats_);
  if (!seen.repeats) {  // a run has ended; a run that was not an event is usual here
    const double run = repeats_;
    if (run > limit) {
      same_runs_ = run < kRegularRun * long_run_ && kRegularRun * run > long_run_ ? same_runs_ + 1 : 1;
      long_run_ = run;
    }
    const bool usual = run <= limit || same_runs_ >= kSameRuns;
    usual_repeats_ = std::max(usual_repeats_ * kForgetRunShare, usual ? run : 0.0);
    repeats_ = 0;
    return 0;
  }
  ++repeats_;
  return repeats_ / limit;
}

}  // namespace sfft::video
