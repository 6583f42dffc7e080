// SPDX-License-Identifier: Apache-2.0
// Tests whether light explains the changes at a frequency better than motion does.
#pragma once

#include <complex>
#include <cstddef>
#include <optional>

#include "video/vibration/local_changes.hpp"

namespace sfft::video {

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
