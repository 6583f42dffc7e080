// SPDX-License-Identifier: Apache-2.0
// Brings a frame to the light of the background and averages it with the few frames before it. The change of
// a frame is that of the tile that differs most.
#include "video/triage/change_meter.hpp"

#include <algorithm>
#include <cmath>

#include "sfft/error.hpp"
#include "video/events/pace.hpp"

namespace sfft::video {

namespace {

constexpr std::int64_t kMinWindow = 120, kMaxWindow = 1600;  ///< frames
/// Where something sways, more than kSwayOff times the spread at the quantile kSwayPoints of the points is
/// more than usual. With 1 instead of 0.5, drawn webs in gusts brought 10 false events instead of 4. The
/// spread grows up to kMaxWiden times, so that a thing that covers much of the picture is not part of the
/// sway.
constexpr float kSwayOff = 0.5F, kMaxWiden = 3;
constexpr double kSwayPoints = 0.8;
constexpr std::int64_t kMaxAround = 128;  ///< max. frames on each side that a search for switched light uses

/// Replaces the first row and column by their neighbours. A small picture is periodic, and they lie on the
/// border: half of what they show belongs to the opposite border. In their neighbours that share is a 25th.
void copy_to_border(std::vector<float>& picture, int width) {
  std::copy_n(picture.begin() + width, width, picture.begin());
  for (auto row = picture.begin(); row != picture.end(); row += width) row[0] = row[1];
}

}  // namespace

ChangeMeter::ChangeMeter(const ChangeOptions& options, double fps) : options_(options) {
  const double rate = fps > 0 ? fps : kUnknownRate;
  lengths_.window = std::clamp(static_cast<std::int64_t>(options.window_s * rate), kMinWindow, kMaxWindow);
  lengths_.recent =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(options.settle_s * rate), 9, lengths_.window / 6);
  lengths_.interval_s = 1 / rate;
  lengths_.around = std::min(
      kMaxAround, lengths_.recent / 2 + static_cast<std::int64_t>(2 * options.thresholds.switched_s * rate));
  // Rain and sensor noise differ from frame to frame, but objects stay for some frames.
  lengths_.smoothing = static_cast<float>(2 / (std::clamp(options.thresholds.change_s * rate, 1.0, 8.0) + 1));
}

ChangeMeter::~ChangeMeter() = default;

void ChangeMeter::begin(const SignalView& first) {
  view_.emplace(first, options_.k, options_.max_samples);
  background_.emplace(view_->width(), view_->height(), BackgroundOptions{lengths_.window, lengths_.recent});
  search_.emplace(view_->width(), view_->height());
  moments_.emplace(view_->width());
  brief_.emplace(view_->width(), view_->height());
  path_.emplace(view_->width(), view_->height(), 1 / lengths_.interval_s);
  // With frames further apart than half of the time that a light takes, objects appear just as suddenly.
  if (lengths_.interval_s <= 0.5 * options_.thresholds.switched_s)
    switched_.emplace(frames_in(options_.thresholds.switched_s, lengths_.interval_s), kWhite);
}

std::optional<Change> ChangeMeter::next_unknown() const {
  if (frames_ < lengths_.window || pending_.empty()) return std::nullopt;
  return Change{pending_.front().frame, pending_.front().seconds};
}

void ChangeMeter::save(ByteWriter& bytes) {
  bytes(light_, smooth_, averaged_, average_, past_, *background_, *path_);
}

void ChangeMeter::resume(const SignalView& first, std::int64_t next, ByteReader& bytes) {
  begin(first);
  bytes(light_, smooth_, averaged_, average_, past_, *background_, *path_);
  const bool fits =
      std::ranges::all_of(past_, [&](const Pending& one) { return one.picture.size() == view_->points(); });
  if (!background_->restored() || smooth_.size() != view_->points() || average_.size() != view_->points() ||
      !fits)
    throw Error(ErrorCode::file_corrupt, "the state of a file is of pictures of another size");
  frames_ = next;
}

/// The background consists of pictures that are averaged like the one that is compared with it, so that its
/// spread is that of averages.
void ChangeMeter::take_in(const std::vector<float>& picture) {
  if (frames_ < averaged_) return;
  if (!pending_.empty() && background_->other_light(pending_.back().picture, picture))
    background_->add_jump(averaged_);
  average_.resize(picture.size());
  for (std::size_t i = 0; i < picture.size(); ++i)
    average_[i] += (averaged_ == 0 ? 1 : lengths_.smoothing) * (picture[i] - average_[i]);
  background_->add(averaged_++, average_);
}

