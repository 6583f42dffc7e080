// SPDX-License-Identifier: Apache-2.0
// Executes the plan on a frame, registers it with the reference, and compares both where the scene lies.
#include "video/guard/observer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "kernels/base/math/quantiles.hpp"
#include "video/motion/phase_ramp.hpp"

namespace sfft::video {

namespace {

template <class T>
std::vector<float> grey_levels_of(const SignalView& region) {
  std::vector<float> levels;
  levels.reserve(static_cast<std::size_t>(region.shape().points()));
  for (std::int64_t row = 0; row < region.shape()[0]; ++row) {
    const T* from = static_cast<const T*>(region.data()) + row * region.stride(0);
    levels.insert(levels.end(), from, from + region.shape()[1]);
  }
  return levels;
}

std::vector<float> grey_levels(const SignalView& region) {
  return region.type() == ElementType::u16 ? grey_levels_of<std::uint16_t>(region)
                                           : grey_levels_of<std::uint8_t>(region);
}

/// Logarithms of the ratios of levels, for tiles that are not black.
std::vector<double> level_changes(std::span<const double> before, std::span<const double> now, double full) {
  std::vector<double> changes;
  for (std::size_t t = 0; t < now.size(); ++t) {
    const double min = 0.02 * full;
    if (before[t] > min && now[t] > min) changes.push_back(std::log(now[t] / before[t]));
  }
  return changes;
}

/// Removes a shift from coefficients.
class PhaseShift {
 public:
  PhaseShift(const Layout& layout, double x, double y) {
    int max_x = 0;
    for (const Frequency& f : layout.frequencies) {
      max_x = std::max(max_x, f.x);
      max_y_ = std::max(max_y_, std::abs(f.y));
    }
    phase_ramp(x / static_cast<double>(layout.region.width), max_x, false, by_x_);
    phase_ramp(y / static_cast<double>(layout.region.height), max_y_, true, by_y_);
  }
  std::complex<float> apply(const Frequency& f, const std::complex<float>& value) const {
    return times(value,
                 times(by_x_[static_cast<std::size_t>(f.x)], by_y_[static_cast<std::size_t>(f.y + max_y_)]));
  }

