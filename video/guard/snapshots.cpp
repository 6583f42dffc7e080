// SPDX-License-Identifier: Apache-2.0
// Keeps two pictures per second, up to kHeld seconds and kMaxBytes.
#include "video/guard/snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/runtime/output_file.hpp"
#include "video/report/page_parts.hpp"

namespace sfft::video {

namespace {
constexpr double kInterval = 0.5, kHeld = 30;  // seconds
constexpr std::size_t kMaxBytes = std::size_t{32} << 20;
}  // namespace

Snapshots::Snapshots(std::string prefix, std::function<void(const std::string&)> may_write)
    : prefix_(std::move(prefix)), may_write_(std::move(may_write)) {}

void Snapshots::take(const Frame& frame, double seconds) {
  if (!pictures_.empty() && seconds < pictures_.back().seconds + kInterval) return;
  pictures_.push_back({seconds, grey_image(frame)});
  bytes_ += pictures_.back().image.samples.size();
  while (pictures_.size() > 1 && (bytes_ > kMaxBytes || pictures_.front().seconds < seconds - kHeld)) {
    bytes_ -= pictures_.front().image.samples.size();
    pictures_.pop_front();
  }
}

std::string Snapshots::write(const Event& event) {
  if (pictures_.empty()) return "";
  auto shown = std::ranges::find_if(
      pictures_, [&](const Picture& picture) { return picture.seconds >= event.start_s - 1e-6; });
  if (shown == pictures_.end()) --shown;
  const std::string path = fmt::format("{}-{:04}-{}.png", prefix_, event.id, to_string(event.kind));
  try {
    if (may_write_) may_write_(path);
    detail::write_whole(path, encode_png(shown->image));
    return path;
  } catch (const std::runtime_error& error) {
    if (problem_.empty()) problem_ = error.what();
  }
  return "";
}

}  // namespace sfft::video
