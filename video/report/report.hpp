// SPDX-License-Identifier: Apache-2.0
// The reports of a run: for scripts (JSON, CSV), for people (summary, page).
#pragma once

#include <string>

#include "video/pipeline/run.hpp"

namespace sfft::video {

/// The JSON report, schema "sfft-video/1" (docs/sfft-video.md). Numbers that were not measured are null.
std::string json_report(const RunReport& report);
/// The first line of the CSV, and the line of one transformed frame.
std::string csv_header();
std::string csv_row(const FrameRecord& frame);
/// A few lines for a terminal.
std::string summary(const RunReport& report);
/// One self-contained HTML page.
std::string html_report(const RunReport& report);

}  // namespace sfft::video
