// SPDX-License-Identifier: Apache-2.0
// The reports of a run, for scripts (JSON, CSV) and for people (summary, page).
#pragma once

#include <span>
#include <string>

#include "video/pipeline/run.hpp"

namespace sfft::video {

/// The JSON report, schema "sfft-video/1" (docs/sfft-video.md). Unmeasured numbers are null.
std::string json_report(const RunReport& report);
/// One report for several inputs: a common status and message, and the array `inputs` with their reports.
std::string json_reports(std::span<const std::string> reports, RunStatus status, const std::string& message);
/// The header line of the CSV file, and its line for one transformed frame.
std::string csv_header();
std::string csv_row(const FrameRecord& frame);
/// A few lines for a terminal.
std::string summary(const RunReport& report);
/// One self-contained HTML page.
std::string html_report(const RunReport& report);

}  // namespace sfft::video
