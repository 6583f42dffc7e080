// SPDX-License-Identifier: Apache-2.0
// Effects that change a scene from frame to frame: light, weather, motion, camera, compression.
#pragma once

#include <cstdint>
#include <functional>

#include "bench/trust/scene.hpp"

namespace sfft::trust {

/// Changes frame `index` in place. Each frame has its own generator, so that effects may draw any number of
/// values.
using Effect = std::function<void(Image& image, std::int64_t index, Random& random)>;

Effect gaussian_noise(double sigma);
/// Shot noise, whose variance is `gain` times the grey value, plus `floor` for the read-out.
Effect shot_noise(double gain, double floor);
/// Multiplies the image by 1 + slope·index and adds offset·index; constant after `frames` frames.
Effect light_ramp(double slope, double offset, std::int64_t frames);
Effect light_sinusoid(double amplitude, double period_frames);
/// A dark disk with a soft edge that crosses the picture in `frames` frames.
Effect moving_shadow(double depth, double radius, double frames);
Effect rain(int streaks, double brightness, double length, double slant);
/// 8 by 8 DCT blocks divided by JPEG's luminance table of this quality; every `period`-th frame gets a
/// quality 15 higher.
Effect block_compression(int quality, int period);
/// A lamp at mains frequency: its gain varies between frames, and across rows if a rolling shutter sees
/// `bands` of it.
Effect flicker(double depth, double cycles_per_frame, double bands);
/// Disks and boxes on straight paths; `smallest` and `largest` are their shares of the picture's area.
Effect moving_objects(int count, double smallest, double largest, double speed, std::uint64_t seed);
/// A part of the picture sways like leaves: its rows shift by a sinusoid of a few pixels.
Effect waving(double amplitude, double period_frames, double wavelength, std::uint64_t seed);
/// Fades from black to full brightness over `frames` frames, and back with `there_and_back`.
Effect fade(double frames, bool there_and_back);
/// Grows or falls geometrically by `factor` over `frames` frames, then stays there.
Effect scale_by(double factor, double frames);
Effect white_noise_only(double sigma);

}  // namespace sfft::trust
