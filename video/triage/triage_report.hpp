// SPDX-License-Identifier: Apache-2.0
// The results of triage as text: for scripts, tables, editors, people and pages.
#pragma once

#include <span>
#include <string>

#include "video/triage/recording.hpp"

namespace sfft::video {

/// One event as one line of JSON, line end included.
std::string triage_line(const TriageFile& file, const TriageEvent& event);
std::string triage_json(std::span<const TriageFile> files, double sensitivity);
/// A line per event.
std::string triage_csv(std::span<const TriageFile> files);
/// For a terminal.
std::string triage_summary(std::span<const TriageFile> files);

/// A page of its own, to be written to `path`: the timeline of all files, and each event with its picture and
/// links to its clips.
std::string triage_page(std::span<const TriageFile> files, double sensitivity, double threshold,
                        const std::string& path = {});
/// Its timeline as an SVG file.
std::string triage_svg(std::span<const TriageFile> files, double threshold);

}  // namespace sfft::video
