// SPDX-License-Identifier: Apache-2.0
// Chooses between the container's rate and the frames' time stamps.
#include "video/vibration/frame_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sfft::video {

namespace {

bool usable(std::span<const double> seconds) {
  if (seconds.size() < 2) return false;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (!std::isfinite(seconds[i]) || (i > 0 && seconds[i] <= seconds[i - 1])) return false;
  }
  return true;
}

}  // namespace

FrameClock frame_clock(double given_hz, double nominal_hz, std::span<const double> seconds) {
  FrameClock clock;
  if (given_hz > 0) {
    clock.rate_hz = given_hz;
    clock.source = "given";
    const FrameClock stamped = frame_clock(0, nominal_hz, seconds);
    if (!stamped.steady) {
      clock.warnings.push_back(fmt::format(
          "By their time stamps frames follow each other after {:.1f} to {:.1f} ms, and --fps takes them for "
          "even: where frames are missing, frequencies come out wrong.",
          1e3 * stamped.shortest_seconds, 1e3 * stamped.longest_seconds));
    }
    return clock;
  }
  if (!usable(seconds)) {
    clock.rate_hz = nominal_hz > 0 ? nominal_hz : 1;
    clock.source = nominal_hz > 0 ? "container" : "unknown";
    if (!(nominal_hz > 0))
      clock.warnings.emplace_back(
          "The input does not say how fast its frames follow each other: frequencies are in cycles per "
          "frame. "
          "Give the rate with --fps.");
    return clock;
  }
  std::vector<double> intervals;
  for (std::size_t i = 1; i < seconds.size(); ++i) intervals.push_back(seconds[i] - seconds[i - 1]);
  const auto count = static_cast<double>(intervals.size());
  const double mean = (seconds.back() - seconds.front()) / count;
  const auto [shortest, longest] = std::minmax_element(intervals.begin(), intervals.end());
  clock.shortest_seconds = *shortest;
  clock.longest_seconds = *longest;
  // Containers that count milliseconds round every time stamp by up to half a millisecond.
  double wander = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    wander = std::max(wander, std::abs(seconds[i] - seconds[0] - mean * static_cast<double>(i)));
  constexpr double kRounding = 1.1e-3;
  clock.steady = wander <= std::max(0.3 * mean, kRounding);
  const bool agrees = nominal_hz > 0 && std::abs(nominal_hz * mean - 1) < 2e-3;
  clock.rate_hz = agrees && clock.steady ? nominal_hz : 1 / mean;
  clock.source = agrees && clock.steady ? "container" : "time_stamps";
  if (!clock.steady) {
    std::vector<double> ordered = intervals;
    std::ranges::sort(ordered);
    // If the rate varies, the higher one gives more information. Times without a frame close by then have no
    // sample.
    const double usual = ordered[ordered.size() / 4];
    // If only some frames are missing, the others are evenly spaced, except for stamps in whole milliseconds.
    double sum = 0;
    double number = 0;
    for (const double interval : intervals) {
      if (std::abs(interval - usual) > 0.25 * usual) continue;
      sum += interval;
      ++number;
    }
    clock.rate_hz = number / sum;
    clock.warnings.push_back(
        fmt::format("Frames follow each other after {:.1f} to {:.1f} ms: the recording has a variable frame "
                    "rate. By their time stamps the series are taken at {:.4g} samples a second; where no "
                    "frame is close, there is none.",
                    1e3 * *shortest, 1e3 * *longest, clock.rate_hz));
  } else if (nominal_hz > 0 && !agrees) {
    clock.warnings.push_back(fmt::format(
        "The container states {:.4g} frames a second, and its time stamps {:.4g}: the latter are used.",
        nominal_hz, clock.rate_hz));
  }
  return clock;
}

FrameClock frame_clock(double given_hz, double capture_hz, double nominal_hz,
                       std::span<const double> seconds) {
  FrameClock clock = frame_clock(given_hz, nominal_hz, seconds);
  constexpr double kSame = 0.02;  // stated rates are rounded
  const bool slowed = capture_hz > 0 && std::abs(capture_hz / clock.rate_hz - 1) > kSame;
  if (given_hz > 0 || !slowed) return clock;
  clock = frame_clock(capture_hz, nominal_hz, seconds);
  clock.source = "capture";
  return clock;
}

std::vector<double> at_even_times(std::span<const double> series, std::span<const double> seconds,
                                  double rate_hz) {
  std::vector<double> even;
  if (series.empty()) return even;
  std::size_t after = 1;
  const auto count =
      static_cast<std::size_t>(std::floor((seconds[series.size() - 1] - seconds[0]) * rate_hz + 1e-6)) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const double at = seconds[0] + static_cast<double>(i) / rate_hz;
    while (after + 1 < series.size() && seconds[after] < at) ++after;
    if (after >= series.size()) {
      even.push_back(series.back());
      continue;
    }
    const double before = seconds[after - 1];
    const double share = std::clamp((at - before) / (seconds[after] - before), 0.0, 1.0);
    constexpr double kClose = 0.1, kAdjacent = 1.8;  // steps
    if ((seconds[after] - before) * rate_hz < kAdjacent)
      even.push_back(series[after - 1] + share * (series[after] - series[after - 1]));
    else if ((at - before) * rate_hz < kClose)
      even.push_back(series[after - 1]);
    else if ((seconds[after] - at) * rate_hz < kClose)
      even.push_back(series[after]);
    else
      even.push_back(std::numeric_limits<double>::quiet_NaN());
  }
  return even;
}

}  // namespace sfft::video
