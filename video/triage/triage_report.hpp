// SPDX-License-Identifier: Apache-2.0
// Writes the results of triage: for scripts, tables, editors, people and web pages, as cut lists, and as
// clips of the recordings.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

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

/// The part of an event that lies in one recording.
struct EventPart {
  double start_s = 0, end_s = 0;  ///< from that recording's first frame
  std::size_t file = 0;           ///< index of the file in which the event begins
  std::size_t event = 0;          ///< its index in that file's list
  std::size_t number = 0;         ///< of this part among those of the event, from 0
};

/// Returns the parts in each file, in order of time. Recordings that continue each other must be adjacent.
std::vector<std::vector<EventPart>> event_parts(std::span<const TriageFile> files);

/// Returns a script for FFmpeg's concat demuxer that plays one event after another. Times are the stamps of
/// each file, from the key frame at or before each start. Paths are absolute. If a recording's clock
/// restarts, stamps are ambiguous: its events are listed by their clips if there are any, and otherwise left
/// out, with a sentence in `problems`. Files with a line end in their name are left out with a comment.
/// `track`: as in SourceOptions.
std::string triage_ffconcat(std::span<const TriageFile> files, int track, std::vector<std::string>& problems);

/// Returns the events as a CMX 3600 edit decision list. Source times are in the file's time code, or count
/// from 0 if it has none. Rates of 30000/1001 and 60000/1001 get drop-frame time code unless the file's says
/// otherwise.
std::string triage_edl(std::span<const TriageFile> files);

struct Clip {
  double start_s = 0, end_s = 0;  ///< seconds from the first frame (Frame::seconds)
  std::string path;               ///< without extension
  std::string written{};          ///< path of the file; empty if there is none, after a `problem` or a stop
  std::string problem{};          ///< why the clip is not complete; empty if nothing failed
};

/// Writes the pictures and sound of each clip's time as Matroska (.mkv), or as QuickTime (.mov) if FFmpeg's
/// Matroska cannot store how the pictures are rotated. A clip begins at the key frame at or before its start.
/// Its file appears whole or not at all, and has one continuous timeline even if the recording's clock
/// restarts. All clips together read the recording twice.
///
/// `track`: as in SourceOptions. `may_write` is called with each file's name before the file is opened. An
/// Error that it throws becomes the clip's `problem`, like other failures of one clip. Throws InputError if
/// the input is not a file with a picture, or if the build lacks FFmpeg's libraries.
void write_clips(const std::string& input, int track, std::vector<Clip>& clips, const std::atomic<bool>& stop,
                 const std::function<void(const std::string&)>& may_write = {});

}  // namespace sfft::video
