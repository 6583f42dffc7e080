// SPDX-License-Identifier: Apache-2.0
// Sums the differences of sampled rows over tiles. The same rows are read for RowStatistics.
#include "video/guard/activity.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>

namespace sfft::video {

namespace {

/// A tile is still if its activity is below this share of its usual minimum.
constexpr float kStill = 0.25F;
/// Factor per frame by which the remembered minimum of the activity grows.
constexpr float kForget = 1.001F;
/// Minimum usual activity whose loss can be noticed; activity above which a tile shows noise; share of the
/// frames in which a lively tile shows noise.
constexpr float kNoise = 0.01F;
constexpr float kSome = 0.01F;
constexpr double kNoiseFrames = 0.75;
/// Number of tiles that have to have noise, and the share of them that has to be still: the others may show a
/// clock.
constexpr std::size_t kNoisy = kTiles / 2;
constexpr double kMax = 0.75;
/// Minimum share of frames with noise in at least kNoisy tiles.
constexpr double kBusy = 0.3;
/// Number of tiles that a clock or a caption may cover; a key frame renews more than kWhole tiles.
constexpr std::size_t kOverlay = kTiles / 4;
constexpr std::size_t kWhole = 3 * kTiles / 4;
/// Minimum number of frames between key frames.
constexpr std::int64_t kApart = 8;
/// A tile with more activity than this has changed in at least one value.
constexpr float kAny = 1e-9F;
/// A quiet run of kLonger times the longest usual one is too long. The longest usual one decays by kForgetRun
/// per frame.
constexpr double kLonger = 2;
constexpr double kForgetRun = 0.99998;
/// Number of frames of a window that do not count, those with the most activity: a key frame encodes a still
/// picture again.
constexpr std::size_t kKeyFrames = 2;
/// Minimum lengths of a window in which two such frames, or one, are left out.
constexpr std::int64_t kLongWindow = 13;
constexpr std::int64_t kShortWindow = 5;
/// Quiet runs of a padded stream differ by at most this factor and last at least kPadded frames.
constexpr double kRegular = 1.5;
constexpr double kPadded = 3;
/// Added to each activity before its logarithm is taken: one pixel in 300 has changed by a grey level. A
/// level is the mean over kLevelFrames frames.
constexpr double kHardlyAny = 0.003;
constexpr std::int64_t kLevelFrames = 8;

struct Sums {
  std::int64_t count = 0, sum = 0, squares = 0;
  double variance() const noexcept {
    const double n = std::max(1.0, static_cast<double>(count));
    const double mean = static_cast<double>(sum) / n;
    return std::max(0.0, static_cast<double>(squares) / n - mean * mean);
  }
};

template <class T>
void add_changes(const T* now, const std::uint16_t* before, std::int64_t length, Sums& sums) {
  // Squares of 8-bit differences fit into 32 bits for a run of 33,000 pixels. Vectors have twice as many
  // 32-bit lanes.
  using Wide = std::conditional_t<sizeof(T) == 1, std::int32_t, std::int64_t>;
  std::int32_t sum = 0;
  Wide squares = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const int change = static_cast<int>(now[i]) - static_cast<int>(before[i]);
    sum += change;
    squares += static_cast<Wide>(change) * static_cast<Wide>(change);
  }
  sums.count += length;
  sums.sum += sum;
  sums.squares += squares;
}

}  // namespace

TileActivity ActivityMeter::next(const SignalView& frame) {
  std::array<Sums, kTiles> sums{};
  const bool first = rows_.empty();
  const auto look = [&](const auto* pixels) {
    std::size_t at = 0;
    each_run(frame.shape()[0], frame.shape()[1],
             [&](std::size_t tile, std::int64_t row, std::int64_t left, std::int64_t length) {
               const auto* run = pixels + row * frame.stride(0) + left;
               if (first) {
                 rows_.insert(rows_.end(), run, run + length);
                 return;
               }
               add_changes(run, rows_.data() + at, length, sums[tile]);
               std::copy_n(run, length, rows_.begin() + static_cast<std::ptrdiff_t>(at));
               at += static_cast<std::size_t>(length);
             });
  };
  if (frame.type() == ElementType::u16) {
    look(static_cast<const std::uint16_t*>(frame.data()));
  } else {
    look(static_cast<const std::uint8_t*>(frame.data()));
  }
  TileActivity activity{};
  for (std::size_t t = 0; t < activity.size(); ++t)
    activity[t] = static_cast<float>(sums[t].variance() / (unit_ * unit_));
  return activity;
}

