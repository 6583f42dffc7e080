// SPDX-License-Identifier: Apache-2.0
// Whether light explains what changes at a frequency better than motion does.
#pragma once

#include <complex>
#include <cstddef>
#include <optional>

#include "video/vibration/local_changes.hpp"

namespace sfft::video {

/// Energies of the changes at a frequency, less those next to it, in units of the noise of one coordinate.
struct LightEvidence {
  double motion = 0;       ///< along slopes: of the cells each by itself, or of all together if that is more
  double light = 0;        ///< gains, offsets and lost detail of the cells, each by itself
  double light_error = 0;  ///< how far `light` varies among the frequencies next to it
  double chance = 1;       ///< how far it would by noise alone
  double band = 0;         ///< of the one band of light, along rows or columns, that explains most
  double rigid = 0;        ///< of one motion of all cells
  double along = 0;        ///< along slopes: of the cells each by itself
  double local = 0;        ///< of one motion of each two by two cells
  double whole = 0;        ///< of all changes
  double claimed = 0;      ///< of the motion that was measured, if all cells have it

  /// Energy of what moves in parts is at least this many times what looks like light at their edges.
  static constexpr double kOutweighs = 2.5;
  /// Whether light is there beyond doubt, and motion is no more than what such light looks like.
  bool light_outweighs(double times = kOutweighs) const noexcept;
  /// Whether that is so, or the cells do not confirm the motion. `height`: power of the measured motion over
  /// its noise; `amplitude_px`: its amplitude.
  bool light_explains(double height, double amplitude_px) const noexcept;
};

class LightTest {
 public:
  explicit LightTest(const LocalChanges& changes) : changes_(changes) {}

  /// At `turns` per frame, over the cells whose middle is in `area`; null if there are none. `move_x`,
  /// `move_y`: the motion that was measured there.
  std::optional<LightEvidence> at(double turns, const Region& area, std::complex<double> move_x,
                                  std::complex<double> move_y) const;

 private:
  const LocalChanges& changes_;
};

}  // namespace sfft::video
