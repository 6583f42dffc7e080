// SPDX-License-Identifier: Apache-2.0
// Extracts luma from decoded pictures, in every pixel format that FFmpeg's software decoders output.
#pragma once

#include "video/sources/libav.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// How luma is stored in the first plane of a planar or semi-planar format.
struct LumaPlane {
  int bits = 8, shift = 0;  ///< bits per sample, and number of zero bits below them
  bool full_range = false;
};
/// Throws InputError for formats whose first plane is not pure luma.
LumaPlane luma_plane(AVPixelFormat format, bool marked_full);

/// How a decoded picture is shown: first mirrored left to right, then rotated clockwise.
struct Orientation {
  int quarter_turns = 0;  ///< 0 to 3
  bool mirrored = false;
  bool upright() const noexcept { return quarter_turns == 0 && !mirrored; }
};

/// Writes the picture's luma into `frame`: size, depth and samples.
///
/// - Y of planar, semi-planar, packed and grey formats; colours with OpenCV's weights, 0.299 R + 0.587 G +
///   0.114 B.
/// - Up to 8 bits per sample give 8-bit frames; 9 to 16 bits give 16-bit frames with the values as coded.
/// - Limited range (16 to 235 of 8 bits) is stretched to the full one and clipped, as OpenCV and FFmpeg do
///   when they convert to grey. Grey formats, RGB and pictures marked as full range are left as they are.
///
/// `shown` mirrors and rotates the picture. Throws InputError for formats without integer samples.
void to_luma(const AVFrame& picture, const Orientation& shown, Frame& frame);

}  // namespace sfft::video
