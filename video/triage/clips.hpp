// SPDX-License-Identifier: Apache-2.0
// Cuts stretches out of a recording as they are stored, without decoding them.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace sfft::video {

struct Clip {
  double start_s = 0, end_s = 0;  ///< seconds from the first frame (Frame::seconds)
  std::string path;               ///< without extension
  std::string written{};          ///< the file, once it is complete
  std::string problem{};          ///< why it is not, if it could not be written
};

/// Writes what is shown in each clip's time, with sound, as Matroska (.mkv), or as QuickTime (.mov) where
/// FFmpeg's Matroska cannot say how the pictures are rotated. A clip begins at the key frame at or before its
/// start, and appears whole or not at all. It is one continuous timeline even where the recording's clock
/// restarts. `track` as in SourceOptions. `may_write` is called with each file's name before it is opened,
/// and may throw Error. The recording is read twice for all clips. Throws InputError for an input that is no
/// file with a picture, or a build without FFmpeg's libraries.
void write_clips(const std::string& input, int track, std::vector<Clip>& clips, const std::atomic<bool>& stop,
                 const std::function<void(const std::string&)>& may_write = {});

}  // namespace sfft::video
