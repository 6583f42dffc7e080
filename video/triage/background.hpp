// SPDX-License-Identifier: Apache-2.0
// What a scene usually looks like and how much it usually changes, from pictures before and after.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "video/triage/light.hpp"

namespace sfft::video {

/// How long backgrounds reach, in frames.
struct BackgroundOptions {
  std::int64_t window = 1500;  ///< pictures before and after, in all
  std::int64_t recent = 100;   ///< what has stayed for half of this is usual, too
};

/// Medians over pictures of a window: they stay clear of what passes by. The spread of a point is the median
/// deviation, so that rain, flags and flicker raise it where they are.
class Background {
 public:
  /// Grey levels of 255 that no point is steadier than: codecs and rounding.
  static constexpr float kLeastSpread = 0.7F;

  Background(int width, int height, const BackgroundOptions& options);

  /// Frames come in order; some of them are kept. One that is kept already is left as it is.
  void add(std::int64_t frame, const std::vector<float>& picture);
  /// Makes the background for this frame, if it is time. Frames up to half a window later have been added,
  /// as far as there are any.
  void move_to(std::int64_t frame);

  /// In the light of usual(): the medians over the window and over the recent past, and the spread.
  std::span<const float> usual() const noexcept { return usual_; }
  std::span<const float> recent() const noexcept { return recent_; }
  std::span<const float> spread() const noexcept { return spread_; }

  /// All that add() and move_to() have left behind.
  template <class Archive>
  void archive(Archive& bytes) {
    bytes(kept_, next_usual_, next_recent_, usual_, recent_, spread_);
  }
  /// Whether what was read from an archive is of this size.
  bool consistent() const noexcept;

 private:
  struct Kept {
    std::int64_t frame = 0;
    std::vector<float> picture{};
    Light light{};

    template <class Archive>
    void archive(Archive& bytes) {
      bytes(frame, picture, light);
    }
  };
  void make_usual(std::int64_t frame);
  void make_recent(std::int64_t frame);
  /// Two pictures, or one and the usual one.
  struct Pair {
    const Kept *before, *after;
  };
  /// What this share of the differences stays below, per point.
  std::vector<float> quantile(std::span<const Pair> pairs, double share) const;
  float weather_of(std::span<const Pair> pairs) const;
  void measure_spread(std::span<Kept* const> chosen);
  void median_of(std::span<const Kept* const> kept, std::vector<float>& median) const;

  int width_, height_;
  BackgroundOptions options_;
  std::int64_t every_, sparse_;
  std::deque<Kept> kept_;
  std::int64_t next_usual_ = 0, next_recent_ = 0;
  std::vector<float> usual_, recent_, spread_;
};

}  // namespace sfft::video