void ChangeMeter::push(const SignalView& frame, double seconds, std::vector<Change>& out) {
  if (!view_) begin(frame);
  std::vector<float> picture;
  if (!spare_.empty()) {
    picture = std::move(spare_.back());
    spare_.pop_back();
  }
  view_->read(frame, picture);
  copy_to_border(picture, view_->width());
  take_in(picture);
  pending_.push_back({frames_++, seconds, std::move(picture)});
  // The first background needs a whole window.
  if (frames_ < lengths_.window) return;
  while (static_cast<std::int64_t>(pending_.size()) > lengths_.window / 2) measure(out);
}

void ChangeMeter::finish(std::vector<Change>& out) {
  while (!pending_.empty()) measure(out);
}

/// Collects the pictures before and after the next one, in the same light.
std::size_t ChangeMeter::look_around() {
  const Background::Segment& segment = background_->segment();
  std::vector<Moments::Moment> moments;
  double last = past_.empty() ? pending_.front().seconds : past_.front().seconds;
  const auto add = [&](const Pending& one) {
    if (!segment.has(one.frame)) return;
    moments.push_back({one.picture, one.seconds, one.seconds - last > 2.5 * lengths_.interval_s});
    last = one.seconds;
  };
  for (const Pending& one : past_) add(one);
  const std::size_t before = moments.size();
  const auto after = std::min<std::ptrdiff_t>(lengths_.around, std::ssize(pending_));
  std::for_each(pending_.begin(), pending_.begin() + after, add);
  moments_->take(std::move(moments));
  return before;
}

/// At the extremes of a sway, the fit leaves larger residuals in many parts of the picture at once.
void ChangeMeter::widen_spread() {
  std::vector<float> off(spread_.size());
  for (std::size_t i = 0; i < off.size(); ++i)
    off[i] = std::min(std::abs(deviation_[i]), std::abs(recent_deviation_[i])) / spread_[i];
  const auto at = off.begin() + static_cast<std::ptrdiff_t>(kSwayPoints * static_cast<double>(off.size()));
  std::ranges::nth_element(off, at);
  const float factor = std::clamp(*at / kSwayOff, 1.0F, kMaxWiden);
  for (float& one : spread_) one *= factor;
}

void ChangeMeter::measure(std::vector<Change>& out) {
  Pending& next = pending_.front();
  background_->move_to(next.frame);
  const std::span<const float> usual = background_->usual();
  const std::span<const float> recent = background_->recent();
  const std::span<const float> spread = background_->spread();
  const bool first = smooth_.empty() || background_->segment().first == next.frame;
  light_ = fit_light(next.picture, usual, first ? Light{} : light_);
  const auto gain = static_cast<float>(1 / light_.gain);
  const auto offset = static_cast<float>(-light_.offset / light_.gain);
  smooth_.resize(usual.size());
  deviation_.resize(usual.size());
  recent_deviation_.resize(usual.size());
  spread_.resize(usual.size());
  const float min = Background::kMinSpread * std::max(1.0F, gain);
  for (std::size_t i = 0; i < usual.size(); ++i) {
    const float shown = next.picture[i];
    const float level =
        within_limits(shown * gain + offset, shown >= kWhite, usual[i], background_->overexposed()[i] != 0);
    smooth_[i] = first ? level : smooth_[i] + lengths_.smoothing * (level - smooth_[i]);
    deviation_[i] = smooth_[i] - usual[i];
    // In faint light, codecs and rounding destroy more of the contrast.
    spread_[i] = std::max(spread[i], min);
  }
  background_->sway().remove(deviation_);
  for (std::size_t i = 0; i < usual.size(); ++i)
    recent_deviation_[i] = deviation_[i] - (recent[i] - usual[i]);
  if (!background_->sway().empty()) widen_spread();
  const std::size_t before = look_around();
  brief_->begin(*moments_, before, light_, recent, spread_);
  const ChangedTile tile =
      search_->find(deviation_, recent_deviation_, usual, spread_, kWhite * gain + offset,
                    {&*moments_, switched_ ? &*switched_ : nullptr, &*brief_});
  out.push_back({next.frame, next.seconds, tile.score, view_->frame_x(tile.x), view_->frame_y(tile.y),
                 path_->add(next.seconds, tile.score, tile.x, tile.y)});
  past_.push_back(std::move(next));
  pending_.pop_front();
  if (std::ssize(past_) > lengths_.around) {
    spare_.push_back(std::move(past_.front().picture));
    past_.pop_front();
  }
}

}  // namespace sfft::video
