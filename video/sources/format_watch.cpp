// SPDX-License-Identifier: Apache-2.0
// A change of picture size or luma depth begins a new segment; other changes are only noted.
#include "video/sources/format_watch.hpp"

#include <fmt/format.h>

#include <cmath>

namespace sfft::video {

namespace {

/// Rates are estimates; smaller differences are ignored.
constexpr double kSameRate = 0.02;
constexpr std::size_t kMaxChanges = 1000;

bool same_rate(double one, double other) {
  return !(one > 0) || !(other > 0) || std::fabs(one - other) <= kSameRate * one;
}

}  // namespace

std::string to_string(const PictureFormat& format) {
  std::string text = fmt::format("{}x{} {}", format.width, format.height, format.pixels);
  if (format.fps > 0) text += fmt::format(", {:.4g} fps", format.fps);
  return text;
}

void FormatWatch::note(const PictureFormat& format, std::int64_t number, Frame& frame) {
  if (!begun_) now_ = format;
  begun_ = true;
  const bool same_picture =
      format.width == now_.width && format.height == now_.height && format.bits == now_.bits;
  if (!same_picture) ++segment_;
  frame.segment = segment_;
  if (same_picture && format.pixels == now_.pixels && same_rate(now_.fps, format.fps)) return;
  ++count_;
  if (changes_.size() == kMaxChanges) changes_.erase(changes_.begin());
  changes_.push_back({number, frame.seconds, now_, format});
  now_ = format;
}

void FormatWatch::warn(std::vector<std::string>& warnings) const {
  if (changes_.empty()) return;
  const FormatChange& last = changes_.back();
  std::string text = fmt::format("The pictures change from {} to {} at frame {}", to_string(last.before),
                                 to_string(last.after), last.frame);
  text += count_ > 1 ? fmt::format(", the last of {} changes.", count_) : ".";
  warnings.push_back(std::move(text));
}

}  // namespace sfft::video