 private:
  int max_y_ = 0;
  std::vector<std::complex<float>> by_x_, by_y_;
};

}  // namespace

Observer::Observer(std::shared_ptr<const Learned> learned, double full)
    : learned_(std::move(learned)),
      full_(full),
      workspace_(learned_->plan.make_workspace()),
      spectrum_(learned_->plan.make_spectrum()),
      reference_values_(learned_->mean),
      registrar_(learned_->layout),
      grid_(registrar_.pictures()),
      reference_(registrar_.reference(reference_values_)),
      activity_(full),
      landmarks_(learned_->mean_frame, learned_->layout.region.width, learned_->layout.region.height, full),
      noise_(kTiles, 0.0) {}

Observer::Observer(const Observer& other)
    : learned_(other.learned_),
      full_(other.full_),
      workspace_(learned_->plan.make_workspace()),
      spectrum_(other.spectrum_),
      values_(other.values_),
      previous_(other.previous_),
      reference_values_(other.reference_values_),
      registrar_(other.registrar_),
      grid_(other.grid_),
      reference_(other.reference_),
      reference_rows_(other.reference_rows_),
      rows_(other.rows_),
      activity_(other.activity_),
      renew_landmarks_(other.renew_landmarks_),
      has_rows_(other.has_rows_),
      has_previous_(other.has_previous_),
      landmarks_(other.landmarks_),
      last_(other.last_),
      levels_(other.levels_),
      before_(other.before_),
      tiles_(other.tiles_),
      noise_(other.noise_) {}

void Observer::mark_outside(double x, double y) {
  // Two thirds of a tile must lie in the picture.
  const auto out = [](int place, int count, double shift) {
    const double from = place + count * shift;
    return from < -1.0 / 3 || from > count - 2.0 / 3;
  };
  for (int t = 0; t < kTiles; ++t) {
    tiles_[static_cast<std::size_t>(t)].outside =
        out(t % kTileColumns, kTileColumns, x) || out(t / kTileColumns, kTileRows, y);
  }
}

void Observer::measure_rings(Observation& out) const {
  const Layout& layout = learned_->layout;
  const PhaseShift back(layout, out.registration.x, out.registration.y);
  struct Amplitude {
    double value = 0, variance = 0;
  };
  const auto amplitude = [&](const std::vector<std::size_t>& places) -> Amplitude {
    double product = 0;
    double energy = 0;
    double power = 0;
    for (const std::size_t i : places) {
      const std::complex<float> turned = back.apply(layout.frequencies[i], values_[i]);
      const std::complex<float> expected = reference_values_[i];
      product += turned.real() * expected.real() + turned.imag() * expected.imag();
      energy += std::norm(expected);
      power += std::norm(turned);
    }
    if (!(energy > 0)) return {};
    const double value = product / energy;
    const double left = std::max(0.0, power - value * value * energy) / static_cast<double>(places.size());
    return {value, 0.5 * left / energy};
  };
  double sum = 0;
  double variance = 0;
  double count = 0;
  for (std::size_t ring = 0; ring < layout.rings.size(); ++ring) {
    const Amplitude found = amplitude(layout.rings[ring]);
    out.rings[ring] = found.value / out.gain;
    if (ring + 2 < layout.rings.size() || layout.rings[ring].size() < 8) continue;
    sum += out.rings[ring];
    variance += found.variance / (out.gain * out.gain);
    count += 1;
  }
  // Hidden parts do not contribute to the amplitude.
  const double seen = count * std::max(0.3, 1 - out.changed);
  out.sharpness = count > 0 ? std::clamp(sum / seen, 0.0, 4.0) : 1;
  out.sharpness_error = count > 0 ? std::sqrt(variance) / seen : 1;
}

double Observer::relative_detail(double gain) const {
  std::vector<double> ratios;
  for (std::size_t t = 0; t < rows_.detail.size(); ++t) {
    if (reference_rows_.detail[t] > full_ / 255)
      ratios.push_back(rows_.detail[t] / reference_rows_.detail[t]);
  }
  if (ratios.size() < 3) return 1;
  return detail::median(std::move(ratios)) / std::clamp(gain, 0.1, 4.0);
}

Observation Observer::observe(const SignalView& region) {
  Observation out;
  learned_->plan.execute(region, spectrum_, workspace_);
  std::swap(previous_, values_);
  values_.resize(spectrum_.values.size());
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = spectrum_.values[i] + learned_->correction[i];
  if (has_previous_) {
    double change = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) change += std::norm(values_[i] - previous_[i]);
    out.change = std::sqrt(2 * change) / static_cast<double>(region.shape().points());
    out.repeats = change == 0;
  }
  has_previous_ = true;

  landmarks_.begin(region);
  out.registration = registrar_.locate(reference_, values_, learned_->weights, last_, landmarks_);
  out.landmarks = landmarks_.finish();
  if (out.landmarks.located) {
    const Pose& pose = out.landmarks.pose;
    out.registration.x = pose.x;
    out.registration.y = pose.y;
    out.registration.standard_error = out.landmarks.standard_error;
    out.registration.sure = true;
    out.registration.turned = pose.turned();
    if (pose.turned()) {
      out.registration.rotation = pose.rotation;
      out.registration.zoom = pose.zoom;
    }
  }
  if (renew_landmarks_ && out.registration.sure) {
    choose_landmarks(region, out.registration.pose());
  }
  renew_landmarks_ = false;
  last_ = out.registration.sure ? out.registration : Registration{};
  registrar_.pictures().draw(registrar_.low(), out.registration.x, out.registration.y, false, levels_);
  tiles_ = grid_.compare(registrar_.structure(), levels_, before_, reference_.structure, reference_.levels);
  before_ = registrar_.structure();
  mark_outside(out.registration.x / static_cast<double>(region.shape()[1]),
               out.registration.y / static_cast<double>(region.shape()[0]));

