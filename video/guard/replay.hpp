// SPDX-License-Identifier: Apache-2.0
// Detects pictures that were shown before and return in the same order: a recording played in a loop instead
// of the live picture, or a recorder that alternates between its last two buffers.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"
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

  /// Takes the next frame. `interval_s`: usual time between frames. `min_s`: how long pictures have to
  /// return. `hold`: do not learn noise from this frame.
  void add(const SignalView& frame, double interval_s, double min_s, bool hold);
  /// Number of successive frames that have returned, over the number that makes an event; 0 if none has.
  double strength() const noexcept { return strength_; }
  /// Frames since pictures began to return, or since they ceased to, including the latest.
  std::int64_t frames() const noexcept { return run_ > 0 ? run_ + misses_ : misses_; }
  /// Number of frames after which pictures return; 0 if they do not.
  std::int64_t period() const noexcept { return lag_; }

 private:
  /// Longest period that is found.
  static constexpr double kLongest_s = 20;
  static constexpr std::int64_t kMaxFrames = 640;

  struct Difference {
    double variance = 0;  ///< in units of (full range / 255)²
    bool equal = true;
  };

  void read(const SignalView& frame);
  const SparsePicture& before(std::int64_t lag) const noexcept;
  /// Difference of a tile between the frame `ago` frames before the latest one and the frame `lag` frames
  /// before that.
  Difference difference(std::size_t tile, std::int64_t lag, std::int64_t ago = 0) const noexcept;
  /// Whether the frame `ago` frames before the latest one is a copy of the one `lag` frames before that.
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
  std::vector<SparsePicture> kept_;
  std::int64_t frames_ = 0;
  std::int64_t longest_ = 0;  ///< longest lag in frames, at the present rate
  std::int64_t lag_ = 0, run_ = 0, misses_ = 0;
  std::int64_t changing_frames_ = 0;  ///< frames of the run that are not copies of the previous one
  bool by_motion_ = false;            ///< the replay was recognised by motion alone
  std::int64_t moving_frames_ = 0;    ///< frames of the run in which something moves
  std::int64_t often_ = 0;            ///< those of them that were also seen at other times
  std::bitset<kTiles> moved_;         ///< tiles in which something has moved
  std::int64_t latest_change_ = 0;    ///< latest frame in which at least half of the tiles changed
  double strength_ = 0;
  std::array<double, kTiles> mean_{}, usual_{};  ///< noise: running mean, and its minimum with slow decay
  std::int64_t learned_ = 0;
  std::size_t noisy_ = 0;  ///< tiles whose noise is known and large enough to be missed
};

}  // namespace sfft::video
