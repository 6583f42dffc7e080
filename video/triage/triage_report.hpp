// SPDX-License-Identifier: Apache-2.0
// Writes the results of triage as text: for scripts, tables, editors, people and web pages.
#pragma once

#include <span>
#include <string>

#include "video/triage/recording.hpp"

namespace sfft::video {

/// One event as one line of JSON, line end included.
std::string triage_line(const TriageFile& file, const TriageEvent& event);
std::string triage_json(std::span<const TriageFile> files, double sensitivity);
/// One line per event, after a header.
std::string triage_csv(std::span<const TriageFile> files);
/// A summary for a terminal.
std::string triage_summary(std::span<const TriageFile> files);

/// A complete HTML page: the timeline of all files, and each event with its picture and links to its clips.
/// The links work from a page that is written to `path`.
std::string triage_page(std::span<const TriageFile> files, double sensitivity, double threshold,
                        const std::string& path = {});
/// The timeline of that page as an SVG file.
std::string triage_svg(std::span<const TriageFile> files, double threshold);

}  // namespace sfft::video
