// SPDX-License-Identifier: Apache-2.0
// Kept pictures are brought to the light of the background before medians are taken.
#include "video/triage/background.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::video {

namespace {

constexpr std::int64_t kUsualPictures = 40;
constexpr std::int64_t kRecentPictures = 9;
/// Where more than this share of the picture changes by more than these grey levels all the time, something
/// happens all the time.
constexpr float kLargeSpread = 12;
constexpr double kLargeShare = 0.25;

}  // namespace

Background::Background(int width, int height, const BackgroundOptions& options)
    : width_(width),
      height_(height),
      options_(options),
      every_(std::max<std::int64_t>(1, options.recent / kRecentPictures)),
      sparse_(std::max<std::int64_t>(1, options.window / kUsualPictures / every_)) {}

void Background::add(std::int64_t frame, const std::vector<float>& picture) {
  if (!kept_.empty() && frame <= kept_.back().frame) return;
  if (frame % every_ == 0) kept_.push_back({frame, picture});
}

bool Background::consistent() const noexcept {
  const auto points = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  const auto fits = [points](const std::vector<float>& picture) { return picture.size() == points; };
  return !kept_.empty() && fits(usual_) && fits(recent_) && fits(spread_) &&
         std::ranges::all_of(kept_, [&](const Kept& one) { return fits(one.picture); });
}

void Background::median_of(std::span<const Kept* const> kept, std::vector<float>& median) const {
  std::vector<float> values(kept.size());
  std::vector<float> gain;
  std::vector<float> offset;
  for (const Kept* one : kept) {
    gain.push_back(static_cast<float>(1 / one->light.gain));
    offset.push_back(static_cast<float>(-one->light.offset / one->light.gain));
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  median.resize(kept.front()->picture.size());
  for (std::size_t i = 0; i < median.size(); ++i) {
    for (std::size_t n = 0; n < kept.size(); ++n) values[n] = kept[n]->picture[i] * gain[n] + offset[n];
    std::ranges::nth_element(values, middle);
    median[i] = *middle;
  }
}

void Background::make_usual(std::int64_t frame) {
  const std::int64_t last = kept_.back().frame;
  // The same length everywhere: at its ends a recording has one side only.
  const std::int64_t from =
      std::max<std::int64_t>(0, std::min(frame - options_.window / 2, last - options_.window));
  while (kept_.size() > 1 && kept_.front().frame < from) kept_.pop_front();
  const std::int64_t recent = std::max(frame, options_.recent);
  std::vector<Kept*> wanted;
  std::vector<const Kept*> chosen;
  for (Kept& one : kept_) {
    if (one.frame > from + options_.window) break;
    const bool sparse = one.frame / every_ % sparse_ == 0;
    if (sparse) chosen.push_back(&one);
    if (sparse || (one.frame > recent - options_.recent && one.frame <= recent)) wanted.push_back(&one);
  }
  if (chosen.empty()) chosen.push_back(&kept_.front());
  if (usual_.empty()) usual_ = chosen[chosen.size() / 2]->picture;
  for (Kept* one : wanted) one->light = fit_light(one->picture, usual_, one->light);
  std::vector<float> median;
  median_of(chosen, median);
  usual_ = median;

  std::vector<float> gain;
  std::vector<float> offset;
  for (const Kept* one : chosen) {
    gain.push_back(static_cast<float>(1 / one->light.gain));
    offset.push_back(static_cast<float>(-one->light.offset / one->light.gain));
  }
  std::vector<float> values(chosen.size());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::vector<float> deviation(usual_.size());
  for (std::size_t i = 0; i < deviation.size(); ++i) {
    for (std::size_t n = 0; n < chosen.size(); ++n)
      values[n] = std::abs(chosen[n]->picture[i] * gain[n] + offset[n] - usual_[i]);
    std::ranges::nth_element(values, middle);
    deviation[i] = 1.4826F * *middle;
  }
  // What moves at a point reaches its neighbours some day.
  spread_.assign(usual_.size(), kLeastSpread);
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      float& most = spread_[static_cast<std::size_t>(y * width_ + x)];
      for (int v = std::max(0, y - 1); v <= std::min(height_ - 1, y + 1); ++v)
        for (int u = std::max(0, x - 1); u <= std::min(width_ - 1, x + 1); ++u)
          most = std::max(most, deviation[static_cast<std::size_t>(v * width_ + u)]);
    }
  }
  // What is usual is small, as rain, or local, as a flag.
  const auto large = std::ranges::count_if(spread_, [](float most) { return most > kLargeSpread; });
  if (static_cast<double>(large) > kLargeShare * static_cast<double>(spread_.size()))
    for (float& most : spread_) most = std::min(most, kLargeSpread);
}

void Background::make_recent(std::int64_t frame) {
  std::vector<const Kept*> chosen;
  // At the beginning of a recording, what comes first.
  const std::int64_t last = std::max(frame, options_.recent);
  for (const Kept& one : kept_) {
    if (one.frame > last) break;
    if (one.frame > last - options_.recent) chosen.push_back(&one);
  }
  if (chosen.size() < static_cast<std::size_t>(kRecentPictures / 2)) {
    recent_ = usual_;
  } else {
    median_of(chosen, recent_);
  }
}

void Background::move_to(std::int64_t frame) {
  if (kept_.empty()) return;
  if (frame >= next_usual_) {
    make_usual(frame);
    next_usual_ = frame + std::max<std::int64_t>(1, options_.window / 12);
    next_recent_ = frame;
  }
  if (frame < next_recent_) return;
  for (Kept& one : kept_) {  // those that came since the background was made
    if (one.frame > frame) break;
    if (one.frame > frame - every_) one.light = fit_light(one.picture, usual_, one.light);
  }
  make_recent(frame);
  next_recent_ = frame + every_;
}

}  // namespace sfft::video
