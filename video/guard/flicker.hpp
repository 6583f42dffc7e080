// SPDX-License-Identifier: Apache-2.0
// Tells light that goes up and down from light that only changes.
#pragma once

#include <vector>

namespace sfft::video {

/// Follows the light of one scene.
class Flicker {
 public:
  /// `brightening`: logarithm of the factor on the light since the frame before. Returns by how much, in the
  /// same unit, the light goes up and down in a third of the latest second's frames; 0 where it does not.
  double add(double brightening);

 private:
  std::vector<double> levels_;  ///< the latest
};

}  // namespace sfft::video
