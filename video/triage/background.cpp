// SPDX-License-Identifier: Apache-2.0
// Brings kept pictures to the light of the background before it takes medians.
#include "video/triage/background.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/base/math/quantiles.hpp"

namespace sfft::video {

namespace {

constexpr std::int64_t kUsualPictures = 40;
constexpr std::int64_t kRecentPictures = 9;
/// If more than kLargeShare of the points have a spread above kLargeSpread (grey levels), something happens
/// all the time. The spread is then limited to kLargeSpread.
constexpr float kLargeSpread = 8;
constexpr double kLargeShare = 0.25;
/// The quantile of the quick changes that counts as usual, and the factor from it to a standard deviation. Of
/// the differences between two normal values, 70 % are below 1.036 √2 standard deviations.
constexpr double kQuickShare = 0.7;
constexpr float kQuickToSpread = 1 / (1.036F * 1.414F);
constexpr std::size_t kFewestPairs = 16;
/// If the spread of weather is between kSwayFrom and kLargeSpread, something may sway before most of the
/// picture. It is then learned from some kSwayPictures pictures, at least kMinSwayPictures, in kSwayPasses
/// passes. What the components do not explain counts up to kSwayReach times the spread, so that they do not
/// learn what passes. At 2.2 instead of 1.5, four more of 156 people behind drawn webs were missed; at 0.9,
/// nights with switches of light had one more miss and one more false event. Where something covers much of
/// the picture without such weather, lamps and clouds became events.
constexpr float kSwayFrom = 1.5F;
constexpr std::size_t kSwayPictures = 40, kMinSwayPictures = 16;
constexpr int kSwayPasses = 3;
constexpr float kSwayReach = 3;
/// Max. share of a deviation that the components of other pictures may leave, median over pictures. Drawn
/// webs leave up to 0.46; hands that turn a thing before the camera leave 0.63 to 0.84.
constexpr float kMaxUnexplained = 0.55F;
/// The quantile used instead of kQuickShare if components were learned: they explain a sway less well at its
/// extremes.
constexpr double kQuickShareOfSway = 0.9;
/// Weather shows in most parts of the picture. Of kParts by kParts parts, the one at the quantile
/// kWeatherParts counts. The spread is kWeatherToSpread times the largest change there in a typical pair of
/// pictures.
constexpr int kParts = 4;
constexpr double kWeatherParts = 0.25;
constexpr float kWeatherToSpread = 0.5F;
/// Most of the picture has changed if at least kChangedParts of kParts by kParts parts differ by more than
/// kChangedLevels grey levels (root mean square) after gain and offset are removed. It must not look like
/// kStays kept pictures before when kStays more have come, and the light has to last for kMinKept: otherwise
/// what is lit for a moment would be the usual scene. Drawn switches to infrared light change all 16 parts.
constexpr int kChangedParts = 13;
constexpr float kChangedLevels = 4;
constexpr std::int64_t kStays = 3;
constexpr std::int64_t kMinKept = 18;
constexpr std::size_t kMaxJumps = 256;
/// From the median of slow deviations to the spread. They are not normal noise, for which 1.4826 would do: a
/// lamp may be on for half of the time, and its light is not all smooth.
constexpr float kMedianToSpread = 1.5F * 1.4826F;
constexpr float kMaxSlowSpread = 6.5F;  ///< grey levels

float sum_of_sizes(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0F,
                         [](float sum, float value) { return sum + std::abs(value); });
}

/// Selects, for every point i, the value of this rank among value(0, i) … value(count - 1, i).
template <class Value>
void select_ranks(std::size_t count, std::size_t rank, std::span<float> result, const Value& value) {
  constexpr std::size_t kLanes = RankNetwork::kLanes;
  const RankNetwork network(count, rank);
  std::vector<float> rows(count * kLanes);
  for (std::size_t first = 0; first < result.size(); first += kLanes) {
    const std::size_t lanes = std::min(kLanes, result.size() - first);
    for (std::size_t n = 0; n < count; ++n)
      for (std::size_t lane = 0; lane < lanes; ++lane) rows[n * kLanes + lane] = value(n, first + lane);
    const auto selected = network.select(rows);
    std::copy_n(selected.begin(), lanes, result.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

}  // namespace

Background::Background(int width, int height, const BackgroundOptions& options)
    : width_(width),
      height_(height),
      options_(options),
      every_(std::max<std::int64_t>(1, options.recent / kRecentPictures)),
      sparse_(std::max<std::int64_t>(1, options.window / kUsualPictures / every_)),
      light_(width, height) {}

void Background::add(std::int64_t frame, const std::vector<float>& picture) {
  if (frame % every_ != 0) return;
  kept_.push_back({frame, picture});
  for (Jump& jump : jumps_)
    if (!jump.known && frame >= jump.frame + kStays * every_) judge_jump(jump);
  std::erase_if(jumps_, [](const Jump& jump) { return jump.known && !jump.stays; });
  while (jumps_.size() > kMaxJumps) jumps_.pop_front();
}

void Background::add_jump(std::int64_t frame) {
  jumps_.push_back({frame});
}

void Background::judge_jump(Jump& jump) const {
  jump.known = true;
  const auto after = std::ranges::lower_bound(kept_, jump.frame, {}, &Kept::frame);
  // The last pictures before may show a flash.
  const auto before = std::min<std::ptrdiff_t>(kStays, after - kept_.begin());
  jump.stays = before > 0 && other_light((after - before)->picture, kept_.back().picture);
}

bool Background::other_light(std::span<const float> before, std::span<const float> after) const {
  // Most pictures resemble the one before, and need no fit.
  const auto changed_parts = [&](float gain, float offset) {
    int changed = 0;
    for (int part = 0; part < kParts * kParts; ++part) {
      const int top = part / kParts * height_ / kParts;
      const int bottom = (part / kParts + 1) * height_ / kParts;
      const int left = part % kParts * width_ / kParts;
      const int right = (part % kParts + 1) * width_ / kParts;
      float sum = 0;
      for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
          const auto i = static_cast<std::size_t>(y * width_ + x);
          const float off = after[i] - gain * before[i] - offset;
          sum += off * off;
        }
      }
      const auto points = static_cast<float>((bottom - top) * (right - left));
      changed += sum > kChangedLevels * kChangedLevels * points ? 1 : 0;
    }
    return changed;
  };
  if (changed_parts(1, 0) < kChangedParts) return false;
  const Light light = fit_light(after, before, {});
  return changed_parts(static_cast<float>(light.gain), static_cast<float>(light.offset)) >= kChangedParts;
}

/// The light of a frame lasts from one jump to the next. If that is too short, jumps do not count.
Background::Segment Background::segment_of(std::int64_t frame) const {
  Segment found;
  for (const Jump& jump : jumps_) {
    if (!jump.stays) continue;
    if (jump.frame <= frame) {
      found.first = jump.frame;
    } else {
      found.last = jump.frame;
      break;
    }
  }
  const auto count = std::ranges::count_if(kept_, [&](const Kept& one) { return found.has(one.frame); });
  return count < kMinKept ? Segment{} : found;
}

bool Background::restored() {
  const auto points = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  const auto fits = [points](const std::vector<float>& picture) { return picture.size() == points; };
  if (kept_.empty() || overexposed_.size() != points || !fits(usual_) || !fits(recent_) || !fits(spread_) ||
      !sway_.fits(points) || !std::ranges::all_of(kept_, [&](const Kept& one) { return fits(one.picture); }))
    return false;
  light_.set_usual(usual_);
  return true;
}

template <class Level>
std::vector<float> Background::median_of(std::span<const Kept* const> kept, const Level& level) const {
  std::vector<float> gain;
  std::vector<float> offset;
  for (const Kept* one : kept) {
    gain.push_back(static_cast<float>(1 / one->light.gain));
    offset.push_back(static_cast<float>(-one->light.offset / one->light.gain));
  }
  std::vector<float> median(kept.front()->picture.size());
  select_ranks(kept.size(), kept.size() / 2, median, [&](std::size_t n, std::size_t i) {
    const float shown = kept[n]->picture[i];
    return level(i, shown, shown * gain[n] + offset[n]);
  });
  return median;
}

/// Marks the points that are white in at least half of the pictures.
void Background::find_overexposed(std::span<Kept* const> chosen) {
  overexposed_.resize(usual_.size());
  for (std::size_t i = 0; i < usual_.size(); ++i) {
    const auto white =
        std::ranges::count_if(chosen, [i](const Kept* one) { return one->picture[i] >= kWhite; });
    overexposed_[i] = 2 * white >= std::ssize(chosen) ? 1 : 0;
  }
}

void Background::make_usual(std::int64_t frame) {
  const std::int64_t last = kept_.back().frame;
  // The window has the same length everywhere, so it is not centred near the ends of a recording.
  const std::int64_t from =
      std::max<std::int64_t>(0, std::min(frame - options_.window / 2, last - options_.window));
  while (kept_.size() > 1 && kept_.front().frame < from) kept_.pop_front();
  const std::int64_t recent = std::max(frame, segment_.first + options_.recent);
  std::vector<Kept*> wanted;
  std::vector<Kept*> chosen;
  // The light of a shorter time is known from more of its pictures.
  const std::int64_t end = std::min({segment_.last, last, from + options_.window});
  const std::int64_t length = end - std::max(segment_.first, from);
  sparse_ =
      std::max<std::int64_t>(1, (segment_ == Segment{} ? options_.window : length) / kUsualPictures / every_);
  for (Kept& one : kept_) {
    if (one.frame > from + options_.window) break;
    if (!segment_.has(one.frame)) continue;
    const bool sparse = one.frame / every_ % sparse_ == 0;
    if (sparse) chosen.push_back(&one);
    if (sparse || (one.frame > recent - options_.recent && one.frame <= recent)) wanted.push_back(&one);
  }
  if (chosen.empty()) chosen.push_back(&kept_.front());
  if (usual_.empty()) usual_ = chosen[chosen.size() / 2]->picture;
  for (Kept* one : wanted) one->light = fit_light(one->picture, usual_, one->light);
  usual_ = median_of(std::vector<const Kept*>(chosen.begin(), chosen.end()),
                     [](std::size_t, float, float scaled) { return scaled; });
  find_overexposed(chosen);
  light_.set_usual(usual_);
  sway_.clear();
  const float weather = measure_spread(chosen);
  if (weather < kSwayFrom || weather >= kLargeSpread) return;
  learn_sway(chosen.front()->frame, chosen.back()->frame);
  if (!sway_.empty()) measure_spread(chosen);
}

void Background::learn_sway(std::int64_t first, std::int64_t last) {
  const auto begin = std::ranges::find_if(
      kept_, [&](const Kept& one) { return segment_ == Segment{} || one.frame >= first; });
  const auto end = std::ranges::upper_bound(kept_, last, {}, &Kept::frame);
  const auto from = static_cast<std::size_t>(begin - kept_.begin());
  const auto count = static_cast<std::size_t>(end - begin);
  if (count < kMinSwayPictures) return;
  std::vector<std::vector<float>> deviations;
  for (std::size_t n = from; n < from + count; n += (count + kSwayPictures - 1) / kSwayPictures) {
    kept_[n].light = fit_light(kept_[n].picture, usual_, kept_[n].light);
    deviation_of(kept_[n], deviations.emplace_back());
  }
  // What sways has few states, so that the components of every second picture explain the others. Those of a
  // thing that is moved and turned do not.
  std::vector<std::vector<float>> others;
  std::vector<std::vector<float>> every_second;
  for (std::size_t n = 0; n < deviations.size(); ++n)
    (n % 2 == 0 ? every_second : others).push_back(deviations[n]);
  learn_sway(every_second);
  std::vector<float> unexplained;
  for (std::vector<float>& off : others) {
    const float size = sum_of_sizes(off);
    sway_.remove(off);
    unexplained.push_back(sum_of_sizes(off) / std::max(size, 1.0F));
  }
  sway_.clear();
  if (detail::median_in_place(unexplained) <= kMaxUnexplained) learn_sway(deviations);
}

void Background::learn_sway(std::span<const std::vector<float>> deviations) {
  // What the components of the last pass explain counts in full, and only the rest is cut off: what sways may
  // be much stronger than the spread.
  std::vector<std::vector<float>> cut_off(deviations.size());
  for (int pass = 0; pass < kSwayPasses; ++pass) {
    for (std::size_t n = 0; n < deviations.size(); ++n) {
      std::vector<float>& off = cut_off[n];
      off = deviations[n];
      sway_.remove(off);
      for (std::size_t i = 0; i < off.size(); ++i) {
        const float explained = deviations[n][i] - off[i];
        off[i] = explained + std::clamp(off[i], -kSwayReach * spread_[i], kSwayReach * spread_[i]);
      }
    }
    sway_.learn(cut_off);
    if (sway_.empty()) return;
  }
}

/// Computes how a picture differs from the usual one, without what sways.
void Background::deviation_of(const Kept& one, std::vector<float>& deviation) const {
  const auto gain = static_cast<float>(1 / one.light.gain);
  const auto offset = static_cast<float>(-one.light.offset / one.light.gain);
  deviation.resize(usual_.size());
  for (std::size_t i = 0; i < usual_.size(); ++i) {
    const float shown = one.picture[i];
    deviation[i] =
        within_limits(shown * gain + offset, shown >= kWhite, usual_[i], overexposed_[i] != 0) - usual_[i];
  }
  sway_.remove(deviation);
}

void Background::remove_light(std::span<Kept* const> from) {
  std::vector<float> first;
  std::vector<float> second;
  for (std::size_t n = 0; n < from.size(); n += 2) {
    Kept& one = *from[n];
    Kept& other = *from[std::min(n + 1, from.size() - 1)];
    deviation_of(one, first);
    deviation_of(other, second);
    light_.remove(first, second, one.left, other.left);
  }
}

/// The root mean square change of the tile of 3 by 3 points that changes most in a part of the picture: the
/// median over pairs, then the quantile kWeatherParts over the parts.
float Background::weather_of(std::span<const Pair> pairs) const {
  std::vector<std::vector<float>> max(kParts * kParts);
  std::vector<float> squares(usual_.size());
  std::vector<float> columns(static_cast<std::size_t>(width_));
  std::vector<int> part_of;
  for (int x = 0; x < width_; ++x) part_of.push_back(x * kParts / width_);
  for (const auto& [before, after] : pairs) {
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const float off = after->left[i] - before->left[i];
      squares[i] = off * off;
    }
    float here[kParts * kParts] = {};
    for (int y = 1; y + 1 < height_; ++y) {
      const float* const row = squares.data() + y * width_;
      for (int x = 0; x < width_; ++x)
        columns[static_cast<std::size_t>(x)] = row[x - width_] + row[x] + row[x + width_];
      float* const parts = here + y * kParts / height_ * kParts;
      for (int x = 1; x + 1 < width_; ++x) {
        const float* const middle = columns.data() + x;
        float& largest = parts[part_of[static_cast<std::size_t>(x)]];
        largest = std::max(largest, middle[-1] + middle[0] + middle[1]);
      }
    }
    for (std::size_t part = 0; part < max.size(); ++part) max[part].push_back(here[part]);
  }
  if (pairs.empty()) return 0;
  std::vector<float> usual;
  for (std::vector<float>& values : max) usual.push_back(detail::median_in_place(values));
  const auto at =
      usual.begin() + static_cast<std::ptrdiff_t>(kWeatherParts * static_cast<double>(usual.size()));
  std::ranges::nth_element(usual, at);
  return std::sqrt(*at / 9);
}

