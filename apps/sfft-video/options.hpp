// SPDX-License-Identifier: Apache-2.0
// Declares options that several subcommands share, and those of each subcommand.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "commands.hpp"
#include "video/events/areas.hpp"
#include "video/events/thresholds.hpp"
#include "video/sources/source.hpp"

namespace sfft::apps {

inline constexpr const char* kInputHelp =
    "A recording, a directory or printf pattern of images, a camera's number, an rtsp:// or http:// address, "
    "a .y4m file, or - "
    "for YUV4MPEG2 on standard input";

/// Replaces CLI11's checks, whose messages mention the largest representable number.
CLI::Validator positive();
CLI::Validator not_negative();
CLI::Validator between(double low, double high, const char* what = "a number");

/// Parses "X,Y,WIDTH,HEIGHT" in pixels.
std::optional<video::Region> parse_region(const std::string& text);
CLI::Validator region_check();

/// Adds options for the part of an input to read, and for how to read it: --start, --end, --every,
/// --reconnect, --decode-threads, ...
void add_source(CLI::App* command, video::SourceOptions& source);
/// Adds --roi, for commands that read one region of the frames.
void add_region(CLI::App* command, video::SourceOptions& source);

/// Adds --threshold NAME=NUMBER, which may be repeated.
void add_thresholds(CLI::App* command, video::Thresholds& thresholds);

/// Adds --mask, --zone and --only-zones.
void add_areas(CLI::App* command, video::AreaOptions& areas);

void add_guard(CLI::App& app, GuardCommand& command);
void add_triage(CLI::App& app, TriageCommand& command);
void add_vibration(CLI::App& app, VibrationCommand& command);

}  // namespace sfft::apps
