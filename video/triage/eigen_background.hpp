// SPDX-License-Identifier: Apache-2.0
// Describes a scene behind something that sways across most of the picture, such as a spider's web.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sfft::video {

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

}  // namespace sfft::video
