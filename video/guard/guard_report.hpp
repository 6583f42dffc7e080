// SPDX-License-Identifier: Apache-2.0
// The reports of guarded sources: for scripts, for people, and a picture of the measurements.
#pragma once

#include <span>
#include <string>

#include "video/guard/watch.hpp"

namespace sfft::video {

/// The JSON report, schema "sfft-video-guard/1" (docs/guard.md).
std::string guard_json(std::span<const WatchReport> reports, double sensitivity);
/// A few lines for a terminal.
std::string guard_summary(std::span<const WatchReport> reports);
/// One self-contained HTML page, to be written to `path`, from which it refers to the events' pictures.
std::string guard_page(std::span<const WatchReport> reports, double sensitivity,
                       const std::string& path = {});
/// The measurements and events of one source as an SVG file.
std::string guard_svg(const WatchReport& report);

}  // namespace sfft::video