/// Rain, flags and flicker show within a second, so quick changes without smooth light count in full. Slow
/// deviations count up to kMaxSlowSpread: codecs drift slowly, but what comes and stays must not be
/// overlooked.
float Background::measure_spread(std::span<Kept* const> chosen) {
  for (Kept& one : kept_) one.left.clear();
  std::vector<Kept*> looked_at;
  const auto look_at = [&](Kept& one) {
    if (one.left.empty()) looked_at.push_back(&one);
    one.left.resize(usual_.size());
    return &one;
  };
  for (Kept* one : chosen) look_at(*one);
  std::vector<Pair> fast;
  for (std::size_t i = 1; i < kept_.size(); ++i) {
    if (kept_[i].frame / every_ % sparse_ != 0 || kept_[i].frame > chosen.back()->frame) continue;
    if (!segment_.has(kept_[i].frame)) continue;
    for (const std::size_t apart : {std::size_t{1}, std::size_t{3}}) {
      if (i < apart || !segment_.has(kept_[i - apart].frame)) continue;
      Kept& other = kept_[i - apart];
      if (other.left.empty()) other.light = fit_light(other.picture, usual_, other.light);
      fast.push_back({look_at(other), look_at(kept_[i])});
    }
  }
  remove_light(looked_at);
  std::vector<float> deviation(usual_.size());
  select_ranks(chosen.size(), (chosen.size() - 1) / 2, deviation,
               [&](std::size_t n, std::size_t i) { return std::abs(chosen[n]->left[i]); });
  for (float& value : deviation) value = std::min(kMedianToSpread * value, kMaxSlowSpread);
  if (fast.size() >= kFewestPairs) {
    std::vector<float> quick(usual_.size());
    const auto rank = static_cast<std::size_t>((sway_.empty() ? kQuickShare : kQuickShareOfSway) *
                                               static_cast<double>(fast.size() - 1));
    select_ranks(fast.size(), rank, quick, [&](std::size_t n, std::size_t i) {
      return std::abs(fast[n].after->left[i] - fast[n].before->left[i]);
    });
    for (std::size_t i = 0; i < deviation.size(); ++i)
      deviation[i] = std::max(deviation[i], kQuickToSpread * quick[i]);
  }
  // What moves at a point eventually reaches its neighbours.
  spread_.assign(usual_.size(), kMinSpread);
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      float& max = spread_[static_cast<std::size_t>(y * width_ + x)];
      for (int v = std::max(0, y - 1); v <= std::min(height_ - 1, y + 1); ++v)
        for (int u = std::max(0, x - 1); u <= std::min(width_ - 1, x + 1); ++u)
          max = std::max(max, deviation[static_cast<std::size_t>(v * width_ + u)]);
    }
  }
  const float weather = kWeatherToSpread * weather_of(fast);
  for (float& max : spread_) max = std::max(max, std::min(kLargeSpread, weather));
  // Usual changes are either small, such as rain, or local, such as a flag.
  const auto large = std::ranges::count_if(spread_, [](float max) { return max > kLargeSpread; });
  if (static_cast<double>(large) > kLargeShare * static_cast<double>(spread_.size()))
    for (float& max : spread_) max = std::min(max, kLargeSpread);
  return weather;
}