  out.activity = activity_.next(region);
  const RowStatistics last_rows = std::exchange(rows_, read_rows(region, full_));
  std::vector<double> changes;
  if (has_rows_) changes = level_changes(last_rows.mean, rows_.mean, full_);
  if (!changes.empty()) {
    out.brightening = detail::median(changes);
    std::vector<double> apart = changes;
    for (double& one : apart) one = std::abs(one - out.brightening);
    out.uneven = detail::median(std::move(apart));
    for (double& one : changes) one = std::abs(one);
    out.relit_most = detail::quantile(changes, 0.25);
    out.relighting = detail::median(std::move(changes));
  }
  if (!has_rows_) reference_rows_ = rows_;
  has_rows_ = true;
  const SceneComparison scene =
      compare_scene(tiles_, noise_, rows_.detail, reference_rows_.detail, out.landmarks, full_);
  out.changed = scene.changed;
  out.struck = scene.still;
  out.rearranged = scene.rearranged;
  double own = 0;
  double expected = 0;
  for (const TileComparison& tile : tiles_) {
    own += tile.own;
    expected += tile.expected;
  }
  out.richness = expected > 0 ? own / expected : 0;
  out.gain = scene.light_known ? scene.gain : 1;
  if (scene.light_known) {
    const double before = std::max(0.01 * full_, reference_rows_.level);
    out.light = std::log(std::max(0.005 * full_, scene.gain * before + scene.offset) / before);
  }
  measure_rings(out);
  out.level = rows_.level / full_;
  out.spread = rows_.spread / full_;
  out.dark = rows_.dark;
  out.bright = rows_.bright;
  out.detail = relative_detail(out.gain);
  out.texture = detail::median(rows_.detail) / full_;
  return out;
}

void Observer::follow() {
  const Layout& layout = learned_->layout;
  const PhaseShift on(layout, -last_.x, -last_.y);
  for (std::size_t i = 0; i < reference_values_.size(); ++i)
    reference_values_[i] = on.apply(layout.frequencies[i], reference_values_[i]);
  last_ = {};
  landmarks_.follow();
  reference_ = registrar_.reference(reference_values_);
}

void Observer::choose_landmarks(const SignalView& region, const Pose& pose) {
  const auto [width, height] = std::pair(learned_->layout.region.width, learned_->layout.region.height);
  landmarks_ = Landmarks(grey_levels(region), width, height, full_);
  landmarks_.rebase(pose);
}

void Observer::accept(const SignalView& region, const Pose& pose) {
  adapt(1);
  choose_landmarks(region, pose);
  last_ = {};
}

void Observer::adapt(double share) {
  const auto part = static_cast<float>(share);
  for (std::size_t i = 0; i < values_.size(); ++i)
    reference_values_[i] += part * (values_[i] - reference_values_[i]);
  for (std::size_t t = 0; t < rows_.detail.size(); ++t) {
    reference_rows_.detail[t] += share * (rows_.detail[t] - reference_rows_.detail[t]);
    reference_rows_.mean[t] += share * (rows_.mean[t] - reference_rows_.mean[t]);
  }
  landmarks_.adapt(share);
  reference_rows_.level += share * (rows_.level - reference_rows_.level);
  reference_rows_.spread += share * (rows_.spread - reference_rows_.spread);
  reference_ = registrar_.reference(reference_values_);
}

void Observer::note_usual(double share, bool renew) {
  landmarks_.note_usual(share);
  renew_landmarks_ = renew && landmarks_.worn();
}

void Observer::note_noise(double share) {
  for (std::size_t t = 0; t < noise_.size(); ++t) {
    const TileComparison& tile = tiles_[t];
    // The tile's change since the previous frame, with a limit on bursts.
    const double energy = std::min(tile.moving, 9 * noise_[t] + 0.05);
    noise_[t] += share * (energy - noise_[t]);
  }
}

}  // namespace sfft::video
