// SPDX-License-Identifier: Apache-2.0
// Packets are copied from the key frame before the start until the picture is past the end.
#include "video/triage/clips.hpp"

#include <fmt/format.h>

#include "video/sources/source.hpp"

#if SFFT_HAVE_LIBAV
#include <cmath>
#include <vector>

#include "kernels/base/output_file.hpp"
#include "sfft/error.hpp"
#include "video/sources/libav.hpp"

namespace sfft::video {

namespace {

struct FreeOutput {
  void operator()(AVFormatContext* format) const {
    avio_closep(&format->pb);
    avformat_free_context(format);
  }
};

void require(int code, const std::string& path) {
  if (code < 0)
    throw Error(ErrorCode::file_unreadable,
                fmt::format("the clip '{}' cannot be written: {}", path, libav::error_text(code)));
}

libav::Format open_input(const std::string& path) {
  AVFormatContext* opened = nullptr;
  int code = avformat_open_input(&opened, ("file:" + path).c_str(), nullptr, nullptr);
  libav::Format format(opened);
  if (code >= 0) code = avformat_find_stream_info(opened, nullptr);
  if (code < 0) throw InputError(fmt::format("no clips of '{}': it is no recording that can be cut", path));
  return format;
}

}  // namespace

void write_clip(const std::string& input, double start_s, double end_s, const std::string& path) {
  const libav::Format in = open_input(input);
  const int picture = av_find_best_stream(in.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (picture < 0) throw InputError(fmt::format("no clips of '{}': it has no picture", input));
  detail::OutputFile whole(path);
  AVFormatContext* made = nullptr;
  require(avformat_alloc_output_context2(&made, nullptr, "matroska", nullptr), path);
  const std::unique_ptr<AVFormatContext, FreeOutput> out(made);
  std::vector<int> to(in->nb_streams, -1);
  for (unsigned i = 0; i < in->nb_streams; ++i) {
    const AVCodecParameters* const codec = in->streams[i]->codecpar;
    if (static_cast<int>(i) != picture && codec->codec_type != AVMEDIA_TYPE_AUDIO) continue;
    AVStream* const stream = libav::allocated(avformat_new_stream(made, nullptr));
    require(avcodec_parameters_copy(stream->codecpar, codec), path);
    stream->codecpar->codec_tag = 0;
    stream->time_base = in->streams[i]->time_base;
    to[i] = stream->index;
  }
  require(avio_open(&made->pb, ("file:" + whole.temporary_path()).c_str(), AVIO_FLAG_WRITE), path);
  require(avformat_write_header(made, nullptr), path);

  const AVStream* const shown = in->streams[picture];
  const double unit = av_q2d(shown->time_base);
  const std::int64_t origin = shown->start_time == AV_NOPTS_VALUE ? 0 : shown->start_time;
  const auto stamp = [&](double seconds) { return origin + std::llround(seconds / unit); };
  if (start_s > 0) av_seek_frame(in.get(), picture, stamp(start_s), AVSEEK_FLAG_BACKWARD);
  const libav::Packet packet(libav::allocated(av_packet_alloc()));
  std::int64_t base = AV_NOPTS_VALUE;  // of the first picture, in its unit
  while (av_read_frame(in.get(), packet.get()) >= 0) {
    const int from = packet->stream_index;
    const bool is_picture = from == picture;
    const std::int64_t decoded = packet->dts == AV_NOPTS_VALUE ? packet->pts : packet->dts;
    bool wanted = to[static_cast<std::size_t>(from)] >= 0 && decoded != AV_NOPTS_VALUE;
    if (wanted && is_picture && base == AV_NOPTS_VALUE && (packet->flags & AV_PKT_FLAG_KEY) != 0)
      base = decoded;
    if (wanted && is_picture && decoded > stamp(end_s)) break;
    wanted = wanted && base != AV_NOPTS_VALUE;
    if (wanted) {
      const AVRational time_base = in->streams[from]->time_base;
      const std::int64_t shift = av_rescale_q(base, shown->time_base, time_base);
      if (packet->pts != AV_NOPTS_VALUE) packet->pts -= shift;
      packet->dts = decoded - shift;
      packet->stream_index = to[static_cast<std::size_t>(from)];
      packet->pos = -1;
      av_packet_rescale_ts(packet.get(), time_base, made->streams[packet->stream_index]->time_base);
      if (is_picture || packet->dts >= 0) require(av_interleaved_write_frame(made, packet.get()), path);
    }
    av_packet_unref(packet.get());
  }
  if (base == AV_NOPTS_VALUE) throw InputError(fmt::format("no clip of '{}': no key frame was found", input));
  require(av_write_trailer(made), path);
  require(avio_closep(&made->pb), path);
  whole.commit();
}

}  // namespace sfft::video
#else

namespace sfft::video {

void write_clip(const std::string&, double, double, const std::string&) {
  throw InputError("this build cuts no clips: it has none of FFmpeg's libraries");
}

}  // namespace sfft::video
#endif
