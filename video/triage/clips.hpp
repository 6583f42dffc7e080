// SPDX-License-Identifier: Apache-2.0
// Cuts clips out of a recording without decoding it.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace sfft::video {

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
