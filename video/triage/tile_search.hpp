// SPDX-License-Identifier: Apache-2.0
// Finds the part of a small picture that has changed most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "video/triage/brief_light.hpp"
#include "video/triage/smooth_light.hpp"
#include "video/triage/swinging.hpp"
#include "video/triage/switched_light.hpp"

namespace sfft::video {

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
