// SPDX-License-Identifier: Apache-2.0
// An artificial scene for tests of triage, and changes in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "video/triage/change_meter.hpp"
#include "video/triage/event_list.hpp"

namespace sfft::video {

constexpr int kWidth = 192, kHeight = 108, kFrames = 300;
constexpr double kRate = 25;
using Grey = std::vector<float>;

inline float& pixel(Grey& grey, int x, int y) {
  return grey[static_cast<std::size_t>(y * kWidth + x)];
}

/// Walls, a slope and texture, the same in every frame.
inline const Grey& scene() {
  static const Grey drawn = [] {
    Grey grey(kWidth * kHeight);
    std::mt19937 random(3);
    std::uniform_real_distribution<float> unit(0, 1);
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        pixel(grey, x, y) = 90 + 0.2F * static_cast<float>(x) + 14 * unit(random);
    for (int i = 0; i < 60; ++i) {
      const int left = static_cast<int>(unit(random) * (kWidth - 30));
      const int top = static_cast<int>(unit(random) * (kHeight - 20));
      const float level = 40 + 150 * unit(random);
      for (int y = top; y < top + 4 + i % 13; ++y)
        for (int x = left; x < left + 4 + i % 23; ++x) pixel(grey, x, y) = level;
    }
    return grey;
  }();
  return drawn;
}

using Edit = std::function<void(Grey& grey, int frame)>;

/// A square that crosses the picture in frames 120 to 169.
inline Edit crossing(int side, float contrast) {
  return [=](Grey& grey, int frame) {
    if (frame < 120 || frame >= 170) return;
    const int left = 10 + 3 * (frame - 120);
    for (int y = 60; y < 60 + side; ++y)
      for (int x = left; x < left + side; ++x) pixel(grey, x, y) += contrast;
  };
}

/// Returns the events of a recording of the scene with a change. Each picture is shown `times` times.
inline std::vector<TriageEvent> events_of(const Edit& change, double noise = 1.5, double rate = kRate,
                                          int times = 1) {
  ChangeMeter meter({}, rate);
  EventList list({}, rate);
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0, static_cast<float>(noise));
  std::vector<TriageEvent> events;
  std::vector<Change> changes;
  const auto take = [&] {
    for (const Change& one : changes)
      if (auto event = list.add(one)) events.push_back(*event);
    changes.clear();
  };
  std::vector<std::uint8_t> samples(kWidth * kHeight);
  for (int frame = 0; frame < kFrames; ++frame) {
    if (frame % times == 0) {
      Grey grey = scene();
      change(grey, frame);
      for (std::size_t i = 0; i < grey.size(); ++i)
        samples[i] = static_cast<std::uint8_t>(std::clamp(grey[i] + normal(random) + 0.5F, 0.0F, 255.0F));
    }
    meter.push(SignalView(samples, Shape{kHeight, kWidth}), frame / rate, changes);
    take();
  }
  meter.finish(changes);
  take();
  if (auto event = list.finish()) events.push_back(*event);
  return events;
}

}  // namespace sfft::video
