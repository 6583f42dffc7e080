// SPDX-License-Identifier: Apache-2.0
// How much each tile of a picture changes from frame to frame: noise, coding, and what moves.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"
#include "video/guard/pixel_rows.hpp"

namespace sfft::video {

/// Variance of the change of each tile's pixels since the frame before, in squares of a 255th of the full
/// range. The change of their mean has no part in it: that is light.
using TileActivity = std::array<float, kTiles>;

/// Compares the rows of the latest frame with those it keeps.
class ActivityMeter {
 public:
  /// `full`: the largest value that samples take.
  explicit ActivityMeter(double full) : unit_(full / 255) {}
  /// All 0 for the first frame.
  TileActivity next(const SignalView& frame);

 private:
  double unit_;
  std::vector<std::uint16_t> rows_;
};

/// Counts the frames since which at most some tiles have changed, a clock's: in the others not one value has.
/// Frames that make the whole picture again among others that do not are an encoder's key frames, and leave
/// the count as it is.
class QuietRun {
 public:
  void add(const TileActivity& activity);
  std::int64_t frames() const noexcept;

 private:
  using Tiles = std::bitset<kTiles>;
  void note(const Tiles& changed, std::int64_t frame) noexcept;

  std::int64_t frames_ = 0;
  std::array<std::int64_t, kTiles> latest_{};  ///< frame in which each tile changed
  std::int64_t key_ = 0;                       ///< the latest key frame
  Tiles anew_;                                 ///< of a frame that may be one
  bool whole_ = true;                          ///< most tiles of the latest frame have changed
};

/// When the picture came to change less than before, or more.
struct ActivityStep {
  std::int64_t frames = 0;       ///< since then, with the latest
  double before = 0, after = 0;  ///< mean levels of both parts
};

/// Tells a stream that has stopped from a scene in which nothing happens: a camera has noise. A recorder that
/// encodes a stopped stream makes no frames that are equal, but ones that hardly differ, and its clock may
/// run on in a part of the picture.
class Stillness {
 public:
  void add(const TileActivity& activity);
  /// By how many times the picture has become stiller than it ever was, of the times that noise does not
  /// explain, or by how much a quiet run is longer than any before: above 1 it stands still.
  double strength() const noexcept;
  /// Share of the tiles that showed noise in most of the latest frames that repeat nothing: a stream of a low
  /// rate may be padded to a higher one. An encoder that leaves no noise renews a tile now and then.
  double lively() const noexcept;
  /// Keeps the present from becoming usual. Call before add().
  void hold(bool on) noexcept { held_ = on; }
  /// How many frames have to be still, at most kWindow. Call before add().
  void set_window(std::int64_t frames) noexcept { window_ = frames; }
  std::int64_t window() const noexcept { return window_; }

  /// How much the picture has changed in the latest frames: mean logarithm of the activity, which a clock, a
  /// key frame or the last touches of an encoder hardly move.
  double level() const;
  /// The step that divides the latest frames, at most so many, into two parts of the most different levels:
  /// it leaves the least squares.
  ActivityStep step(std::int64_t frames) const;

  /// Frames that have to be still, at rates that are not low.
  static constexpr int kWindow = 24;
  /// At rates that are.
  static constexpr int kMinWindow = 8;
  /// Frames that are kept.
  static constexpr std::int64_t kKept = 64;

 private:
  /// Frames until the least that was seen means something, and until it means all that it ever will.
  std::int64_t guessed() const noexcept { return window_ * kKept / kWindow; }
  std::int64_t known() const noexcept { return 4 * window_; }
  /// Mean over `count` frames before frame `from`, without the key frames of a long run.
  float mean(std::size_t tile, std::int64_t from, std::int64_t count) const noexcept;

  /// 0 where there is no noise whose loss could show.
  double lost_noise() const noexcept;
  void add_run(const TileActivity& activity);
  double min_run() const noexcept;  ///< that is an event
  /// Of the latest frames, at most so many; a frame by itself does not count.
  std::vector<double> levels(std::int64_t frames) const;

  /// Whether quiet runs are as long as each other: those of a stream that was padded to a higher rate.
  bool regular() const noexcept;

  std::int64_t window_ = kWindow;
  QuietRun run_;
  double usual_run_ = 0;  ///< the longest until now, forgotten slowly
  static constexpr std::size_t kRuns = 6;
  std::array<double, kRuns> runs_{};  ///< the latest that ended
  std::size_t ended_runs_ = 0;
  std::array<std::bitset<kTiles>, kWindow> noisy_{};  ///< of the latest frames that repeat nothing
  std::size_t distinct_ = 0;
  double busy_ = 1;  ///< share of the frames in which most tiles show noise
  std::array<TileActivity, kKept> latest_{};
  std::array<double, kKept> levels_{};
  TileActivity usual_{};  ///< the least until now, of means of windows, forgotten slowly
  std::int64_t frames_ = 0, windows_ = 0;
  std::int64_t since_held_ = kKept;
  bool held_ = false;
};

}  // namespace sfft::video
