// SPDX-License-Identifier: Apache-2.0
// Finds missing pictures of a coded video from the numbers that define their order.
#pragma once

#include <cstdint>
#include <vector>

namespace sfft::video {

/// H.264 and H.265 encoders number pictures in display order, in equal steps, from 0 at each key frame that
/// no reference crosses (picture order count: ITU-T H.264, 8.2.1; H.265, 8.3.1). A network loss between two
/// pictures then shows as a longer step. If the steps vary, nothing is reported. A loss right before such a
/// key frame leaves no trace.
class PictureOrder {
 public:
  struct Loss {
    std::int64_t packet = 0;  ///< packet of the first picture after it
    std::int64_t pictures = 0;
  };

  /// `depth`: max. number of pictures decoded before one that is displayed earlier. It grows as needed.
  explicit PictureOrder(int depth) : depth_(depth) {}

  /// Adds the next picture in decoding order. `count`: its picture order count. `key`: coded without
  /// reference to others.
  void add(std::int64_t count, bool key, std::int64_t packet);
  /// Returns the losses found since the last call.
  std::vector<Loss> take() { return std::move(found_); }

 private:
  struct Waiting {
    std::int64_t count, packet;
  };
  void show(const Waiting& picture);

  int depth_;
  std::vector<Waiting> waiting_;  ///< to be displayed
  bool begun_ = false;            ///< a picture was displayed since the last key frame that restarts
  std::int64_t last_ = 0;         ///< count of the last displayed picture
  std::int64_t max_ = 0;          ///< largest count since that key frame
  std::int64_t step_ = 0;         ///< the usual step
  int votes_ = 0;                 ///< for step_
  std::vector<Loss> found_;
};

}  // namespace sfft::video
