// SPDX-License-Identifier: Apache-2.0
// Bright things that are gone at once: insects and drops before an infrared lamp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "video/triage/light.hpp"
#include "video/triage/moments.hpp"

namespace sfft::video {

/// Follows a bright thing through the pictures before and after, wherever it goes: points that are brighter
/// than a while ago and touch in place or from one picture to the next are one thing. One per thread.
class BriefLight {
 public:
  BriefLight(int width, int height);

  /// Pictures around the one at `now`, whose `light` brings it to that of the `recent` ones. `spread`: how
  /// much points usually differ. All must stay valid.
  void begin(const Moments& around, std::size_t now, const Light& light, std::span<const float> recent,
             std::span<const float> spread);
  /// Whether all that is bright in a tile now, or was just before, so that averages still hold it, lasts for
  /// so short a time and does not cross the picture from side to side.
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
  /// Points by which a thing moves from one picture to the next, where these are far apart; -1: to be found.
  int reach_ = -1;
  float gain_ = 1, offset_ = 0;
  std::span<const float> recent_, spread_;
  std::vector<std::vector<float>> brightness_;  ///< of tiles, mean; empty: not known
  std::vector<std::uint32_t> visited_;          ///< by which search, by place and moment
  std::uint32_t search_ = 0;
  enum class Verdict : char { unknown, brief, lasting };
  std::vector<Verdict> verdicts_;
  std::vector<Place> stack_, part_;
  std::vector<float> columns_;
};

}  // namespace sfft::video