float Stillness::mean(std::size_t tile, std::int64_t from, std::int64_t count) const noexcept {
  float sum = 0;
  std::array<float, kKeyFrames> max{};
  for (std::int64_t i = from + 1; i <= from + count; ++i) {
    float value = latest_[static_cast<std::size_t>((frames_ - i) % kKept)][tile];
    sum += value;
    for (float& large : max) {
      if (value > large) std::swap(value, large);
    }
  }
  const std::size_t left_out = count >= kLongWindow ? kKeyFrames : count >= kShortWindow ? 1 : 0;
  for (std::size_t i = 0; i < left_out; ++i) sum -= max[i];
  return std::max(0.0F, sum) / static_cast<float>(count - static_cast<std::int64_t>(left_out));
}

void QuietRun::note(const Tiles& changed, std::int64_t frame) noexcept {
  for (std::size_t t = 0; t < kTiles; ++t) {
    if (changed[t]) latest_[t] = frame;
  }
}

void QuietRun::add(const TileActivity& activity) {
  ++frames_;
  Tiles changed;
  for (std::size_t t = 0; t < kTiles; ++t) changed[t] = activity[t] > kAny;
  const bool whole = changed.count() > kWhole;
  if (anew_.any()) {
    const bool alone = !whole && frames_ - 1 - key_ >= kApart;
    if (alone) {
      key_ = frames_ - 1;
    } else {
      note(anew_, frames_ - 1);
    }
  }
  anew_ = whole && !whole_ ? changed : Tiles{};
  if (anew_.none()) note(changed, frames_);
  whole_ = whole;
}

std::int64_t QuietRun::frames() const noexcept {
  auto latest = latest_;
  std::ranges::nth_element(latest, latest.begin() + kOverlay, std::greater<>{});
  return frames_ - latest[kOverlay];
}

void Stillness::add(const TileActivity& activity) {
  const auto place = static_cast<std::size_t>(frames_ % kKept);
  latest_[place] = activity;
  levels_[place] = 0;
  for (const float tile : activity) levels_[place] += std::log(tile + kHardlyAny) / kTiles;
  ++frames_;
  std::bitset<kTiles> noisy;
  for (std::size_t t = 0; t < kTiles; ++t) noisy[t] = activity[t] > kSome;
  const bool repeats = std::ranges::all_of(activity, [](float tile) { return !(tile > kAny); });
  if (!held_) busy_ += ((noisy.count() >= kNoisy ? 1 : 0) - busy_) / kKept;
  if (!repeats) noisy_[distinct_++ % noisy_.size()] = noisy;
  add_run(activity);
  since_held_ = held_ ? 0 : since_held_ + 1;
  if (since_held_ < 2 * window_ || frames_ < 2 * window_) return;
  // The present window is compared with what is usual, so only the window before it is learned.
  for (std::size_t t = 0; t < usual_.size(); ++t) {
    const float before = mean(t, window_, window_);
    usual_[t] = windows_ == 0 ? before : std::min(kForget * usual_[t], before);
  }
  ++windows_;
}

void Stillness::add_run(const TileActivity& activity) {
  const auto before = static_cast<double>(run_.frames());
  run_.add(activity);
  const auto now = static_cast<double>(run_.frames());
  usual_run_ *= kForgetRun;
  if (frames_ <= known()) usual_run_ = std::max(usual_run_, now);
  if (!(now < before)) return;
  // Something happens again, so pauses of this length are usual.
  usual_run_ = std::max(usual_run_, std::min(before, min_run()));
  if (before >= kPadded) runs_[ended_runs_++ % kRuns] = before;
}

