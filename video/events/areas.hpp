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

/// What `--mask` and `--zone` name. Several masks are ignored together.
struct AreaOptions {
  struct Zone {
    std::string name{};
    Polygon polygon{};
  };
  std::vector<Polygon> masks{};
  std::vector<std::string> mask_pictures{};  ///< files; black is ignored
  std::vector<Zone> zones{};
  bool only_zones = false;  ///< what is in no zone is ignored
  bool empty() const noexcept { return masks.empty() && mask_pictures.empty() && zones.empty(); }
};

/// Adds a mask, "x,y x,y x,y" or the path of a picture, or a zone, "NAME=x,y x,y x,y". Numbers are pixels, or
/// shares where none is above 1. Throws Error(invalid_argument) that says what would be right.
void add_mask(AreaOptions& options, const std::string& text);
void add_zone(AreaOptions& options, const std::string& text);
/// All settings in one line, equal if and only if they are; for state files.
std::string to_string(const AreaOptions& options);

/// Areas of the frames of one input. Pixels count in its first frames, and follow later ones of another size.
class Areas {
 public:
  /// Throws InputError where the picture of a mask cannot be read.
  explicit Areas(const AreaOptions& options);

  /// The frame with everything ignored of one brightness, which follows the light of most of the rest; the
  /// frame itself where there is nothing to ignore. Valid until the next call. Throws
  /// Error(invalid_argument) where all of it is ignored.
  SignalView masked(const Frame& frame);

  int zones() const noexcept { return static_cast<int>(options_.zones.size()); }
  /// One bit per zone in which this place of the latest frame lies, and per zone that touches a rectangle.
  std::uint64_t zones_at(double x, double y) const;
  std::uint64_t zones_in(double x, double y, double width, double height) const;
  std::vector<std::string> names(std::uint64_t zones) const;

 private:
  void fit(const Frame& frame);
  template <class Sample>
  SignalView without_ignored();

  AreaOptions options_;
  std::vector<Frame> pictures_;  ///< of the masks
  std::int64_t width_ = 0, height_ = 0;
  std::int64_t first_width_ = 0, first_height_ = 0;
  std::vector<std::uint8_t> ignored_;
  std::vector<std::vector<std::uint8_t>> inside_;  ///< of each zone
  bool anything_ignored_ = false;
  std::vector<std::size_t> places_;  ///< that are not ignored
  std::vector<double> before_;       ///< what they showed in the first frame
  double level_ = 0;                 ///< their mean then
  std::vector<std::byte> samples_;
};

}  // namespace sfft::video
