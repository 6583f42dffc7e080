// SPDX-License-Identifier: Apache-2.0
// Finds the part of a small picture that has changed most, and tests it by the pictures before and after it:
// switched light, things that swing, and bright things that are soon gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "video/triage/light.hpp"

namespace sfft::video {

/// A rectangle of points.
struct PointSquare {
  int left = 0, top = 0, across = 0, down = 0;

  std::size_t points() const noexcept {
    return static_cast<std::size_t>(across) * static_cast<std::size_t>(down);
  }
};

/// Pictures in order of time.
class Moments {
 public:
  struct Moment {
    std::span<const float> picture;  ///< row-major; must stay valid
    double seconds = 0;
    bool gap = false;  ///< frames are missing before it, so how a change came is unknown
  };

  explicit Moments(int width) : width_(width) {}

  void take(std::vector<Moment> moments) { moments_ = std::move(moments); }
  std::size_t size() const noexcept { return moments_.size(); }
  bool gap(std::size_t moment) const { return moments_[moment].gap; }
  double seconds(std::size_t moment) const { return moments_[moment].seconds; }
  std::span<const float> picture(std::size_t moment) const { return moments_[moment].picture; }

  /// Selects the square that shown() returns.
  void cut_out(const PointSquare& square);
  /// The square at that moment row by row, padded with zeros to a multiple of four.
  std::span<const float> shown(std::size_t moment) const;
  /// Copies a square of another picture of this size, in the layout of shown().
  void cut_out(std::span<const float> picture, const PointSquare& square, std::vector<float>& to) const;

 private:
  int width_;
  std::vector<Moment> moments_;
  std::vector<float> shown_;
  std::size_t padded_ = 0;
};

/// Tells lamps and flashes from objects by the small pictures around a moment. Objects arrive in several
/// steps, each of which shows something else. A lamp or a flash jumps, and shows more or less of one pattern.
class SwitchedLight {
 public:
  /// `step`: max. frames that switching takes. Points from the grey level `white` on may be overexposed.
  SwitchedLight(int step, float white) : step_(step), white_(white) {}

  /// Whether switched light explains the differences between the moments, in the `square` that
  /// Moments::cut_out() selected. If so, `pattern` begins with the light that came or went, row by row.
  /// `noise`: variance of the difference of a point between two pictures of the same content.
  bool find(const Moments& moments, const PointSquare& square, float noise,
            std::vector<float>& pattern) const;

 private:
  struct Fit {
    float share, left;
  };
  Fit fit(std::span<const float> shown, std::span<const float> before, std::span<const float> pattern) const;

  int step_;
  float white_;
};

/// Swinging structure leaves its place to one side and to the other: it shows a deviation, and soon the
/// opposite. Objects that arrive and people who move do not. Use one object per thread.
class Swinging {
 public:
  /// Whether other moments show the opposite of `deviation` in the `square` that Moments::cut_out() selected.
  /// What a change of light does to the `usual` picture does not count. `deviation` and `usual` are of that
  /// square, in the layout of Moments::shown().
  bool find(const Moments& moments, const PointSquare& square, std::span<const float> deviation,
            std::span<const float> usual);

 private:
  std::vector<float> even_, structure_, swing_;
};

/// Follows a bright thing through the pictures before and after, wherever it goes. Tiles that are brighter
/// than a while ago belong to one thing if they touch, within a picture or from one picture to the next. Use
/// one object per thread.
class BriefLight {
 public:
  BriefLight(int width, int height);

  /// Prepares for searches in the pictures `around` the one at index `now`. `light`: that picture's light
  /// relative to the `recent` one. `spread`: how much points usually differ, in grey levels. `around`,
  /// `recent` and `spread` must stay valid.
  void begin(const Moments& around, std::size_t now, const Light& light, std::span<const float> recent,
             std::span<const float> spread);
  /// Whether the bright thing in the tile around (x, y) is soon gone and does not cross the picture from side
  /// to side. The thing may have been there shortly before now, because averages still contain it.
  bool find(int x, int y);

