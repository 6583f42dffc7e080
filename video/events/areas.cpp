// SPDX-License-Identifier: Apache-2.0
// Polygons are filled by the even-odd rule at the centres of pixels.
#include "video/events/areas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "kernels/base/math/quantiles.hpp"
#include "sfft/error.hpp"

namespace sfft::video {

namespace {

constexpr std::size_t kMaxZones = 64, kMaxCorners = 1000;
/// Approximate number of pixels whose light the ignored ones follow.
constexpr std::size_t kPlaces = 1009;
constexpr const char* kHow = "x,y x,y x,y with pixels, or with shares of the picture from 0 to 1";

/// None if the text is not a list of corners.
std::optional<Polygon> parse_polygon(const std::string& text) {
  Polygon polygon;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == ';'; };
  const auto number = [&](double& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    return error == std::errc{} && std::isfinite(value);
  };
  while (true) {
    while (at != end && blank(*at)) ++at;
    if (at == end) break;
    Polygon::Corner corner;
    if (!number(corner.x) || at == end || *at != ',') return std::nullopt;
    ++at;
    if (!number(corner.y) || (at != end && !blank(*at))) return std::nullopt;
    polygon.corners.push_back(corner);
  }
  if (polygon.corners.empty()) return std::nullopt;
  polygon.shares = std::ranges::all_of(polygon.corners,
                                       [](const Polygon::Corner& one) { return one.x <= 1 && one.y <= 1; });
  return polygon;
}

Polygon checked(const Polygon& polygon, const std::string& text) {
  const auto bad = [&](const char* why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("'{}' {}: write {}", text, why, kHow));
  };
  if (polygon.corners.size() < 3) bad("has fewer than three corners");
  if (polygon.corners.size() > kMaxCorners) bad("has more than a thousand corners");
  for (const Polygon::Corner& one : polygon.corners)
    if (one.x < 0 || one.y < 0 || one.x > 1e6 || one.y > 1e6) bad("has a corner outside of the picture");
  return polygon;
}

/// Calls use(index) for each pixel inside.
template <class Use>
void fill(const Polygon& polygon, double across, double down, std::int64_t width, std::int64_t height,
          const Use& use) {
  const double unit_x = polygon.shares ? static_cast<double>(width) : across;
  const double unit_y = polygon.shares ? static_cast<double>(height) : down;
  const auto& corners = polygon.corners;
  std::vector<double> crossings;
  for (std::int64_t y = 0; y < height; ++y) {
    const double middle = static_cast<double>(y) + 0.5;
    crossings.clear();
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const auto& a = corners[i];
      const auto& b = corners[(i + 1) % corners.size()];
      const double ya = a.y * unit_y;
      const double yb = b.y * unit_y;
      if ((ya <= middle) == (yb <= middle)) continue;
      crossings.push_back(unit_x * (a.x + (middle - ya) / (yb - ya) * (b.x - a.x)));
    }
    std::ranges::sort(crossings);
    const auto pixel = [width](double at) {
      return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(at - 0.5)), 0, width);
    };
    for (std::size_t i = 0; i + 1 < crossings.size(); i += 2)
      for (std::int64_t x = pixel(crossings[i]); x < pixel(crossings[i + 1]); ++x)
        use(static_cast<std::size_t>(y * width + x));
  }
}

/// Median ratio of the light at some pixels to what it was before.
template <class Sample>
double light_at(const std::vector<std::size_t>& places, const std::vector<double>& before,
                const Sample* samples) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < places.size(); ++i)
    ratios.push_back((static_cast<double>(samples[places[i]]) + 1) / before[i]);
  return detail::median_in_place(ratios);
}

}  // namespace

void add_mask(AreaOptions& options, const std::string& text) {
  if (const auto polygon = parse_polygon(text)) {
    options.masks.push_back(checked(*polygon, text));
    return;
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(text, error))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("'{}' is neither a polygon nor a file: write {}, or the name of a picture in which "
                    "black is ignored",
                    text, kHow));
  options.mask_pictures.push_back(text);
}

