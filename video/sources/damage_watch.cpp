// SPDX-License-Identifier: Apache-2.0
// Follows key frames and the decoder's error flags.
#include "video/sources/damage_watch.hpp"

#include <algorithm>

#include "video/sources/source.hpp"

namespace sfft::video {

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

}  // namespace sfft::video
