// SPDX-License-Identifier: Apache-2.0
// Detects bright things that are soon gone: insects and drops in front of an infrared lamp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "video/triage/light.hpp"
#include "video/triage/moments.hpp"

namespace sfft::video {

/// Follows a bright thing through the pictures before and after, wherever it goes. Tiles that are brighter
/// than a while ago belong to one thing if they touch, within a picture or from one picture to the next. Use
/// one object per thread.
class BriefLight {
 public:
  BriefLight(int width, int height);

  /// Prepares for searches in the pictures `around` the one at index `now`. `light`: that picture's light
  /// relative to the `recent` one. `spread`: how much points usually differ, in grey levels. `around`,
  /// `recent` and `spread` must stay valid.
  void begin(const Moments& around, std::size_t now, const Light& light, std::span<const float> recent,
             std::span<const float> spread);
  /// Whether the bright thing in the tile around (x, y) is soon gone and does not cross the picture from side
  /// to side. The thing may have been there shortly before now, because averages still contain it.
  bool find(int x, int y);

 private:
  struct Place {
    std::size_t moment;
    int x, y;
  };
  const std::vector<float>& brightness(std::size_t moment);
  bool gone_at_once(const Place& first, float peak);
  bool bright(const Place& place, float peak);

  int width_, height_;
  const Moments* around_ = nullptr;
  std::size_t now_ = 0, first_ = 0;
  /// Max. points by which a thing moves between pictures; 0 if these are close in time; -1: not known yet.
  int reach_ = -1;
  float gain_ = 1, offset_ = 0;
  std::span<const float> recent_, spread_;
  std::vector<std::vector<float>> brightness_;  ///< mean of each tile, by moment; empty: not known
  std::vector<std::uint32_t> visited_;          ///< the last search there, by moment and place
  std::uint32_t search_ = 0;
  enum class Verdict : char { unknown, brief, lasting };
  std::vector<Verdict> verdicts_;
  std::vector<Place> stack_, part_;
  std::vector<float> columns_;
};

}  // namespace sfft::video