bool Stillness::regular() const noexcept {
  if (ended_runs_ < kRuns) return false;
  const auto [min, max] = std::ranges::minmax(runs_);
  return max < kRegular * min && usual_run_ < kRegular * max;
}

double Stillness::min_run() const noexcept {
  return std::max(static_cast<double>(window_), kLonger * usual_run_);
}

double Stillness::strength() const noexcept {
  // In a scene where nothing ever happens, a quiet run means nothing.
  const bool eventful = frames_ >= known() && (usual_run_ <= static_cast<double>(window_) || regular());
  return std::max(lost_noise(), eventful ? static_cast<double>(run_.frames()) / min_run() : 0);
}

std::vector<double> Stillness::levels(std::int64_t frames) const {
  std::vector<double> latest;
  for (std::int64_t i = std::min({frames, frames_ - 1, kKept}); i > 0; --i)
    latest.push_back(levels_[static_cast<std::size_t>((frames_ - i) % kKept)]);
  std::vector<double> medians = latest;
  for (std::size_t i = 1; i + 1 < latest.size(); ++i) {
    const auto [min, max] = std::minmax(latest[i - 1], latest[i + 1]);
    medians[i] = std::clamp(latest[i], min, max);
  }
  return medians;
}

double Stillness::level() const {
  const std::vector<double> latest = levels(kLevelFrames + 1);
  double sum = 0;
  for (std::size_t i = 1; i < latest.size(); ++i) sum += latest[i];
  return sum / static_cast<double>(kLevelFrames);
}

ActivityStep Stillness::step(std::int64_t frames) const {
  const std::vector<double> latest = levels(frames);
  const double total = std::accumulate(latest.begin(), latest.end(), 0.0);
  const auto count = static_cast<double>(latest.size());
  ActivityStep best;
  double max = -1;
  double sum = 0;
  for (std::size_t i = 1; i < latest.size(); ++i) {
    sum += latest[i - 1];
    const auto first = static_cast<double>(i);
    const double before = sum / first;
    const double after = (total - sum) / (count - first);
    const double explained = first * (count - first) * (before - after) * (before - after);
    if (explained <= max) continue;
    max = explained;
    best = {static_cast<std::int64_t>(latest.size() - i), before, after};
  }
  return best;
}

double Stillness::lost_noise() const noexcept {
  // In a stream that was padded to a higher rate, only every few frames show noise.
  if (frames_ < guessed() || busy_ < kBusy) return 0;
  // The minimum over a few windows is not yet the minimum over many.
  const double sure =
      std::min(1.0, static_cast<double>(windows_ + window_) / static_cast<double>(known() - window_));
  std::array<double, kTiles> ratios{};
  std::size_t noisy = 0;
  for (std::size_t t = 0; t < usual_.size(); ++t) {
    if (usual_[t] < kNoise) continue;
    ratios[noisy++] = kStill * usual_[t] / std::max(1e-3F, mean(t, 0, window_));
  }
  if (noisy < kNoisy) return 0;
  const auto last = ratios.begin() + static_cast<std::ptrdiff_t>(noisy);
  const auto place = ratios.begin() + static_cast<std::ptrdiff_t>((1 - kMax) * static_cast<double>(noisy));
  std::nth_element(ratios.begin(), place, last);
  return sure * *place;
}

double Stillness::lively() const noexcept {
  const std::size_t known = std::min(distinct_, noisy_.size());
  if (known < kWindow / 3) return 0;
  double tiles = 0;
  for (std::size_t t = 0; t < kTiles; ++t) {
    const auto count = std::count_if(noisy_.begin(), noisy_.begin() + static_cast<std::ptrdiff_t>(known),
                                     [t](const std::bitset<kTiles>& noisy) { return noisy[t]; });
    if (static_cast<double>(count) >= kNoiseFrames * static_cast<double>(known)) tiles += 1;
  }
  return tiles / kTiles;
}

}  // namespace sfft::video
