// SPDX-License-Identifier: Apache-2.0
// Follows packets with a codec parser, which distinguishes frames from fields without decoding.
#include "video/sources/packet_count.hpp"

#include <algorithm>
#include <span>

namespace sfft::video {

namespace {
bool mpeg(AVCodecID codec) {
  return codec == AV_CODEC_ID_MPEG1VIDEO || codec == AV_CODEC_ID_MPEG2VIDEO;
}
}  // namespace

PacketCount::PacketCount(const AVStream& stream) : codec_(stream.codecpar->codec_id) {
  const bool ordered = codec_ == AV_CODEC_ID_H264 || codec_ == AV_CODEC_ID_HEVC;
  if (!mpeg(codec_) && !ordered && codec_ != AV_CODEC_ID_VC1) return;
  context_.reset(libav::allocated(avcodec_alloc_context3(nullptr)));
  if (avcodec_parameters_to_context(context_.get(), stream.codecpar) < 0) throw std::bad_alloc();
  open_parser();
  if (parser_ && ordered) order_.emplace(stream.codecpar->video_delay);
}

void PacketCount::open_parser() {
  parser_.reset(av_parser_init(codec_));
  if (parser_) parser_->flags |= PARSER_FLAG_COMPLETE_FRAMES;
}

/// Passes new codec parameters to the parser, which reads those in its context only once.
void PacketCount::take_parameters(const AVPacket& packet) {
  const std::span<const std::uint8_t> parameters = libav::new_parameters(packet);
  if (parameters.empty() || !parser_) return;
  av_freep(&context_->extradata);
  context_->extradata_size = 0;
  context_->extradata = static_cast<std::uint8_t*>(
      libav::allocated(av_mallocz(parameters.size() + AV_INPUT_BUFFER_PADDING_SIZE)));
  std::ranges::copy(parameters, context_->extradata);
  context_->extradata_size = static_cast<int>(parameters.size());
  open_parser();
  libav::allocated(parser_.get());
}

void PacketCount::parse(const AVPacket& packet) {
  take_parameters(packet);
  if (!parser_) return;
  std::uint8_t* out = nullptr;
  int out_bytes = 0;
  context_->width = context_->height = 0;  // the parser sets them, but only once
  context_->coded_width = context_->coded_height = 0;
  av_parser_parse2(parser_.get(), context_.get(), &out, &out_bytes, packet.data, packet.size, packet.pts,
                   packet.dts, packet.pos);
}

bool PacketCount::changes_size() {
  if (!mpeg(codec_) || !parser_ || context_->width <= 0 || context_->height <= 0) return false;
  const bool other = width_ > 0 && (context_->width != width_ || context_->height != height_);
  width_ = context_->width;
  height_ = context_->height;
  return other;
}

/// Whether a decoder outputs a new frame for the packet.
bool PacketCount::yields_frame(const AVPacket& packet) {
  constexpr int kVp8Shown = 0x10;
  if ((packet.flags & AV_PKT_FLAG_DISCARD) != 0) return false;
  if (codec_ == AV_CODEC_ID_VP8 && (packet.data[0] & kVp8Shown) == 0) return false;  // never shown
  if (start_ != AV_NOPTS_VALUE && packet.pts != AV_NOPTS_VALUE && packet.pts < start_)
    return false;  // displayed before the first key frame, and refers to earlier frames
  const bool field = parser_ && (parser_->picture_structure == AV_PICTURE_STRUCTURE_TOP_FIELD ||
                                 parser_->picture_structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD);
  if (!field) return true;
  second_field_ = !second_field_;
  return second_field_;
}

void PacketCount::follow_order(std::int64_t number) {
  if (!order_) return;
  const AVPictureStructure structure = parser_->picture_structure;
  if (structure == AV_PICTURE_STRUCTURE_TOP_FIELD || structure == AV_PICTURE_STRUCTURE_BOTTOM_FIELD) {
    order_.reset();  // fields, not frames, are numbered
    return;
  }
  order_->add(parser_->output_picture_number, parser_->key_frame == 1, number);
}

bool PacketCount::add(const AVPacket& packet, std::int64_t number) {
  if (packet.size <= 0) return false;
  if (!started_ && (packet.flags & AV_PKT_FLAG_KEY) == 0) return false;
  if (!started_) start_ = packet.pts;
  started_ = true;
  parse(packet);
  follow_order(number);
  if (yields_frame(packet)) ++frames_;
  return changes_size();
}

}  // namespace sfft::video
