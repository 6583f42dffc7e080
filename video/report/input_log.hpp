// SPDX-License-Identifier: Apache-2.0
// Formats the gaps and format changes of an input for the reports.
#pragma once

#include <string>

#include "video/sources/source.hpp"
#include "video/sources/wall_clock.hpp"

namespace sfft::video {

/// JSON arrays: docs/sfft-video.md, `input.gaps` and `input.changes`.
std::string gaps_json(const SourceLog& log);
std::string changes_json(const SourceLog& log);
/// JSON object: docs/sfft-video.md, `input.timing`.
std::string timing_json(const SourceLog& log);
/// A line for people if times come from a claimed or assumed rate, else empty. The source's warnings mention
/// an overruled rate.
std::string timing_text(const SourceLog& log);
/// Two members of a JSON object: "wall_clock", when the first frame was taken, and "wall_clock_source".
std::string wall_clock_json(const WallClock& begin);
/// Like "no frames came 2 times, for 3.1 s in all, at most 2.5 s"; empty without gaps.
std::string gaps_text(const SourceLog& log);

}  // namespace sfft::video
