// SPDX-License-Identifier: Apache-2.0
// Follows key frames and the decoder's error flags.
#include "video/sources/damage_watch.hpp"

#include <algorithm>
#include <span>

#include "video/sources/source.hpp"

namespace sfft::video {

namespace {

constexpr int kDeepest = 16;  ///< max. number of pictures that a decoder delays
constexpr int kSure = 12, kMaxVotes = 48;
/// A larger number is corrupt, not a count of pictures.
constexpr std::int64_t kMaxLost = 2000;

}  // namespace

void PictureOrder::add(std::int64_t count, bool key, std::int64_t packet) {
  if (key && (!waiting_.empty() || begun_) && count <= max_) {  // the count restarts
    std::ranges::sort(waiting_, {}, &Waiting::count);
    for (const Waiting& one : waiting_) show(one);
    waiting_.clear();
    begun_ = false;
    max_ = count;
  }
  max_ = std::max(max_, count);
  if (begun_ && !key && count < last_ && last_ - count <= kDeepest * std::max<std::int64_t>(1, step_)) {
    depth_ = std::min(depth_ + 1, kDeepest);  // the picture came later than the current depth allows
    votes_ = 0;
    return;
  }
  waiting_.push_back({count, packet});
  while (waiting_.size() > static_cast<std::size_t>(depth_)) {
    const auto next = std::ranges::min_element(waiting_, {}, &Waiting::count);
    show(*next);
    waiting_.erase(next);
  }
}

void PictureOrder::show(const Waiting& picture) {
  const std::int64_t step = picture.count - last_;
  last_ = picture.count;
  if (!begun_) {
    begun_ = true;
    return;
  }
  if (step <= 0) {  // the key frame between them was lost
    if (votes_ >= kSure) found_.push_back({picture.packet, 1});
    max_ = picture.count;
    return;
  }
  const std::int64_t missing = step_ > 0 ? step / step_ - 1 : 0;
  if (votes_ >= kSure && missing > 0 && step % step_ == 0 && missing <= kMaxLost)
    found_.push_back({picture.packet, missing});
  if (step == step_) {
    votes_ = std::min(votes_ + 1, kMaxVotes);
  } else if (--votes_ <= 0) {
    step_ = step;
    votes_ = 1;
  }
}

namespace {

bool is_key(const AVFrame& picture) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  return (picture.flags & AV_FRAME_FLAG_KEY) != 0;
#else
  return picture.key_frame != 0;
#endif
}

}  // namespace

void DamageWatch::add(const AVFrame& picture, std::int64_t packet) {
  count_losses(packet);
  follow_key_frames(picture);
}

/// Counts the pictures missing before that of `packet`. Pictures predicted from them are wrong.
void DamageWatch::count_losses(std::int64_t packet) {
  constexpr std::int64_t kOld = 64;  // after this many packets a picture will not come
  lost_before_ = 0;
  if (losses_.empty()) return;
  std::erase_if(losses_, [&](const PictureOrder::Loss& loss) {
    if (loss.packet == packet) lost_before_ += loss.pictures;
    return loss.packet == packet || loss.packet + kOld < packet;
  });
  if (lost_before_ == 0) return;
  lost_ += lost_before_;
  since_damage_ = 0;
}

bool DamageWatch::changes_size(const AVFrame& picture) {
  const bool other = width_ > 0 && (picture.width != width_ || picture.height != height_);
  width_ = picture.width;
  height_ = picture.height;
  return other;
}

void DamageWatch::follow_key_frames(const AVFrame& picture) {
  constexpr int kShort = 100, kLong = kMaxMadeUp;  // pictures, if no key frame comes
  const bool key = is_key(picture), other = changes_size(picture);
  if (key) group_ = std::clamp(since_key_, group_, kLong);
  since_key_ = key ? 0 : std::min(since_key_ + 1, kLong);
  if ((picture.flags & AV_FRAME_FLAG_CORRUPT) != 0 || picture.decode_error_flags != 0) {
    ++pictures_;
    since_damage_ = 0;
  } else if (other && !key) {
    since_damage_ = 0;  // the decoder has no reference pictures of this size
  } else if (since_damage_ >= 0 && (key || ++since_damage_ > std::max(kShort, group_))) {
    since_damage_ = -1;
  }
}

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
