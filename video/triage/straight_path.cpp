// SPDX-License-Identifier: Apache-2.0
// The medians of the first and of the second half of the places determine the line, so that some of them may
// be elsewhere.
#include "video/triage/straight_path.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/base/math/quantiles.hpp"

namespace sfft::video {

namespace {

constexpr std::size_t kMinPictures = 8;
constexpr std::size_t kPathParts = 3;
/// Max. distances from the path, along and across its direction, and the min. length of a path, relative to
/// the root of the number of points. The largest change may be at the head or the feet of a person, and a
/// person is high and narrow.
constexpr double kAlong = 1 / 16.0, kAcross = 1 / 7.0, kWay = 1 / 12.0;
/// Max. distance along the path, relative to its length. With 1/6, a jump from one place to another would
/// pass.
constexpr double kOfWay = 1 / 7.0;

}  // namespace

StraightPath::StraightPath(int width, int height, double fps)
    : count_(std::max(kMinPictures, static_cast<std::size_t>(std::lround(kSeconds * fps)))) {
  const double size = std::sqrt(static_cast<double>(width) * height);
  along_ = kAlong * size;
  across_ = kAcross * size;
  way_ = kWay * size;
}

StraightPath::Place StraightPath::middle_of(std::size_t first, std::size_t count) const {
  const auto median_of = [&](double Place::*value) {
    std::vector<double> values;
    for (std::size_t n = first; n < first + count; ++n) values.push_back(places_[n].*value);
    return detail::median_in_place(values);
  };
  return {median_of(&Place::seconds), 0, median_of(&Place::x), median_of(&Place::y)};
}

double StraightPath::add(double seconds, double score, double x, double y) {
  places_.push_back({seconds, score, x, y});
  while (places_.size() > count_) places_.pop_front();
  if (places_.size() < count_) return 0;
  const Place before = middle_of(0, count_ / 2);
  const Place after = middle_of(count_ - count_ / 2, count_ / 2);
  const double time = after.seconds - before.seconds;
  const double dx = after.x - before.x;
  const double dy = after.y - before.y;
  const double moved = std::hypot(dx, dy);
  if (!(time > 0)) return 0;
  const double way = moved * (seconds - places_.front().seconds) / time;
  if (way < way_) return 0;
  const double along = std::min(along_, kOfWay * way);
  const auto on_path = [&](const Place& place) {
    const double part = (place.seconds - before.seconds) / time;
    const double off_x = place.x - before.x - part * dx;
    const double off_y = place.y - before.y - part * dy;
    return std::abs(off_x * dx + off_y * dy) <= along * moved &&
           std::abs(off_x * dy - off_y * dx) <= across_ * moved;
  };
  if (!on_path(places_.back())) return 0;
  double min = score;
  std::vector<double> scores;
  for (std::size_t part = 0; part < kPathParts; ++part) {
    scores.clear();
    for (std::size_t n = part * count_ / kPathParts; n < (part + 1) * count_ / kPathParts; ++n)
      scores.push_back(on_path(places_[n]) ? places_[n].score : 0);
    min = std::min(min, detail::median_in_place(scores));
  }
  return min;
}

}  // namespace sfft::video
