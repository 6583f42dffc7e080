// SPDX-License-Identifier: Apache-2.0
// How small cells of a region change from frame to frame: by what motion does to them, and by what light
// does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sfft/types.hpp"
#include "video/sources/source.hpp"
#include "video/vibration/shifted_picture.hpp"

namespace sfft::video {

/// A change of a cell that is motion is the product of a displacement and the slopes of the picture, whose
/// signs differ from edge to edge. One that is light is a gain, an offset or a loss of detail, all of which
/// vary slowly. Each cell has coordinates along both kinds of change, orthonormal within a kind, and either
/// kind without what the other could explain as well.
constexpr std::size_t kMotionCoordinates = 2;
constexpr std::size_t kLightCoordinates = 8;
constexpr std::size_t kCellCoordinates = kMotionCoordinates + kLightCoordinates;

/// The cells' coordinates in every frame, and what is needed to recognise bands of light in them.
struct LocalChanges {
  std::vector<Region> cells;  ///< in pixels of the frame
  std::size_t frames = 0;
  std::vector<float> values;  ///< frame, cell, coordinate

  /// What a light that is 1 in row (column) i of a cell, and 0 elsewhere, does to each coordinate: as a gain
  /// (the first) and as an offset. Cell, coordinate, row or column.
  struct Response {
    std::vector<float> by_row, by_column;
  };
  std::array<Response, 2> responses;
  /// What a pixel's shift of the whole picture to the right, or down, does: cell, coordinate.
  std::array<std::vector<float>, 2> shifts;
};

/// Follows the cells of a region. Holds a reference picture, from which changes count; it is renewed when the
/// region drifts.
class LocalChangesWatch {
 public:
  /// `frame`: the first. Small regions have no cells.
  LocalChangesWatch(const SignalView& frame, const Region& region);

  /// The next frame (the first one, too), in which the region is (x, y) from its first place; `lost`: it is
  /// not known where.
  void push(const SignalView& frame, double x, double y, bool lost, LocalChanges& changes);
  /// Adds the cells, and how they respond.
  void finish(LocalChanges& changes) const;

 private:
  void learn();
  void learn_cell(std::size_t index);
  void average(const SignalView& frame);
  void renew(const SignalView& frame);
  void renew_at(const SignalView& frame, double x, double y);
  void begin_at(double x, double y);
  bool looks_moved(const SignalView& frame, double x, double y) const;
  std::array<double, 2> measure(const SignalView& frame);

  Region region_;
  Region inner_;  ///< all cells
  std::vector<Region> cells_;
  Picture reference_;                         ///< of the region
  Picture mean_;                              ///< of the latest frames, at the reference's place
  std::vector<float> usual_;                  ///< cell, coordinate: mean of the latest frames
  double frames_ = 0, since_ = 0;             ///< in all, and since the reference is
  double place_x_ = 0, place_y_ = 0;          ///< mean of the latest frames, from the reference
  std::vector<float> weights_;                ///< cell, coordinate, pixel of the cell
  std::vector<float> at_reference_;           ///< cell, coordinate: of the reference itself
  std::array<std::vector<float>, 2> shifts_;  ///< cell, coordinate
  std::vector<float> base_, latest_;          ///< cell, coordinate
  std::array<double, 3> normal_{};            ///< equations of a shift of all cells: xx, xy, yy
  double base_x_ = 0, base_y_ = 0;            ///< place of the reference
  int shift_x_ = 0, shift_y_ = 0;             ///< whole pixels from there, by which frames are read
};

}  // namespace sfft::video
