// SPDX-License-Identifier: Apache-2.0
// Recognises streams that were padded to a constant rate: cameras and recorders repeat each picture.
#pragma once

#include <array>
#include <cstddef>

#include "video/guard/pixel_rows.hpp"

namespace sfft::video {

/// Finds out how often pictures are new. A repeated picture is equal to the one before, or an encoder has
/// changed it slightly.
class Padding {
 public:
  /// Takes the pixels of the next frame. Whether it shows a new picture, or a new one is overdue; in streams
  /// that are not padded, every frame is due.
  bool due(const SparsePicture& pixels, double seconds);
  bool padded() const noexcept { return every_ > 1; }

 private:
  /// Median over the tiles of the sum of squared changes since the previous frame.
  double change_to(const SparsePicture& pixels);
  void note_new(double seconds);

  SparsePicture before_{};
  bool first_ = true;
  double usual_ = 0;                   ///< change that new pictures bring
  int every_ = 1;                      ///< frames per picture
  int since_new_ = 0, since_due_ = 0;  ///< frames
  double new_s_ = 0;                   ///< time of the latest new picture
  static constexpr std::size_t kKept = 8;
  std::array<int, kKept> frames_{};      ///< from a new picture to the next
  std::array<double, kKept> seconds_{};  ///< the same in seconds
  std::size_t known_ = 0;                ///< new pictures so far
};

}  // namespace sfft::video
