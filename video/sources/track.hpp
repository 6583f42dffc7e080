// SPDX-License-Identifier: Apache-2.0
// Chooses the video track of a container, and finds how its pictures are rotated. Only for builds with
// FFmpeg.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "video/sources/libav.hpp"
#include "video/sources/luma.hpp"
#include "video/sources/wall_clock.hpp"

namespace sfft::video {

/// Opens a file and finds its streams. Time stamps stay as stored, so a clock that wraps restarts. Reading
/// ends soon once `stop`, which may be null, is set. Throws InputError with the reason alone.
libav::Format open_container(const std::string& path, const std::atomic<bool>* stop);

/// The number of the stream to read. `asked` counts video tracks from 1. 0 takes the track that the container
/// marks as its default, else the largest one. Cover pictures and thumbnails count only if there is nothing
/// else. Throws InputError if there is no video track, or none with that number.
int choose_video_track(const AVFormatContext& format, int asked);

/// A sentence about the choice for the report; empty if the container has one video track.
std::string tell_video_track(const AVFormatContext& format, int chosen);

/// Whether the container has an index by presentation times, so that seeks to a stamp find the key frame
/// before it: MP4, QuickTime, Matroska.
bool has_stamp_index(const AVFormatContext& format);

bool is_program_stream(const AVFormatContext& format);

/// Whether only presentation stamps say when a picture is shown. In program streams few H.264 and H.265
/// pictures have stamps, and a decoding stamp may belong to the next picture.
bool lacks_decoding_stamps(const AVFormatContext& format, const AVStream& stream);

/// The stream's display matrix, nine numbers, or null.
const std::int32_t* display_matrix(const AVStream& stream);

/// The value of this key in the container's metadata, or else in that of one of its streams; empty if there
/// is none.
std::string stated_by(const AVFormatContext& format, const char* key);

/// When the recording began, from com.apple.quicktime.creationdate, creation_time or timecode.
WallClock stated_begin(const AVFormatContext& format, double fps);

/// How pictures of the stream are shown, to the nearest quarter turn.
Orientation orientation_of(const AVStream& stream);

}  // namespace sfft::video
