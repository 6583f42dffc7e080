// SPDX-License-Identifier: Apache-2.0
// Reports of guarded sources: JSON for scripts, text and HTML for people, and an SVG of the measurements.
#pragma once

#include <span>
#include <string>

#include "video/guard/watch.hpp"

namespace sfft::video {

/// The JSON report, schema "sfft-video-guard/1" (docs/guard.md).
std::string guard_json(std::span<const WatchReport> reports, double sensitivity);
/// A few lines for a terminal.
std::string guard_summary(std::span<const WatchReport> reports);
/// One HTML page with its figures inside. `path`: the file that it will be written to; links to the events'
/// pictures are relative to its folder.
std::string guard_page(std::span<const WatchReport> reports, double sensitivity,
                       const std::string& path = {});
/// The measurements and events of one source as an SVG file.
std::string guard_svg(const WatchReport& report);

}  // namespace sfft::video
