// SPDX-License-Identifier: Apache-2.0
// Finds pictures that are missing from a coded video by the numbers that order them.
#pragma once

#include <cstdint>
#include <vector>

namespace sfft::video {

/// Encoders of H.264 and H.265 number pictures in the order in which they are shown, by equal steps, from 0
/// on at each key frame that nothing refers across (picture order count: ITU-T H.264, 8.2.1; H.265, 8.3.1).
/// What a network loses between two pictures is then a step that is too long. Where the steps vary, nothing
/// is said. Loss right before such a key frame leaves no trace in the numbers.
class PictureOrder {
 public:
  struct Loss {
    std::int64_t packet = 0;  ///< that of the first picture behind it
    std::int64_t pictures = 0;
  };

  /// `depth`: how many pictures may come before one that is shown earlier. It grows where more do.
  explicit PictureOrder(int depth) : depth_(depth) {}

  /// The next picture in decoding order. `key`: whether it is coded without others.
  void add(std::int64_t count, bool key, std::int64_t packet);
  /// What was found since the last call.
  std::vector<Loss> take() { return std::move(found_); }

 private:
  struct Waiting {
    std::int64_t count, packet;
  };
  void show(const Waiting& picture);

  int depth_;
  std::vector<Waiting> waiting_;  ///< to be shown
  bool begun_ = false;            ///< a picture was shown since the last key frame that starts anew
  std::int64_t last_ = 0;         ///< count of the picture that was shown last
  std::int64_t most_ = 0;         ///< largest count since that key frame
  std::int64_t step_ = 0;         ///< the usual one
  int votes_ = 0;                 ///< for it
  std::vector<Loss> found_;
};

}  // namespace sfft::video
