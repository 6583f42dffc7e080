// SPDX-License-Identifier: Apache-2.0
// Finds what is missing or damaged in a coded stream: losses by the numbers of pictures, frames that a
// decoder drops silently, and pictures in which it conceals damage. Only for builds with FFmpeg.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "video/sources/libav.hpp"

namespace sfft::video {

/// H.264 and H.265 encoders number pictures in display order, in equal steps, from 0 at each key frame that
/// no reference crosses (picture order count: ITU-T H.264, 8.2.1; H.265, 8.3.1). A network loss between two
/// pictures then shows as a longer step. If the steps vary, nothing is reported. A loss right before such a
/// key frame leaves no trace.
class PictureOrder {
 public:
  struct Loss {
    std::int64_t packet = 0;  ///< packet of the first picture after it
    std::int64_t pictures = 0;
  };

  /// `depth`: max. number of pictures decoded before one that is displayed earlier. It grows as needed.
  explicit PictureOrder(int depth) : depth_(depth) {}

  /// Adds the next picture in decoding order. `count`: its picture order count. `key`: coded without
  /// reference to others.
  void add(std::int64_t count, bool key, std::int64_t packet);
  /// Returns the losses found since the last call.
  std::vector<Loss> take() { return std::move(found_); }

 private:
  struct Waiting {
    std::int64_t count, packet;
  };
  void show(const Waiting& picture);

  int depth_;
  std::vector<Waiting> waiting_;  ///< to be displayed
  bool begun_ = false;            ///< a picture was displayed since the last key frame that restarts
  std::int64_t last_ = 0;         ///< count of the last displayed picture
  std::int64_t max_ = 0;          ///< largest count since that key frame
  std::int64_t step_ = 0;         ///< the usual step
  int votes_ = 0;                 ///< for step_
  std::vector<Loss> found_;
};

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

class PacketCount {
 public:
  explicit PacketCount(const AVStream& stream);

  /// Counts packet `number`. Returns whether its frame size differs from the previous ones. This is detected
  /// only for MPEG-1 and -2, because their decoder then drops a delayed frame.
  bool add(const AVPacket& packet, std::int64_t number = 0);
  /// Returns the losses found since the last call. Only H.264 and H.265 without interlacing show them.
  std::vector<PictureOrder::Loss> take_losses() {
    return order_ ? order_->take() : std::vector<PictureOrder::Loss>{};
  }
  /// Frames from the first key frame on, except those that the decoder must drop.
  std::int64_t frames() const noexcept { return frames_; }

 private:
  void open_parser();
  void take_parameters(const AVPacket& packet);
  void parse(const AVPacket& packet);
  void follow_order(std::int64_t number);
  bool yields_frame(const AVPacket& packet);
  bool changes_size();

  AVCodecID codec_;
  libav::Context context_;
  libav::Parser parser_;  ///< only for codecs whose fields, sizes or order are watched
  std::optional<PictureOrder> order_;
  int width_ = 0, height_ = 0;
  bool started_ = false;                 ///< a key frame has come
  std::int64_t start_ = AV_NOPTS_VALUE;  ///< presentation time of that key frame
  bool second_field_ = false;            ///< the next field belongs to a frame already counted
  std::int64_t frames_ = 0;
};

}  // namespace sfft::video
