// SPDX-License-Identifier: Apache-2.0
// Ranks video tracks by their containers' metadata, and decomposes display matrices.
#include "video/sources/track.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string_view>
#include <tuple>
#include <vector>

namespace sfft::video {

namespace {

bool is_video(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
}

bool is_still(const AVStream& stream) {
  return (stream.disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)) != 0;
}

std::int64_t area(const AVStream& stream) {
  return std::int64_t{stream.codecpar->width} * stream.codecpar->height;
}

/// Stream numbers of the tracks that may be chosen, in the order of the container.
std::vector<int> video_tracks(const AVFormatContext& format) {
  std::vector<int> tracks;
  std::vector<int> stills;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    const AVStream& stream = *format.streams[i];
    if (is_video(stream)) (is_still(stream) ? stills : tracks).push_back(static_cast<int>(i));
  }
  return tracks.empty() ? stills : tracks;
}

int asked_to_stop(void* stop) {
  return stop != nullptr && *static_cast<const std::atomic<bool>*>(stop) ? 1 : 0;
}

}  // namespace

libav::Format open_container(const std::string& path, const std::atomic<bool>* stop) {
  av_log_set_level(AV_LOG_QUIET);  // FFmpeg writes to standard error by default
  AVFormatContext* format = libav::allocated(avformat_alloc_context());
  format->interrupt_callback = {&asked_to_stop, const_cast<std::atomic<bool>*>(stop)};
  format->correct_ts_overflow = 0;
  const int opened = avformat_open_input(&format, ("file:" + path).c_str(), nullptr, nullptr);
  if (opened < 0) throw InputError(libav::error_text(opened));  // it has been freed
  libav::Format owned(format);
  const int found = avformat_find_stream_info(format, nullptr);
  if (found < 0) throw InputError(libav::error_text(found));
  return owned;
}

int choose_video_track(const AVFormatContext& format, int asked) {
  const std::vector<int> tracks = video_tracks(format);
  if (tracks.empty()) throw InputError("no video stream");
  if (asked > 0) {
    if (static_cast<std::size_t>(asked) > tracks.size())
      throw InputError(fmt::format("there is no video track {}: the last one is {}", asked, tracks.size()));
    return tracks[static_cast<std::size_t>(asked) - 1];
  }
  const auto rank = [&](int number) {
    const AVStream& stream = *format.streams[number];
    return std::tuple((stream.disposition & AV_DISPOSITION_DEFAULT) != 0, area(stream));
  };
  int best = tracks.front();
  for (const int number : tracks)
    if (rank(number) > rank(best)) best = number;
  return best;
}

std::string tell_video_track(const AVFormatContext& format, int chosen) {
  const std::vector<int> tracks = video_tracks(format);
  if (tracks.size() < 2) return "";
  std::size_t number = 0;
  while (tracks[number] != chosen) ++number;
  const AVCodecParameters& shown = *format.streams[chosen]->codecpar;
  return fmt::format("There are {} video tracks: track {} ({}x{}) is read. --track N chooses another one.",
                     tracks.size(), number + 1, shown.width, shown.height);
}

bool has_stamp_index(const AVFormatContext& format) {
  const std::string_view name = format.iformat->name;
  return name.find("mp4") != std::string_view::npos || name.find("matroska") != std::string_view::npos;
}

bool is_program_stream(const AVFormatContext& format) {
  return std::string_view(format.iformat->name) == "mpeg";
}

bool lacks_decoding_stamps(const AVFormatContext& format, const AVStream& stream) {
  const AVCodecID codec = stream.codecpar->codec_id;
  return is_program_stream(format) && (codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC);
}

const std::int32_t* display_matrix(const AVStream& stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
  const AVCodecParameters& parameters = *stream.codecpar;
  const AVPacketSideData* const data = av_packet_side_data_get(
      parameters.coded_side_data, parameters.nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  if (data == nullptr || data->size < 9 * sizeof(std::int32_t)) return nullptr;
  return reinterpret_cast<const std::int32_t*>(data->data);
#else
  std::size_t bytes = 0;
  const std::uint8_t* const data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &bytes);
  return bytes < 9 * sizeof(std::int32_t) ? nullptr : reinterpret_cast<const std::int32_t*>(data);
#endif
}

std::string stated_by(const AVFormatContext& format, const char* key) {
  const AVDictionaryEntry* found = av_dict_get(format.metadata, key, nullptr, 0);
  for (unsigned i = 0; found == nullptr && i < format.nb_streams; ++i)
    found = av_dict_get(format.streams[i]->metadata, key, nullptr, 0);
  return found == nullptr ? "" : found->value;
}

WallClock stated_begin(const AVFormatContext& format, double fps) {
  for (const char* const key : {"com.apple.quicktime.creationdate", "creation_time"})
    if (const auto clock = stated_time(stated_by(format, key))) return *clock;
  return time_code_time(stated_by(format, "timecode"), fps).value_or(WallClock{});
}

/// The matrix maps a row vector (x, y), with x to the right and y down. If its determinant is negative it
/// first mirrors x to -x. The first row gives the angle of the rotation.
Orientation orientation_of(const AVStream& stream) {
  const std::int32_t* const matrix = display_matrix(stream);
  if (matrix == nullptr) return {};
  double a = matrix[0];
  double b = matrix[1];
  const double determinant = a * matrix[4] - b * matrix[3];
  if (determinant == 0) return {};
  Orientation shown;
  shown.mirrored = determinant < 0;
  if (shown.mirrored) {
    a = -a;
    b = -b;
  }
  const long turns = std::lround(std::atan2(b, a) / (std::numbers::pi / 2));
  shown.quarter_turns = static_cast<int>((turns % 4 + 4) % 4);
  return shown;
}

}  // namespace sfft::video
