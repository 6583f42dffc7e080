// SPDX-License-Identifier: Apache-2.0
// Tells pictures that were shown before and return in the same order: a recording that is played in a loop
// instead of the camera, or a recorder that sends its last two buffers in turn.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"
#include "video/guard/pixel_rows.hpp"

namespace sfft::video {

/// Noise never returns. So a frame that equals an earlier one more closely than neighbouring frames of a live
/// camera equal each other is a copy of it, even if it was encoded again. Where an encoder leaves no noise,
/// frames count that are equal to the bit, and motion that returns after seconds, wherever it is. Copies
/// continue independently.
class Replay {
 public:
  /// `full`: the largest value that samples take.
  explicit Replay(double full) : unit_(full / 255) {}

  /// Takes the next frame; `interval_s`: since the one before, usually. `min_s`: how long pictures have to
  /// return. `hold`: what is seen now is not what is usual.
  void add(const SignalView& frame, double interval_s, double min_s, bool hold);
  /// Frames that have returned in a row, over those that make an event; 0 where none does.
  double strength() const noexcept { return strength_; }
  /// Frames since which pictures return, where they do, or since they have ceased to; with the latest.
  std::int64_t frames() const noexcept { return run_ > 0 ? run_ + misses_ : misses_; }
  /// Frames after which they return; 0 where none does.
  std::int64_t period() const noexcept { return lag_; }

 private:
  static constexpr std::size_t kRuns = 10, kPerRun = 6, kPerTile = kRuns * kPerRun;
  static constexpr std::size_t kSamples = kPerTile * kTiles;
  /// Periods up to this are found.
  static constexpr double kLongest_s = 20;
  static constexpr std::int64_t kMaxFrames = 640;

  using Levels = std::array<std::uint16_t, kSamples>;
  struct Difference {
    double variance = 0;  ///< squares of a 255th of the full range
    bool equal = true;
  };

  void read(const SignalView& frame);
  const Levels& before(std::int64_t lag) const noexcept;
  /// Of a tile in the frame `ago` frames before the latest one, and `lag` frames before that.
  Difference difference(std::size_t tile, std::int64_t lag, std::int64_t ago = 0) const noexcept;
  /// Whether the frame `ago` frames before the latest one is a copy of the one `lag` frames before that.
  bool returns(std::int64_t lag, std::int64_t ago = 0) const noexcept;
  /// The same by motion alone: what moves in either has moved in both.
  bool motion_returns(std::int64_t lag, std::int64_t ago) const noexcept;
  bool copy(std::int64_t lag, std::int64_t ago) const noexcept;
  void note_motion() noexcept;
  void learn_noise() noexcept;
  std::int64_t search() const noexcept;
  void look(double interval_s, int moving) noexcept;

  double unit_;
  std::vector<Levels> kept_;
  std::int64_t frames_ = 0;
  std::int64_t longest_ = 0;  ///< lag, at the present rate
  std::int64_t lag_ = 0, run_ = 0, misses_ = 0;
  std::int64_t lively_frames_ = 0;  ///< of the run, those that are no copies of the frame before
  bool by_motion_ = false;          ///< only what moves tells
  std::int64_t moving_frames_ = 0;  ///< of the run, those in which something moves
  std::bitset<kTiles> moved_;       ///< where it did
  std::int64_t latest_change_ = 0;  ///< frame in which most of the picture was another than before
  double strength_ = 0;
  std::array<double, kTiles> mean_{}, usual_{};  ///< noise: now, and the least until now, forgotten slowly
  std::int64_t learned_ = 0;
  bool live_ = false;      ///< there is noise in most of the picture
  std::size_t noisy_ = 0;  ///< tiles whose noise is known and large enough to be missed
};

}  // namespace sfft::video
