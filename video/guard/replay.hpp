// SPDX-License-Identifier: Apache-2.0
// Detects pictures that were shown before and return in the same order: a recording played in a loop instead
// of the live picture, or a recorder that alternates between its last two buffers.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>

#include "video/guard/pixel_rows.hpp"

namespace sfft::video {

/// Noise never returns. A frame that is closer to an earlier one than neighbouring frames of a live camera
/// are to each other is therefore a copy, even if it was encoded again. If an encoder leaves no noise, only
/// identical frames count as copies, and motion that returns after seconds in all places. Copies of a Replay
/// continue independently.
class Replay {
 public:
  /// `full`: the largest value that samples take.
  explicit Replay(double full) : unit_(full / 255) {}

  /// Takes the pixels of the next frame that is judged. `interval_s`: usual time between such frames.
  /// `min_s`: how long pictures have to return. `hold`: do not learn noise from this frame.
  void add(const SparsePicture& pixels, double seconds, double interval_s, double min_s, bool hold);
  /// Takes those of a frame that is not judged, because frames come too fast. Later ones may be copies of it:
  /// a loop's period is a whole number of frames, but not of judged ones.
  void keep(const SparsePicture& pixels, double seconds);
  /// Number of successive frames that have returned, over the number that makes an event; 0 if none has.
  double strength() const noexcept { return strength_; }
  /// Judged frames since pictures began to return, or since they ceased to, including the latest.
  std::int64_t frames() const noexcept { return run_ > 0 ? run_ + misses_ : misses_; }
  /// Seconds after which pictures return; 0 if they do not.
  double period_s() const noexcept { return period_s_; }

 private:
  struct Kept {
    SparsePicture pixels{};
    double seconds = 0;
  };
  struct Difference {
    double variance = 0;  ///< in units of (full range / 255)²
    bool equal = true;
  };

  /// Kept frames since the judged frame `ago` judged frames before the latest.
  std::int64_t since(std::int64_t ago) const noexcept;
  /// Difference of a tile between the frames that were taken `now` and `then` frames before the latest.
  Difference difference(std::size_t tile, std::int64_t now, std::int64_t then) const noexcept;
  /// Whether `lag` frames before the judged frame `ago` judged frames before the latest, and before the
  /// judged frame before that one, frames are kept.
  bool reaches(std::int64_t lag, std::int64_t ago) const noexcept;
  /// Whether that frame is a copy of the one `lag` kept frames before it.
  bool returns(std::int64_t lag, std::int64_t ago = 0) const noexcept;
  /// The same by motion alone: what moves in either frame has to move in both.
  bool motion_returns(std::int64_t lag, std::int64_t ago) const noexcept;
  bool copy(std::int64_t lag, std::int64_t ago) const noexcept;
  void note_motion(std::int64_t apart) noexcept;
  void learn_noise() noexcept;
  std::int64_t search() const noexcept;
  /// Sets the lag after which pictures return; it stays 0 if they do not.
  void find_period(double interval_s, int moving) noexcept;

  double unit_;
  std::deque<Kept> kept_;              ///< all frames of the longest period, judged or not
  std::deque<std::int64_t> judged_;    ///< numbers of the judged ones among them
  std::int64_t taken_ = 0;             ///< frames that were kept so far
  std::int64_t frames_ = 0;            ///< frames that were judged so far
  std::int64_t lag_ = 0;               ///< in kept frames
  std::int64_t period_ = 0;            ///< the same in judged frames
  double period_s_ = 0;                ///< the same in seconds
  std::int64_t run_ = 0, misses_ = 0;  ///< judged frames
  std::int64_t changing_frames_ = 0;   ///< frames of the run that are not copies of the previous one
  bool by_motion_ = false;             ///< the replay was recognised by motion alone
  std::int64_t moving_frames_ = 0;     ///< frames of the run in which something moves
  std::int64_t often_ = 0;             ///< those of them that were also seen at other times
  std::bitset<kTiles> moved_;          ///< tiles in which something has moved
  std::int64_t latest_change_ = 0;     ///< latest frame in which at least half of the tiles changed
  double strength_ = 0;
  std::array<double, kTiles> mean_{}, usual_{};  ///< noise: running mean, and its minimum with slow decay
  std::int64_t learned_ = 0;
  std::size_t noisy_ = 0;  ///< tiles whose noise is known and large enough to be missed
};

}  // namespace sfft::video
