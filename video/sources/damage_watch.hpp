// SPDX-License-Identifier: Apache-2.0
// Tracks damage and losses in one stream, and the pictures in which the decoder conceals them.
#pragma once

#include <cstdint>
#include <vector>

#include "video/sources/libav.hpp"
#include "video/sources/picture_order.hpp"

namespace sfft::video {

/// Pictures are predicted from others, so after damage they are wrong until the next key frame.
class DamageWatch {
 public:
  void damaged_packet() noexcept {
    ++packets_;
    since_damage_ = 0;
  }
  void expect_losses(const std::vector<PictureOrder::Loss>& losses) {
    losses_.insert(losses_.end(), losses.begin(), losses.end());
  }
  /// Adds the decoder's next picture, which was made from packet number `packet`.
  void add(const AVFrame& picture, std::int64_t packet);

  /// Whether the decoder concealed parts of the last picture, or of one since the last key frame.
  bool made_up() const noexcept { return since_damage_ >= 0; }
  std::int64_t packets() const noexcept { return packets_; }    ///< marked as damaged, or undecodable
  std::int64_t pictures() const noexcept { return pictures_; }  ///< decoded despite damage
  /// Pictures missing before the last one, and in total. Only some codecs show this.
  std::int64_t lost_before() const noexcept { return lost_before_; }
  std::int64_t lost() const noexcept { return lost_; }

 private:
  void count_losses(std::int64_t packet);
  void follow_key_frames(const AVFrame& picture);
  bool changes_size(const AVFrame& picture);

  int since_key_ = 0, group_ = 0;  ///< pictures since the last key frame; max. between key frames
  int since_damage_ = -1;          ///< pictures since the last damage; -1: a key frame has come since
  int width_ = 0, height_ = 0;     ///< size of the last picture
  std::vector<PictureOrder::Loss> losses_;  ///< losses whose pictures the decoder has not output yet
  std::int64_t packets_ = 0, pictures_ = 0, lost_before_ = 0, lost_ = 0;
};

}  // namespace sfft::video
