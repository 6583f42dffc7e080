// SPDX-License-Identifier: Apache-2.0
// What a spider's web before the lens does in the wind, as a few patterns.
#pragma once

#include <span>
#include <vector>

namespace sfft::video {

/// Principal components of the changes from picture to picture (eigenbackgrounds: Oliver, Rosario and
/// Pentland, IEEE PAMI 22, 2000). What sways by no more than a point of the small picture is explained by few
/// of them, whose coefficients alternate all the time. What crosses the picture needs many.
class SwayModel {
 public:
  /// `pictures`: `width` points wide, in order of time and at equal distances, padded with zeros to whole
  /// fours. They are overwritten. Without wide changes that few patterns explain, the model is empty.
  void learn(std::vector<std::vector<float>>& pictures, int width);
  bool empty() const noexcept { return patterns_.empty(); }

  /// What a deviation from the usual picture shows of the patterns. Robust: what stands before the scene has
  /// no say. The deviation is padded with zeros to whole fours.
  void fit(std::span<const float> deviation, std::vector<float>& sway) const;

  template <class Archive>
  void archive(Archive& bytes) {
    bytes(patterns_, scale_);
  }
  /// Whether what was read from an archive is for pictures of this many points.
  bool fits(std::size_t points) const noexcept;

 private:
  using Pattern = std::vector<float>;
  void accept(std::span<const std::vector<float>> changes, int width);

  std::vector<Pattern> patterns_;  ///< orthonormal
  std::vector<float> scale_;       ///< usual size of what they leave, per point
};

}  // namespace sfft::video
