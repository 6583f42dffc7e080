// SPDX-License-Identifier: Apache-2.0
// Compares the small picture of a frame with the reference's, tile by tile.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "video/guard/landmarks.hpp"
#include "video/guard/pixel_rows.hpp"
#include "video/guard/small_picture.hpp"

namespace sfft::video {

/// How a tile of a frame compares with the reference's. Energies are mean squares in grey levels.
struct TileComparison {
  double own = 0, expected = 0;  ///< energy of the structure in the frame and in the reference
  double correlation = 0;        ///< of both, -1 to 1
  double contrast = 1;           ///< factor on the reference's structure
  double level = 0, expected_level = 0;
  double moving = 0;     ///< energy of the change since the frame before
  bool outside = false;  ///< this part of the scene is beyond the picture's rim
};

using TileComparisons = std::array<TileComparison, kTiles>;

/// Lays tiles over small pictures, without the rim.
class TileGrid {
 public:
  explicit TileGrid(const SmallPictures& pictures);

  TileComparisons compare(std::span<const float> structure, std::span<const float> levels,
                          std::span<const float> before, std::span<const float> expected_structure,
                          std::span<const float> expected_levels) const;

 private:
  std::vector<int> tile_of_;  ///< -1: in the rim
};

/// The result over all tiles.
struct SceneComparison {
  double changed = 0;  ///< share of the picture that no longer shows the scene
  double still = 0;    ///< the same without parts that move from frame to frame
  /// The common change of light: level = gain * expected + offset, for most tiles.
  double gain = 1, offset = 0;
  bool light_known = false;
  /// The changed parts that keep still are as bright, as structured and as detailed as before: the scene's
  /// own objects have moved, such as a person in front of the camera.
  bool rearranged = false;
};

/// Gives each tile one vote on lost or replaced structure, locally lost fine detail, missing landmarks, and
/// levels that the common change of light does not explain. `noise`: energy of ordinary changes of each tile.
/// `full`: the largest grey level.
SceneComparison compare_scene(const TileComparisons& tiles, std::span<const double> noise,
                              std::span<const double> detail, std::span<const double> expected_detail,
                              const LandmarkReport& landmarks, double full);

}  // namespace sfft::video
