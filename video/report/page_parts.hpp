// SPDX-License-Identifier: Apache-2.0
// Common parts of all HTML pages: outline and style, pictures of frames, colours.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "video/report/encoding.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// A stand-alone page without network or scripts. `title` is escaped here, `body` is HTML.
std::string whole_page(const std::string& title, const std::string& body);

/// A large number with its label; both are HTML.
std::string tile(const std::string& value, const std::string& label);

/// The step between displayed rows and columns: at most 960 of each remain, so a picture stays below 3 MB.
std::int64_t thinning(std::int64_t width, std::int64_t height);

/// A frame as an 8-bit picture, thinned if it is large.
Image grey_image(const Frame& frame);

/// A frame reduced to at most `side` points per side, each the mean of a few pixels.
Image thumbnail(const SignalView& frame, std::int64_t side);

/// A perceptually uniform colour ramp from near black through violet and orange to pale yellow, t in [0, 1].
std::array<std::uint8_t, 3> ramp(double t);

}  // namespace sfft::video
