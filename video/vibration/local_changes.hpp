// SPDX-License-Identifier: Apache-2.0
// Measures how small cells of a region change from frame to frame, separately for changes by motion and by
// light.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sfft/types.hpp"
#include "video/sources/source.hpp"
#include "video/vibration/motion_model.hpp"

namespace sfft::video {

/// Motion changes a cell by the product of a displacement and the picture's slopes, whose signs differ from
/// edge to edge. Light changes it by a gain, an offset or a loss of detail, all of which vary slowly. Each
/// cell has coordinates along both kinds of change. They are orthonormal within a kind, and each kind
/// excludes what the other could also explain.
constexpr std::size_t kMotionCoordinates = 2;
constexpr std::size_t kLightCoordinates = 8;
constexpr std::size_t kCellCoordinates = kMotionCoordinates + kLightCoordinates;

/// The cells' coordinates in every frame, and what is needed to recognise bands of light in them.
struct LocalChanges {
  std::vector<Region> cells;  ///< in pixels of the frame
  std::size_t frames = 0;
  std::vector<float> values;  ///< indexed by frame, cell, coordinate

  /// The response of each coordinate to light that is 1 in row (column) i of a cell and 0 elsewhere, as a
  /// gain (the first) and as an offset (the second). Indexed by cell, coordinate, row or column.
  struct Response {
    std::vector<float> by_row, by_column;
  };
  std::array<Response, 2> responses;
  /// The response to a shift of the whole picture by one pixel to the right, or down. Indexed by cell,
  /// coordinate.
  std::array<std::vector<float>, 2> shifts;
};

/// Follows the cells of a region. Changes are relative to a reference picture, which is renewed when the
/// region drifts.
class LocalChangesWatch {
 public:
  /// `frame`: the first frame. Small regions have no cells.
  LocalChangesWatch(const SignalView& frame, const Region& region);

  /// Adds the next frame (including the first one), in which the region is displaced by (x, y) from its first
  /// place. `lost`: the place is unknown.
  void push(const SignalView& frame, double x, double y, bool lost, LocalChanges& changes);
  /// Adds the cells and their responses.
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
  Region inner_;  ///< rectangle of all cells
  std::vector<Region> cells_;
  Picture reference_;                 ///< reference picture of the region
  Picture mean_;                      ///< mean of the latest frames, at the reference's place
  std::vector<float> usual_;          ///< indexed by cell, coordinate: mean of the latest frames
  double frames_ = 0, since_ = 0;     ///< number of frames, in all and since the reference was taken
  double place_x_ = 0, place_y_ = 0;  ///< mean place over the latest frames, relative to the reference
  std::vector<float> weights_;        ///< indexed by cell, coordinate, pixel of the cell
  std::vector<float> at_reference_;   ///< indexed by cell, coordinate: those of the reference itself
  std::array<std::vector<float>, 2> shifts_;  ///< cell, coordinate
  std::vector<float> base_, latest_;          ///< cell, coordinate
  std::array<double, 3> normal_{};            ///< normal equations of a shift of all cells: xx, xy, yy
  double base_x_ = 0, base_y_ = 0;            ///< place of the reference
  int shift_x_ = 0, shift_y_ = 0;             ///< shift in whole pixels at which frames are read
};

/// Energies of the cells' changes at a frequency, in units of the noise of one coordinate. Each is the part
/// of the changes that a pattern explains. All but `band` and `claimed` are relative to the median at
/// neighbouring frequencies.
struct LightEvidence {
  double motion = 0;       ///< the larger of `along` and `rigid`, of those that are significant
  double light = 0;        ///< gains, offsets and lost detail, each cell independently
  double light_error = 0;  ///< scatter of `light` among neighbouring frequencies
  double chance = 1;       ///< expected scatter from noise alone
  double band = 0;         ///< the band of light, along rows or columns, that explains most
  double rigid = 0;        ///< one common motion of all cells
  double along = 0;        ///< motions along slopes, each cell independently
  double local = 0;        ///< one common motion per 2 x 2 cells
  double whole = 0;        ///< sum of `along` and `light`
  double claimed = 0;      ///< the measured motion, if all cells have it

  /// If parts of the region move, their motion has at least this many times the energy of the apparent light
  /// at their edges.
  static constexpr double kOutweighs = 2.5;
  /// Whether light is certainly present, and the motion is no more than such light can imitate.
  bool light_outweighs(double times = kOutweighs) const noexcept;
  /// Whether light_outweighs(), or the cells do not confirm the motion. `height`: ratio of the measured
  /// motion's power to its noise; `amplitude_px`: its amplitude.
  bool light_explains(double height, double amplitude_px) const noexcept;
};

class LightTest {
 public:
  explicit LightTest(const LocalChanges& changes) : changes_(changes) {}

  /// The evidence at a frequency of `turns` cycles per frame, from the cells whose middle is in `area`; null
  /// if there are none or too few frames. `move_x`, `move_y`: the motion measured there.
  std::optional<LightEvidence> at(double turns, const Region& area, std::complex<double> move_x,
                                  std::complex<double> move_y) const;

 private:
  const LocalChanges& changes_;
};

}  // namespace sfft::video
