// SPDX-License-Identifier: Apache-2.0
// Learns what a scene usually looks like and how much it usually changes, from pictures before and after:
// medians, usual deviations, and the components of what sways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "video/triage/light.hpp"

namespace sfft::video {

/// A selection network: compare-exchanges in a fixed order (Batcher's merge exchange: Knuth, The Art of
/// Computer Programming, volume 3, algorithm 5.2.2M), without those that cannot affect the wanted rank. It
/// processes one point per lane, without branches.
class RankNetwork {
 public:
  static constexpr std::size_t kLanes = 16;  ///< points that are processed at once

  RankNetwork(std::size_t count, std::size_t rank);

  /// `values`: `count` rows of kLanes numbers, with a point per column. They are reordered. Returns the row
  /// of the wanted rank within them; rank 0 is the smallest.
  std::span<const float, kLanes> select(std::span<float> values) const;

  /// Two rows to compare; the smaller values go to `low`.
  struct Exchange {
    std::size_t low, high;
  };

 private:
  std::size_t rank_;
  std::vector<Exchange> exchanges_;
};

/// Principal components of a scene's deviations from its usual picture (Oliver, Rosario and Pentland, "A
/// Bayesian computer vision system for modeling human interactions", IEEE PAMI 22, 2000). What sways as a
/// whole has few of them, and each of its states is nearly a sum of multiples of these.
class EigenBackground {
 public:
  /// Computes the components of row-major pictures of one size.
  void learn(std::span<const std::vector<float>> deviations);
  void clear() noexcept { components_.clear(); }
  bool empty() const noexcept { return components_.empty(); }

  /// Subtracts the sum of components that fits best to a deviation. The fit is robust, so a person who hides
  /// a part of the picture has no weight in it and stays.
  void remove(std::span<float> deviation) const;

  template <class Archive>
  void archive(Archive& bytes) {
    bytes(components_);
  }
  /// Call this after reading from an archive. Whether the components are finite, and of pictures with this
  /// number of points.
  bool fits(std::size_t points) const noexcept;

 private:
  std::vector<float> components_;  ///< one after another; a usual coefficient has the size 1
};

/// Lengths of the windows of a background, in frames.
struct BackgroundOptions {
  std::int64_t window = 1500;  ///< length; half before the frame, half after it
  std::int64_t recent = 100;   ///< what has stayed for half of this time is in recent()
};

/// Computes medians over the pictures of a window, which ignore what passes by. The spread of a point is how
/// much it usually changes, without changes of smooth light. Rain, flags and flicker raise it where they are.
class Background {
 public:
  /// Lower bound of the spread, in grey levels of 255: the noise of codecs and rounding.
  static constexpr float kMinSpread = 1.05F;

  Background(int width, int height, const BackgroundOptions& options);

  /// Takes the pictures of frames in order, and keeps some of them.
  void add(std::int64_t frame, const std::vector<float>& picture);
  /// Call this before add() if most of the picture has changed with this frame, as when a camera switches to
  /// infrared light. If the change stays, pictures from before and after are not mixed.
  void add_jump(std::int64_t frame);
  /// Whether most of a picture has changed, whatever gain and offset of the light have done.
  bool other_light(std::span<const float> before, std::span<const float> after) const;
  /// Removes smooth changes of light relative to usual().
  LocalLight& light() noexcept { return light_; }
  /// Updates the background for this frame if an update is due. Add the frames up to half a window later, as
  /// far as they exist, before the call.
  void move_to(std::int64_t frame);

  /// The frames from the first to before the last have the light of the frame of move_to().
  struct Segment {
    std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max();
    bool has(std::int64_t frame) const noexcept { return frame >= first && frame < last; }
    friend bool operator==(const Segment&, const Segment&) = default;
  };
  const Segment& segment() const noexcept { return segment_; }
  /// The medians over the window and over the recent past, and the spread: grey levels in the light of
  /// usual().
  std::span<const float> usual() const noexcept { return usual_; }
  std::span<const float> recent() const noexcept { return recent_; }
  std::span<const float> spread() const noexcept { return spread_; }
  /// Whether a point is white in at least half of the pictures. usual() is then only a lower bound.
  std::span<const std::uint8_t> overexposed() const noexcept { return overexposed_; }
  /// Components of what sways across most of the picture, such as a spider's web; usually empty. Remove it
  /// from deviations from usual() before you compare them with spread() or add them to recent().
  const EigenBackground& sway() const noexcept { return sway_; }

  /// All state that add() and move_to() change.
  template <class Archive>
  void archive(Archive& bytes) {
    bytes(kept_, next_usual_, next_recent_, usual_, overexposed_, recent_, spread_, sway_, jumps_,
          segment_.first, segment_.last);
  }
  /// Call this after reading from an archive. Returns whether the state is of this picture size.
  bool restored();

 private:
  struct Kept {
    std::int64_t frame = 0;
    std::vector<float> picture{};
    Light light{};
    std::vector<float> left{};  ///< deviation without smooth light, when the spread was measured

    template <class Archive>
    void archive(Archive& bytes) {
      bytes(frame, picture, light);
    }
  };
  /// A frame with which most of the picture changed, and whether the change stayed for a while.
  struct Jump {
    std::int64_t frame = 0;
    bool known = false, stays = false;

    template <class Archive>
    void archive(Archive& bytes) {
      bytes(frame, known, stays);
    }
  };

  void judge_jump(Jump& jump) const;
  Segment segment_of(std::int64_t frame) const;
  void find_overexposed(std::span<Kept* const> chosen);
  void make_usual(std::int64_t frame);
  void learn_sway(std::int64_t first, std::int64_t last);
  void learn_sway(std::span<const std::vector<float>> deviations);
  void make_recent(std::int64_t frame);
  struct Pair {
    const Kept *before, *after;
  };
  void deviation_of(const Kept& one, std::vector<float>& deviation) const;
  void remove_light(std::span<Kept* const> from);
  float weather_of(std::span<const Pair> pairs) const;
  float measure_spread(std::span<Kept* const> chosen);
  /// For every point, the median over pictures of level(point, grey level, the same in the light of usual()).
  template <class Level>
  std::vector<float> median_of(std::span<const Kept* const> kept, const Level& level) const;

  int width_, height_;
  BackgroundOptions options_;
  std::int64_t every_, sparse_;
  LocalLight light_;
  EigenBackground sway_;
  std::deque<Kept> kept_;
  std::deque<Jump> jumps_;
  Segment segment_;
  std::int64_t next_usual_ = 0, next_recent_ = 0;
  std::vector<float> usual_, recent_, spread_;
  std::vector<std::uint8_t> overexposed_;  ///< in at least half of the pictures behind usual_
};

}  // namespace sfft::video
