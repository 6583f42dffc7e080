// SPDX-License-Identifier: Apache-2.0
// Every threshold of guard and triage that is a time, and the sizes at which events begin.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sfft::video {

/// Times are in seconds, so that a scene causes the same events at every frame rate. The defaults were set on
/// recordings of 12 to 30 frames per second; where the comment says "bench", with `bench_guard`.
struct Thresholds {
  // Conditions of guard become events.
  double window_s = 0.24;       ///< a condition has to hold in five sixths of this time; bench, 4 recordings
  double end_s = 0.6;           ///< an event ends after this time without its condition; the same
  double flicker_end_s = 0.96;  ///< the same for flicker; synthetic flicker of 2 to 12 Hz

  // Sizes at which conditions of guard begin; `--sensitivity` divides them.
  double moved_px = 1.7;     ///< momentary shift; bench: a person sees 2.5 px at a glance
  double drift_px = 9;       ///< shift within `drift_s`; masts in wind, 18 recordings
  double covered = 0.34;     ///< share of the scene hidden by what keeps still; bench, covers of 0.1 to 1
  double hidden = 0.6;       ///< the same including what moves; traffic that fills the picture
  double defocused = 0.75;   ///< part of the landmarks' fine detail that is lost; bench, blurs of 0.7 to 8 px
  double light = 0.18;       ///< logarithm of the factor on the light; bench, 12 steps of light
  double flicker = 0.02;     ///< the same between two reversals; lamps of 8 to 20 %
  double white = 0.6;        ///< share of the pixels near white; headlights, 14 recordings
  double dark_level = 0.08;  ///< mean level of the full range; caps on lenses, lights that go out

  // Patience of guard: how long something may last, or has to.
  double drift_s = 2;        ///< see `drift_px`
  double passing_s = 0.8;    ///< moving objects may hide the scene; lorries of 45 frames at 25 per second
  double leaving_s = 1.2;    ///< a gradual cover may leave again; people who look into the camera
  double glare_s = 1;        ///< approaching glare may last; headlights
  double sudden_s = 0.08;    ///< a change within this time is sudden
  double left_s = 0.48;      ///< another scene has to stay; a bus that stops in front of the camera
  double on_its_way_s = 1;   ///< a scene that was seen leaving may be gone; cameras turned by hand
  double settling_s = 0.96;  ///< a moved camera comes to rest; the same
  double rearranged_s = 2;   ///< until objects carried elsewhere become the scene; bottle-detection.mp4
  double warm_up_s = 0.48;   ///< until noise is known, thresholds are twice as high; bench
  double missed_s = 0.48;    ///< a longer gap between frames hides a drift; streams that break off
  /// Equal frames for this time, or more than 7 of them, are a stop in a scene with noise; bench, stops of 3
  /// to 40 frames.
  double repeats_s = 0.4;
  /// The same time if no noise was ever seen, because encoders do not refresh still pictures.
  double unheard_s = 40;
  /// A picture that has lost its noise for this time, or for 24 frames, is a stop; 18 recordings, encoded.
  double still_s = 2;
  /// Pictures that return in order for this time are a replay; synthetic loops of 2 frames to 20 s.
  double replay_s = 0.6;

  // Triage.
  double change_s = 0.16;   ///< noise is averaged over this time; rain, 6 sets of days
  double switched_s = 0.2;  ///< a light takes no longer to come on; lamps, days of the first set
};

/// A threshold by the name that options give it.
struct ThresholdName {
  std::string_view name;
  double Thresholds::*value;
};
std::span<const ThresholdName> threshold_names() noexcept;

/// Sets one from "NAME=NUMBER"; throws Error(invalid_argument) that says what would be right.
void set_threshold(Thresholds& thresholds, const std::string& setting);

}  // namespace sfft::video
