// SPDX-License-Identifier: Apache-2.0
// Makes recordings for tests with libavformat, in any container and encoder, with frames of any size at any
// time.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
}

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace sfft::test {

struct RecordedFrame {
  int width = 64, height = 48;
  std::int64_t ms = 0;  ///< presentation time
};

/// Returns `count` frames of one size at 25 frames per second.
inline std::vector<RecordedFrame> steady_frames(int count, int width = 64, int height = 48) {
  std::vector<RecordedFrame> frames;
  for (int t = 0; t < count; ++t) frames.push_back({width, height, 40 * t});
  return frames;
}

/// Writes one recording. Each change of size starts a new encoder, as in a real stream whose size changes.
class Recorder {
 public:
  /// `encoder` is a name that libavcodec knows; if it is empty, the container chooses. Throws
  /// std::runtime_error.
  Recorder(const std::string& path, const std::string& encoder) {
    check(avformat_alloc_output_context2(&format_, nullptr, nullptr, path.c_str()), "no such container");
    codec_ = encoder.empty() ? avcodec_find_encoder(format_->oformat->video_codec)
                             : avcodec_find_encoder_by_name(encoder.c_str());
    if (codec_ == nullptr) fail("no such encoder");
    packet_ = av_packet_alloc();
    stream_ = avformat_new_stream(format_, nullptr);
    check(avio_open(&format_->pb, path.c_str(), AVIO_FLAG_WRITE), "cannot be created");
  }
  ~Recorder() {
    avcodec_free_context(&context_);
    av_packet_free(&packet_);
    if (format_ != nullptr && format_->pb != nullptr) avio_closep(&format_->pb);
    avformat_free_context(format_);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Adds a frame of a moving texture.
  void add(const RecordedFrame& recorded) {
    if (context_ == nullptr || context_->width != recorded.width || context_->height != recorded.height)
      begin(recorded);
    AVFrame* frame = av_frame_alloc();
    frame->format = context_->pix_fmt;
    frame->width = recorded.width;
    frame->height = recorded.height;
    frame->pts = av_rescale_q(recorded.ms, {1, 1000}, context_->time_base);
    check(av_frame_get_buffer(frame, 0), "no memory");
    for (int plane = 0; plane < 3; ++plane) {
      const int rows = plane == 0 ? recorded.height : (recorded.height + 1) / 2;
      for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < frame->linesize[plane]; ++x) {
          const double wave = std::sin((x + 0.03 * static_cast<double>(recorded.ms)) / 5) * std::cos(y / 7.0);
          frame->data[plane][y * frame->linesize[plane] + x] =
              static_cast<std::uint8_t>(plane == 0 ? 120 + 70 * wave : 128);
        }
      }
    }
    const int sent = avcodec_send_frame(context_, frame);
    av_frame_free(&frame);
    check(sent, "the encoder refuses a frame");
    drain();
  }

  void finish() {
    check(avcodec_send_frame(context_, nullptr), "the encoder cannot end");
    drain();
    check(av_write_trailer(format_), "the container cannot be ended");
  }

 private:
  void begin(const RecordedFrame& first) {
    const bool again = context_ != nullptr;
    if (again) {
      check(avcodec_send_frame(context_, nullptr), "the encoder cannot end");
      drain();
      avcodec_free_context(&context_);
    }
    context_ = avcodec_alloc_context3(codec_);
    context_->width = first.width;
    context_->height = first.height;
    // Some codecs support only certain rates, and some containers have slots at a constant rate.
    const bool constant = codec_->id == AV_CODEC_ID_MPEG2VIDEO || codec_->id == AV_CODEC_ID_MPEG1VIDEO ||
                          codec_->id == AV_CODEC_ID_THEORA || std::string(format_->oformat->name) == "avi";
    context_->time_base = {1, constant ? 25 : 1000};
    context_->framerate = {25, 1};
    context_->pix_fmt = codec_->pix_fmts != nullptr ? codec_->pix_fmts[0] : AV_PIX_FMT_YUV420P;
    context_->gop_size = 10;
    context_->thread_count = 1;
    if ((format_->oformat->flags & AVFMT_GLOBALHEADER) != 0) context_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    if (std::string(codec_->name) == "libx264") av_opt_set(context_->priv_data, "preset", "ultrafast", 0);
    if (std::string(codec_->name) == "libx265")
      av_opt_set(context_->priv_data, "x265-params", "log-level=none", 0);
    check(avcodec_open2(context_, codec_, nullptr), "the encoder does not open");
    if (again) return;
    check(avcodec_parameters_from_context(stream_->codecpar, context_), "no memory");
    stream_->time_base = context_->time_base;
    stream_->avg_frame_rate = context_->framerate;
    check(avformat_write_header(format_, nullptr), "the container refuses the codec");
  }

  void drain() {
    while (avcodec_receive_packet(context_, packet_) >= 0) {
      av_packet_rescale_ts(packet_, context_->time_base, stream_->time_base);
      packet_->stream_index = stream_->index;
      check(av_interleaved_write_frame(format_, packet_), "a packet cannot be written");
    }
  }

  [[noreturn]] static void fail(const char* why) { throw std::runtime_error(why); }
  static void check(int code, const char* why) {
    if (code < 0) fail(why);
  }

  AVFormatContext* format_ = nullptr;
  const AVCodec* codec_ = nullptr;
  AVStream* stream_ = nullptr;
  AVCodecContext* context_ = nullptr;
  AVPacket* packet_ = nullptr;
};

inline void record(const std::string& path, const std::string& encoder,
                   const std::vector<RecordedFrame>& frames) {
  Recorder recorder(path, encoder);
  for (const RecordedFrame& frame : frames) recorder.add(frame);
  recorder.finish();
}

}  // namespace sfft::test