void add_zone(AreaOptions& options, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto polygon = equals == std::string::npos ? std::nullopt : parse_polygon(text.substr(equals + 1));
  if (!polygon || name.empty())
    throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is no zone: write NAME={}", text, kHow));
  if (std::ranges::count(options.zones, name, &AreaOptions::Zone::name) > 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there are two zones '{}': give each zone another name", name));
  if (options.zones.size() == kMaxZones)
    throw Error(ErrorCode::invalid_argument, fmt::format("more than {} zones: leave some out", kMaxZones));
  options.zones.push_back({name, checked(*polygon, text)});
}

std::string to_string(const AreaOptions& options) {
  std::string text;
  const auto put = [&text](const Polygon& polygon) {
    text += polygon.shares ? "shares" : "pixels";
    for (const Polygon::Corner& one : polygon.corners) text += fmt::format(" {},{}", one.x, one.y);
    text += '\n';
  };
  for (const Polygon& mask : options.masks) put(mask);
  for (const std::string& picture : options.mask_pictures) text += fmt::format("picture {}\n", picture);
  for (const AreaOptions::Zone& zone : options.zones) {
    text += fmt::format("zone {} ", zone.name);
    put(zone.polygon);
  }
  return text + (options.only_zones ? "only\n" : "");
}

Areas::Areas(const AreaOptions& options) : options_(options) {
  for (const std::string& path : options.mask_pictures) {
    Frame frame;
    try {
      if (!open_source(path)->next(frame)) throw InputError("it holds no picture");
    } catch (const InputError& error) {
      throw InputError(fmt::format("the mask '{}' is no picture: {}", path, error.what()));
    }
    pictures_.push_back(std::move(frame));
  }
}

void Areas::fit(const Frame& frame) {
  if (first_width_ == 0) {
    first_width_ = frame.width;
    first_height_ = frame.height;
  }
  width_ = frame.width;
  height_ = frame.height;
  const auto points = static_cast<std::size_t>(width_ * height_);
  // Scale from pixels of the first frame.
  const double across = static_cast<double>(width_) / static_cast<double>(first_width_);
  const double down = static_cast<double>(height_) / static_cast<double>(first_height_);
  const auto filled = [&](const Polygon& polygon, std::vector<std::uint8_t>& area) {
    fill(polygon, across, down, width_, height_, [&area](std::size_t i) { area[i] = 1; });
  };
  inside_.assign(options_.zones.size(), std::vector<std::uint8_t>(points, 0));
  for (std::size_t zone = 0; zone < inside_.size(); ++zone)
    filled(options_.zones[zone].polygon, inside_[zone]);
  ignored_.assign(points, options_.only_zones && !options_.zones.empty() ? 1 : 0);
  if (options_.only_zones)
    for (const std::vector<std::uint8_t>& zone : inside_)
      for (std::size_t i = 0; i < points; ++i)
        if (zone[i] != 0) ignored_[i] = 0;
  for (const Polygon& mask : options_.masks) filled(mask, ignored_);
  for (const Frame& picture : pictures_) {
    const std::size_t bytes = picture.bit_depth16 ? 2 : 1;
    for (std::int64_t y = 0; y < height_; ++y) {
      for (std::int64_t x = 0; x < width_; ++x) {
        const std::int64_t from = y * picture.height / height_ * picture.width + x * picture.width / width_;
        // The high byte of a 16-bit sample.
        const auto level =
            std::to_integer<int>(picture.samples[(static_cast<std::size_t>(from) + 1) * bytes - 1]);
        if (level < 128) ignored_[static_cast<std::size_t>(y * width_ + x)] = 1;
      }
    }
  }
  const auto left = static_cast<std::size_t>(std::ranges::count(ignored_, 0));
  if (left == 0)
    throw Error(ErrorCode::invalid_argument,
                "masks and zones leave nothing of the picture: make the masks smaller, or the zones larger");
  anything_ignored_ = left < points;
  // Spread evenly over the other pixels, with a step that seldom fits the width.
  places_.clear();
  before_.clear();
  const std::size_t every = std::max<std::size_t>(1, left / kPlaces);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < points; ++i)
    if (ignored_[i] == 0 && seen++ % every == 0) places_.push_back(i);
}

template <class Sample>
SignalView Areas::without_ignored() {
  auto* const samples = reinterpret_cast<Sample*>(samples_.data());
  if (before_.empty()) {
    double sum = 0;
    for (const std::size_t place : places_) {
      before_.push_back(static_cast<double>(samples[place]) + 1);
      sum += samples[place];
    }
    level_ = sum / static_cast<double>(places_.size());
  }
  const double level = level_ * light_at(places_, before_, samples);
  const auto filled =
      static_cast<Sample>(std::clamp<double>(std::round(level), 0, std::numeric_limits<Sample>::max()));
  for (std::size_t i = 0; i < ignored_.size(); ++i)
    if (ignored_[i] != 0) samples[i] = filled;
  return SignalView::rows(static_cast<const Sample*>(samples), Shape{height_, width_}, width_);
}

SignalView Areas::masked(const Frame& frame) {
  if (options_.empty()) return frame.view();
  if (frame.width != width_ || frame.height != height_) fit(frame);
  if (!anything_ignored_) return frame.view();
  samples_ = frame.samples;
  return frame.bit_depth16 ? without_ignored<std::uint16_t>() : without_ignored<std::uint8_t>();
}

std::uint64_t Areas::zones_at(double x, double y) const {
  return zones_in(x, y, 1, 1);
}

std::uint64_t Areas::zones_in(double x, double y, double width, double height) const {
  const auto clipped = [](double at, std::int64_t max) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(at)), 0, max);
  };
  std::uint64_t zones = 0;
  for (std::size_t zone = 0; zone < inside_.size(); ++zone) {
    for (std::int64_t v = clipped(y, height_ - 1); v < clipped(y + height - 1, height_ - 1) + 1; ++v) {
      for (std::int64_t u = clipped(x, width_ - 1); u < clipped(x + width - 1, width_ - 1) + 1; ++u)
        if (inside_[zone][static_cast<std::size_t>(v * width_ + u)] != 0) zones |= std::uint64_t{1} << zone;
    }
  }
  return zones;
}

std::vector<std::string> Areas::names(std::uint64_t zones) const {
  std::vector<std::string> names;
  for (std::size_t zone = 0; zone < options_.zones.size(); ++zone)
    if ((zones >> zone & 1) != 0) names.push_back(options_.zones[zone].name);
  return names;
}

}  // namespace sfft::video
