// SPDX-License-Identifier: Apache-2.0
// Reads packets with libavformat and runs codec parsers over them, without decoding, to count the frames that
// a decoder will yield and to see each frame's coded size.
#include "video/sources/packets.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cstring>
#include <new>
#include <span>

namespace sfft::video {

namespace {

int stop_asked(void* interrupted) {
  return static_cast<const std::atomic<bool>*>(interrupted)->load() ? 1 : 0;
}

struct FreeFormat {
  void operator()(AVFormatContext* format) const { avformat_close_input(&format); }
};
struct FreeContext {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
};
struct FreeParser {
  void operator()(AVCodecParserContext* parser) const { av_parser_close(parser); }
};
struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};

}  // namespace

struct Packets::State {
  std::unique_ptr<AVFormatContext, FreeFormat> format;
  std::unique_ptr<AVPacket, FreePacket> packet;
  std::unique_ptr<AVCodecContext, FreeContext> context;
  std::unique_ptr<AVCodecParserContext, FreeParser> parser;  ///< null: not every codec has one
  int stream = -1;
  bool started = false;                 ///< a key frame has come
  std::int64_t start = AV_NOPTS_VALUE;  ///< its presentation time
  bool second_field = false;            ///< the next field belongs to a frame already counted
  int ended = 0;                        ///< libavformat's code for the end
  std::int64_t frames = 0;
  FrameSize first, now;

  AVCodecID codec() const { return format->streams[stream]->codecpar->codec_id; }

  bool begin_parsing() {
    context.reset(avcodec_alloc_context3(nullptr));
    if (!context) return false;
    if (avcodec_parameters_to_context(context.get(), format->streams[stream]->codecpar) < 0) return false;
    return restart_parser();
  }

  bool restart_parser() {
    parser.reset(av_parser_init(codec()));
    if (parser) parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
    return true;
  }

  /// Takes headers that came with the packet and replace earlier ones.
  void take_new_headers() {
    std::size_t bytes = 0;
    const std::uint8_t* const headers =
        av_packet_get_side_data(packet.get(), AV_PKT_DATA_NEW_EXTRADATA, &bytes);
    if (headers == nullptr || bytes == 0) return;
    auto* const copy = static_cast<std::uint8_t*>(av_mallocz(bytes + AV_INPUT_BUFFER_PADDING_SIZE));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, headers, bytes);
    av_freep(&context->extradata);
    context->extradata = copy;
    context->extradata_size = static_cast<int>(bytes);
    restart_parser();
  }

  std::optional<FrameSize> size_of_packet() {
    const std::span<const std::uint8_t> data(packet->data, static_cast<std::size_t>(packet->size));
    if (codec() == AV_CODEC_ID_MJPEG) return jpeg_size(data);
    if (codec() == AV_CODEC_ID_VP9) return vp9_size(data);
    if (!parser) return std::nullopt;
    take_new_headers();
    std::uint8_t* out = nullptr;
    int out_bytes = 0;
    context->width = context->height = 0;  // some parsers set them, but only once
    context->coded_width = context->coded_height = 0;
    av_parser_parse2(parser.get(), context.get(), &out, &out_bytes, packet->data, packet->size, packet->pts,
                     packet->dts, packet->pos);
    if (parser->width > 0 && parser->height > 0) return FrameSize{parser->width, parser->height};
    if (context->width > 0 && context->height > 0) return FrameSize{context->width, context->height};
    return std::nullopt;
  }

  /// Whether a decoder yields a new frame for the packet.
  bool yields_frame() {
    constexpr int kVp8Shown = 0x10;
    if ((packet->flags & AV_PKT_FLAG_DISCARD) != 0) return false;
    if (codec() == AV_CODEC_ID_VP8 && (packet->data[0] & kVp8Shown) == 0) return false;  // a reference only
    if (start != AV_NOPTS_VALUE && packet->pts != AV_NOPTS_VALUE && packet->pts < start)
      return false;  // it precedes the first key frame and refers to earlier frames
    const bool field = parser && (parser->picture_structure == AV_PICTURE_STRUCTURE_TOP_FIELD ||
                                  parser->picture_structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD);
    if (field) second_field = !second_field;
    return !field || second_field;
  }

  void note() {
    if (packet->stream_index != stream || packet->size <= 0) return;
    if (!started && (packet->flags & AV_PKT_FLAG_KEY) == 0) return;
    if (!started) start = packet->pts;
    started = true;
    if (const auto size = size_of_packet()) {
      now = *size;
      if (first == FrameSize{}) first = now;
    }
    if (yields_frame()) ++frames;
  }
};

Packets::Packets() : state_(std::make_unique<State>()) {}
Packets::~Packets() = default;

std::unique_ptr<Packets> Packets::open(const std::string& path) {
  std::unique_ptr<Packets> packets(new Packets);
  State& state = *packets->state_;
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) throw std::bad_alloc();
  format->interrupt_callback = {&stop_asked, &packets->interrupted_};
  // With "file:" the name may hold colons.
  if (avformat_open_input(&format, ("file:" + path).c_str(), nullptr, nullptr) < 0) return nullptr;
  state.format.reset(format);
  if (avformat_find_stream_info(format, nullptr) < 0) return nullptr;
  for (unsigned i = 0; i < format->nb_streams && state.stream < 0; ++i) {  // the stream that OpenCV takes
    if (format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO) state.stream = static_cast<int>(i);
  }
  if (state.stream < 0) return nullptr;
  for (unsigned i = 0; i < format->nb_streams; ++i)
    format->streams[i]->discard = static_cast<int>(i) == state.stream ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  state.packet.reset(av_packet_alloc());
  if (!state.packet || !state.begin_parsing()) throw std::bad_alloc();
  return packets;
}

bool Packets::read() {
  State& state = *state_;
  if (state.ended != 0) return false;
  const int code = av_read_frame(state.format.get(), state.packet.get());
  if (code < 0) {
    state.ended = code;
    return false;
  }
  state.note();
  av_packet_unref(state.packet.get());
  return true;
}

std::optional<FrameSize> Packets::changed_size(std::int64_t index) {
  State& state = *state_;
  while (state.frames <= index && state.now == state.first && read()) {
  }
  if (state.now == state.first) return std::nullopt;
  return state.now;
}

FrameSize Packets::first_size() const noexcept {
  return state_->first;
}

std::int64_t Packets::indexed_frames() const noexcept {
  const bool boxes = std::strstr(state_->format->iformat->name, "mp4") != nullptr;
  const std::int64_t frames = state_->format->streams[state_->stream]->nb_frames;
  return boxes && frames > 0 ? frames : -1;
}

bool Packets::claims_duration() const noexcept {
  return state_->format->duration_estimation_method == AVFMT_DURATION_FROM_STREAM;
}

Packets::Count Packets::count() {
  while (read()) {
  }
  Count count{state_->frames, ""};
  if (state_->ended != AVERROR_EOF) {
    char text[AV_ERROR_MAX_STRING_SIZE] = {};
    av_strerror(state_->ended, text, sizeof text);
    count.error = text;
  }
  return count;
}

}  // namespace sfft::video
