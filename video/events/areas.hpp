// SPDX-License-Identifier: Apache-2.0
// Parts of the picture that are ignored, and parts that events are assigned to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sfft/types.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

/// A polygon by its corners: pixels of the frames that are read, or shares of their width and height.
struct Polygon {
  struct Corner {
    double x = 0, y = 0;
  };
  std::vector<Corner> corners{};
  bool shares = false;
};

/// The areas of `--mask` and `--zone`. All masks are ignored together.
struct AreaOptions {
  struct Zone {
    std::string name{};
    Polygon polygon{};
  };
  std::vector<Polygon> masks{};
  std::vector<std::string> mask_pictures{};  ///< files; black is ignored
  std::vector<Zone> zones{};
  bool only_zones = false;  ///< everything outside the zones is ignored
  bool empty() const noexcept { return masks.empty() && mask_pictures.empty() && zones.empty(); }
};

/// Adds a mask, "x,y x,y x,y" or the path of a picture, or a zone, "NAME=x,y x,y x,y". Numbers are pixels, or
/// shares if none is above 1. Throws Error(invalid_argument) that says what would be right.
void add_mask(AreaOptions& options, const std::string& text);
void add_zone(AreaOptions& options, const std::string& text);
/// All settings as text that is equal if and only if they are; for state files.
std::string to_string(const AreaOptions& options);

/// Areas of the frames of one input. Pixel coordinates refer to the first frame, and are scaled for later
/// frames of another size.
class Areas {
 public:
  /// Throws InputError if the picture of a mask cannot be read.
  explicit Areas(const AreaOptions& options);

  /// The frame with all ignored pixels at one level, which follows the light of most of the rest; the frame
  /// itself if nothing is ignored. Valid until the next call. Throws Error(invalid_argument) if everything is
  /// ignored.
  SignalView masked(const Frame& frame);

  int zones() const noexcept { return static_cast<int>(options_.zones.size()); }
  /// One bit per zone that contains this point of the latest frame, or that touches a rectangle; in pixels.
  std::uint64_t zones_at(double x, double y) const;
  std::uint64_t zones_in(double x, double y, double width, double height) const;
  std::vector<std::string> names(std::uint64_t zones) const;

 private:
  void fit(const Frame& frame);
  template <class Sample>
  SignalView without_ignored();

  AreaOptions options_;
  std::vector<Frame> pictures_;  ///< pictures of the masks
  std::int64_t width_ = 0, height_ = 0;
  std::int64_t first_width_ = 0, first_height_ = 0;
  std::vector<std::uint8_t> ignored_;
  std::vector<std::vector<std::uint8_t>> inside_;  ///< pixels inside each zone
  bool anything_ignored_ = false;
  std::vector<std::size_t> places_;  ///< some of the pixels that are not ignored
  std::vector<double> before_;       ///< their levels in the first frame of this size, plus 1
  double level_ = 0;                 ///< their mean level in that frame
  std::vector<std::byte> samples_;
};

}  // namespace sfft::video
