// SPDX-License-Identifier: Apache-2.0
// What a scene usually looks like and how much it usually changes, from pictures before and after.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "video/triage/light.hpp"
#include "video/triage/local_light.hpp"

namespace sfft::video {

/// How long backgrounds reach, in frames.
struct BackgroundOptions {
  std::int64_t window = 1500;  ///< pictures before and after, in all
  std::int64_t recent = 100;   ///< what has stayed for half of this is usual, too
};

/// Medians over pictures of a window: they stay clear of what passes by. The spread of a point is how much it
/// usually changes apart from smooth light, so that rain, flags and flicker raise it where they are.
class Background {
 public:
  /// Grey levels of 255 that no point is steadier than: codecs and rounding.
  static constexpr float kMinSpread = 1.05F;

  Background(int width, int height, const BackgroundOptions& options);

  /// Frames come in order; some of them are kept.
  void add(std::int64_t frame, const std::vector<float>& picture);
  /// The smooth change of light relative to usual().
  LocalLight& light() noexcept { return light_; }
  /// Makes the background for this frame, if it is time. Frames up to half a window later have been added,
  /// as far as there are any.
  void move_to(std::int64_t frame);

  /// In the light of usual(): the medians over the window and over the recent past, and the spread.
  std::span<const float> usual() const noexcept { return usual_; }
  std::span<const float> recent() const noexcept { return recent_; }
  std::span<const float> spread() const noexcept { return spread_; }
  /// Whether a point is white in most pictures: usual() is then the least that it may be.
  std::span<const std::uint8_t> overexposed() const noexcept { return overexposed_; }

  /// All that add() and move_to() have left behind.
  template <class Archive>
  void archive(Archive& bytes) {
    bytes(kept_, next_usual_, next_recent_, usual_, overexposed_, recent_, spread_);
  }
  /// To be called when it was read from an archive. Returns whether it is of this size.
  bool restored();

 private:
  struct Kept {
    std::int64_t frame = 0;
    std::vector<float> picture{};
    Light light{};
    std::vector<float> left{};  ///< of the deviation, by LocalLight, when the spread was measured

    template <class Archive>
    void archive(Archive& bytes) {
      bytes(frame, picture, light);
    }
  };
  void find_overexposed(std::span<Kept* const> chosen);
  void make_usual(std::int64_t frame);
  void make_recent(std::int64_t frame);
  struct Pair {
    const Kept *before, *after;
  };
  void deviation_of(const Kept& one, std::vector<float>& deviation) const;
  void remove_light(std::span<Kept* const> from);
  float weather_of(std::span<const Pair> pairs) const;
  void measure_spread(std::span<Kept* const> chosen);
  /// Median of what `level` gives for a picture, brought to the light of usual(), and a point.
  template <class Level>
  std::vector<float> median_of(std::span<const Kept* const> kept, const Level& level) const;

  int width_, height_;
  BackgroundOptions options_;
  std::int64_t every_, sparse_;
  LocalLight light_;
  std::deque<Kept> kept_;
  std::int64_t next_usual_ = 0, next_recent_ = 0;
  std::vector<float> usual_, recent_, spread_;
  std::vector<std::uint8_t> overexposed_;  ///< in most of the pictures that usual_ is the median of
};

}  // namespace sfft::video
