// SPDX-License-Identifier: Apache-2.0
// Measures how much each tile of the picture changes from frame to frame, through noise, coding and motion.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"
#include "video/guard/pixel_rows.hpp"

namespace sfft::video {

/// Variance of each tile's pixel differences from the previous frame, in units of (full range / 255)². A
/// change of the mean does not count, because it is a change of light.
using TileActivity = std::array<float, kTiles>;

/// Compares some rows of each frame with those of the previous one, which it keeps.
class ActivityMeter {
 public:
  /// `full`: the largest value that samples take.
  explicit ActivityMeter(double full) : unit_(full / 255) {}
  /// Returns zeros for the first frame.
  TileActivity next(const SignalView& frame);

 private:
  double unit_;
  std::vector<std::uint16_t> rows_;
};

/// Counts the frames for which no value has changed in three quarters of the tiles; the others may show a
/// clock. An isolated frame in which most tiles change is an encoder's key frame and does not reset the
/// count.
class QuietRun {
 public:
  void add(const TileActivity& activity);
  std::int64_t frames() const noexcept;

 private:
  using Tiles = std::bitset<kTiles>;
  void note(const Tiles& changed, std::int64_t frame) noexcept;

  std::int64_t frames_ = 0;
  std::array<std::int64_t, kTiles> latest_{};  ///< frame in which each tile last changed
  std::int64_t key_ = 0;                       ///< the latest key frame
  Tiles anew_;                                 ///< tiles that changed in a frame that may be a key frame
  bool whole_ = true;                          ///< most tiles of the latest frame have changed
};

/// A step in the activity: since then the picture has changed less than before, or more.
struct ActivityStep {
  std::int64_t frames = 0;       ///< frames since the step, including the latest
  double before = 0, after = 0;  ///< mean levels before and after the step
};

/// Distinguishes a stopped stream from a scene in which nothing happens: a live camera has noise. A recorder
/// that encodes a stopped stream produces frames that differ slightly, and its clock may run on in a part of
/// the picture.
class Stillness {
 public:
  void add(const TileActivity& activity);
  /// The picture stands still if this is above 1. It is the larger of two ratios, each over its threshold:
  /// how far the activity has fallen below its usual minimum, and how long a quiet run is compared with
  /// earlier ones.
  double strength() const noexcept;
  /// Share of the tiles that showed noise in most of the latest frames. Repeated frames do not count, because
  /// a slow stream may be padded to a higher rate. An encoder that leaves no noise still renews a tile now
  /// and then.
  double lively() const noexcept;
  /// While `on`, does not learn what is usual. Call before add().
  void hold(bool on) noexcept { held_ = on; }
  /// Sets how many frames have to be still, at most kWindow. Call before add().
  void set_window(std::int64_t frames) noexcept { window_ = frames; }
  std::int64_t window() const noexcept { return window_; }

  /// Mean logarithm of the activity over the latest frames. A clock, a key frame or an encoder's last
  /// refinements hardly change it.
  double level() const;
  /// Divides the latest frames, at most `frames`, into the two parts with the smallest sum of squared
  /// deviations from their mean levels.
  ActivityStep step(std::int64_t frames) const;

  /// Number of frames that have to be still, unless the rate is low.
  static constexpr int kWindow = 24;
  /// The minimum of this number at low rates.
  static constexpr int kMinWindow = 8;
  /// Number of frames that are kept.
  static constexpr std::int64_t kKept = 64;

 private:
  /// Number of frames after which the minimum of the activity means something, and after which it is fully
  /// trusted.
  std::int64_t guessed() const noexcept { return window_ * kKept / kWindow; }
  std::int64_t known() const noexcept { return 4 * window_; }
  /// Mean activity over `count` frames, skipping the latest `from`. Leaves out the most active one or two of
  /// a long run, which may be key frames.
  float mean(std::size_t tile, std::int64_t from, std::int64_t count) const noexcept;

  /// 0 if there is too little noise for its loss to show.
  double lost_noise() const noexcept;
  void add_run(const TileActivity& activity);
  double min_run() const noexcept;  ///< length of a quiet run that is an event
  /// Levels of the latest frames, at most `frames`; a median of three removes isolated outliers.
  std::vector<double> levels(std::int64_t frames) const;

  /// Whether quiet runs are about equally long, as in a stream that was padded to a higher rate.
  bool regular() const noexcept;

  std::int64_t window_ = kWindow;
  QuietRun run_;
  double usual_run_ = 0;  ///< length of the longest run so far, with slow decay
  static constexpr std::size_t kRuns = 6;
  std::array<double, kRuns> runs_{};  ///< lengths of the latest runs that have ended
  std::size_t ended_runs_ = 0;
  std::array<std::bitset<kTiles>, kWindow> noisy_{};  ///< noisy tiles of the latest distinct frames
  std::size_t distinct_ = 0;
  double busy_ = 1;  ///< share of the frames in which most tiles show noise
  std::array<TileActivity, kKept> latest_{};
  std::array<double, kKept> levels_{};
  TileActivity usual_{};  ///< minimum of the window means so far, with slow decay
  std::int64_t frames_ = 0, windows_ = 0;
  std::int64_t since_held_ = kKept;
  bool held_ = false;
};

}  // namespace sfft::video
