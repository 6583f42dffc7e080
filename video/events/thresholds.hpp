// SPDX-License-Identifier: Apache-2.0
// Every threshold of guard and triage that is a time, and the sizes at which events begin.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sfft::video {

/// Times are in seconds, so that a scene brings the same events at every rate of frames. The defaults were
/// set on recordings of 12 to 30 frames per second; where the comment says "bench", with `bench_guard`.
struct Thresholds {
  // Conditions of guard become events.
  double window_s = 0.24;       ///< in five sixths of this time a condition has to hold; bench, 4 recordings
  double end_s = 0.6;           ///< without it an event ends; the same
  double flicker_end_s = 0.96;  ///< the same for flicker; drawn flicker of 2 to 12 Hz

  // Sizes at which conditions of guard begin; `--sensitivity` divides them.
  double moved_px = 1.7;     ///< shift in a moment; bench: a person sees 2.5 px at a glance
  double drift_px = 9;       ///< shift within `drift_s`; masts in wind, 18 recordings
  double covered = 0.34;     ///< share of the scene that keeps still; bench, covers of 0.1 to 1
  double hidden = 0.6;       ///< share with what moves; traffic that fills the picture
  double defocused = 0.75;   ///< part of the landmarks' fine detail that is lost; bench, blurs of 0.7 to 8 px
  double light = 0.18;       ///< logarithm of the factor on the light; bench, 12 steps of light
  double flicker = 0.02;     ///< the same from one turn to the next; lamps of 8 to 20 %
  double white = 0.6;        ///< share of the pixels near white; headlights, 14 recordings
  double dark_level = 0.08;  ///< mean level of the full range; caps on lenses, lights that go out

  // Patience of guard.
  double drift_s = 2;        ///< see `drift_px`
  double passing_s = 0.8;    ///< what moves may hide the scene; lorries of 45 frames at 25 per second
  double leaving_s = 1.2;    ///< what came gradually may leave again; people who look into the camera
  double glare_s = 1;        ///< glare that comes nearer may last; headlights
  double sudden_s = 0.08;    ///< what takes no longer came at once
  double left_s = 0.48;      ///< another scene has to stay; a bus that stops before the camera
  double on_its_way_s = 1;   ///< a scene that was seen leaving may be gone; cameras turned by hand
  double settling_s = 0.96;  ///< a moved camera comes to rest; the same
  double rearranged_s = 2;   ///< things carried elsewhere become the scene; bottle-detection.mp4
  double warm_up_s = 0.48;   ///< until noise is known thresholds are twice as high; bench
  double missed_s = 0.48;    ///< a longer gap between frames hides a drift; streams that break off
  double repeats_s =
      0.4;  ///< equal frames in a scene with noise are a stop, or 7 of them; bench, stops of 3 to 40 frames
  double unheard_s = 40;  ///< the same where no noise was ever seen; encoders leave still pictures alone
  double still_s = 2;  ///< a picture without its noise is a stop, or 24 frames of it; 18 recordings, encoded
  double replay_s =
      0.6;  ///< pictures that return in their order are a replay; drawn loops of 2 frames to 20 s

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