void Background::make_recent(std::int64_t frame) {
  std::vector<const Kept*> chosen;
  // At the beginning of a recording, the first pictures take the place of the recent ones.
  const std::int64_t last = std::max(frame, segment_.first + options_.recent);
  for (const Kept& one : kept_) {
    if (one.frame > last) break;
    if (one.frame > last - options_.recent && segment_.has(one.frame)) chosen.push_back(&one);
  }
  if (chosen.size() < static_cast<std::size_t>(kRecentPictures / 2)) {
    recent_ = usual_;
  } else if (!sway_.empty()) {
    std::vector<std::vector<float>> deviations(chosen.size());
    for (std::size_t n = 0; n < chosen.size(); ++n) deviation_of(*chosen[n], deviations[n]);
    recent_.resize(usual_.size());
    select_ranks(chosen.size(), chosen.size() / 2, recent_,
                 [&](std::size_t n, std::size_t i) { return usual_[i] + deviations[n][i]; });
  } else {
    recent_ = median_of(chosen, [this](std::size_t i, float shown, float scaled) {
      return within_limits(scaled, shown >= kWhite, usual_[i], overexposed_[i] != 0);
    });
  }
}

void Background::move_to(std::int64_t frame) {
  if (kept_.empty()) return;
  const Segment segment = segment_of(frame);
  const bool changes = segment != segment_;
  segment_ = segment;
  if (changes) usual_.clear();
  if (frame >= next_usual_ || changes) {
    make_usual(frame);
    next_usual_ = frame + std::max<std::int64_t>(1, options_.window / 12);
    next_recent_ = frame;
  }
  if (frame < next_recent_) return;
  for (Kept& one : kept_) {  // pictures that came since the last update
    if (one.frame > frame) break;
    if (one.frame > frame - every_) one.light = fit_light(one.picture, usual_, one.light);
  }
  make_recent(frame);
  next_recent_ = frame + every_;
}

}  // namespace sfft::video