 private:
  struct Place {
    std::size_t moment;
    int x, y;
  };
  const std::vector<float>& brightness(std::size_t moment);
  bool gone_at_once(const Place& first, float peak);
  bool bright(const Place& place, float peak);

  int width_, height_;
  const Moments* around_ = nullptr;
  std::size_t now_ = 0, first_ = 0;
  /// Max. points by which a thing moves between pictures; 0 if these are close in time; -1: not known yet.
  int reach_ = -1;
  float gain_ = 1, offset_ = 0;
  std::span<const float> recent_, spread_;
  std::vector<std::vector<float>> brightness_;  ///< mean of each tile, by moment; empty: not known
  std::vector<std::uint32_t> visited_;          ///< the last search there, by moment and place
  std::uint32_t search_ = 0;
  enum class Verdict : char { unknown, brief, lasting };
  std::vector<Verdict> verdicts_;
  std::vector<Place> stack_, part_;
  std::vector<float> columns_;
};

struct ChangedTile {
  double score = 0;  ///< root mean square deviation in units of the usual spread
  int x = 0, y = 0;  ///< its middle, in points
};

/// Tests that use the pictures before and after a moment; null: skipped.
struct Surroundings {
  Moments* moments = nullptr;
  const SwitchedLight* switched = nullptr;
  BriefLight* brief = nullptr;
};

/// Searches the tiles of 3 by 3 points around all points. Use one object per thread.
class TileSearch {
 public:
  TileSearch(int width, int height);

  /// Returns the tile with the largest score. `deviation` and `recent_deviation` are a picture's differences
  /// from the `usual` one and from a recent one; per point, the smaller counts. `spread` is their usual size.
  /// Points from the grey level `white` on may be overexposed. Changes that smooth light would make to the
  /// existing structure do not count. Nor do tiles that swing, are soon gone, or show switched light, as far
  /// as the pictures `around` tell.
  ChangedTile find(std::span<const float> deviation, std::span<const float> recent_deviation,
                   std::span<const float> usual, std::span<const float> spread, float white,
                   const Surroundings& around = {});

 private:
  using Square = PointSquare;
  /// The square of `side` by `side` points around a tile, moved into the picture.
  Square surroundings(int x, int y, int side) const;
  double unexplained(std::span<const float> deviation, std::span<const float> usual, int x, int y,
                     double enough);
  double unexplained_at_limits(std::span<const float> deviation, std::span<const float> usual,
                               const Square& square, double white) const;
  double beside_pattern(std::span<const float> deviation, std::span<const float> usual,
                        const Square& square) const;
  struct Pictures {
    std::span<const float> deviation, recent_deviation, usual;
  };
  double beside_switched(const Pictures& pictures, const Square& square, float noise, Moments& around,
                         const SwitchedLight& switched);
  double beside_switched(const Pictures& pictures, int x, int y, double enough, float noise, Moments& around,
                         const SwitchedLight& switched);
  bool swings(std::span<const float> deviation, std::span<const float> usual, int x, int y, Moments& around);
  bool has_white(std::span<const float> deviation, std::span<const float> usual, const Square& square) const;

  int width_, height_;
  float white_ = 0;
  std::vector<float> squares_, columns_, pattern_, deviation_here_, usual_here_;
  Swinging swinging_;
  SmoothLight plane_, bent_;
  enum class Swings : char { unknown, yes, no };
  /// What is known about the tiles around the 3 by 3 points of a block.
  struct Block {
    Swings swings = Swings::unknown;
    std::optional<double> beside_switched{};
  };
  Block& block_of(int x, int y);
  Square around_block(int x, int y) const;
  std::vector<Block> blocks_;
  std::vector<std::uint64_t> candidates_;
};

}  // namespace sfft::video
