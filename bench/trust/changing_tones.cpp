// SPDX-License-Identifier: Apache-2.0
// Draws shape, tones, noise, learning and tracking of a stream; sums its tones sample by sample.
#include "bench/trust/changing_tones.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <numbers>

namespace sfft::trust {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;
/// A tone with at least this share of the frame's energy belongs in the template.
constexpr double kStrong = 0.1;

Shape draw_shape(Random& random) {
  // Short shapes are drawn more often: they test equally well, and 2^17 points take a hundred times as long
  // as 2^10.
  static const Shape kShapes[] = {
      Shape{1024},    Shape{2048},     Shape{2048},     Shape{4096},    Shape{4096},  Shape{4096},
      Shape{8192},    Shape{8192},     Shape{16384},    Shape{16384},   Shape{32768}, Shape{65536},
      Shape{131072},  Shape{1021},     Shape{4099},     Shape{10007},   Shape{12000}, Shape{64, 64},
      Shape{96, 128}, Shape{101, 103}, Shape{128, 128}, Shape{240, 320}};
  return kShapes[random.below(static_cast<std::int64_t>(std::size(kShapes)))];
}

std::int64_t columns_of(const Shape& shape) {
  return shape.rank() == 2 ? shape[1] : 1;
}

}  // namespace

const char* to_string(ToneChange change) {
  switch (change) {
    case ToneChange::start:
      return "start";
    case ToneChange::strong_start:
      return "strong start";
    case ToneChange::stop:
      return "stop";
    case ToneChange::drift:
      return "drift";
    case ToneChange::hop:
      return "hop";
    case ToneChange::hop_often:
      return "hop often";
    case ToneChange::mixture:
      return "mixture";
  }
  return "";
}

ChangingTones::ChangingTones(std::uint64_t seed, std::int64_t index, std::int64_t frames)
    : random_(seed, static_cast<std::uint64_t>(index)),
      frames_(frames),
      shape_(draw_shape(random_)),
      real_(random_.chance(0.4)),
      change_(kToneChanges[static_cast<std::size_t>(index) % kToneChanges.size()]),
      samples_(static_cast<std::size_t>(shape_.points())) {
  const auto count = static_cast<std::int64_t>(random_.log_uniform(1, 12.99));
  for (std::int64_t i = 0; i < count; ++i) tones_.push_back(draw_tone());
  // Constant phases make frames repeat.
  const bool still = random_.chance(0.3);
  if (still) {
    for (ChangingTone& tone : tones_) tone.turn = 0;
  }
  const double snr_db = random_.uniform(10, 60);
  noise_ = std::sqrt(tone_power() * std::pow(10, -snr_db / 10));
  words_ = fmt::format("{}{} {}, {} tones{}, {:.0f} dB", shape_[0],
                       shape_.rank() == 2 ? fmt::format("x{}", shape_[1]) : "", real_ ? "real" : "complex",
                       count, still ? " standing still" : "", snr_db);
  draw_change();
  draw_learning();
  draw_tracking();
}

ChangingTone ChangingTones::draw_tone() {
  ChangingTone tone;
  hop(tone);
  tone.amplitude = random_.log_uniform(1, 2);
  tone.phase = random_.phase();
  tone.turn = random_.uniform(-1, 1);
  return tone;
}

/// Real tones keep away from 0 and the middle, where they would meet their conjugates.
void ChangingTones::hop(ChangingTone& tone) {
  const std::int64_t low = shape_[0] / 16;
  tone.frequency[0] = static_cast<double>(random_.integer(low, shape_[0] / 2 - low));
  if (!real_ && random_.chance(0.5)) tone.frequency[0] = static_cast<double>(shape_[0]) - tone.frequency[0];
  if (shape_.rank() == 2) tone.frequency[1] = static_cast<double>(random_.below(shape_[1]));
}

void ChangingTones::draw_change() {
  when_ = random_.integer(60, std::max<std::int64_t>(61, frames_ / 2));
  period_ = random_.integer(70, 300);
  if (change_ != ToneChange::drift) return;
  const double rate = random_.log_uniform(0.02, 1);
  const auto moving = random_.chance(0.5) ? tones_.size() : 1;
  for (std::size_t i = 0; i < moving; ++i) {
    const double sign = random_.chance(0.5) ? -1 : 1;
    tones_[i].drift[0] = sign * rate;
    if (shape_.rank() == 2 && random_.chance(0.5)) tones_[i].drift[1] = sign * rate;
  }
  words_ += fmt::format(", {} by {:.2g} bins per frame", moving, rate);
}

/// Tones between bins need several frequencies each, and those that start need room.
void ChangingTones::draw_learning() {
  const auto count = static_cast<std::int64_t>(tones_.size());
  const double snr = tone_power() / (noise_ * noise_);
  switch (random_.below(3)) {
    case 0: {
      const std::int64_t k = change_ == ToneChange::drift ? 4 * count + 4 : count + random_.integer(2, 6);
      learning_.keep = Largest{k};
      words_ += fmt::format(", k {}", k);
      break;
    }
    case 1: {
      const double share = 0.98 * snr / (1 + snr);
      learning_.keep = Energy{share};
      words_ += fmt::format(", energy {:.3g}", share);
      break;
    }
    default:
      learning_.keep = AboveNoise{6};
      words_ += ", above noise 6";
  }
}

void ChangingTones::draw_tracking() {
  static constexpr double kAccuracies[] = {0, 0, 0.05, 0.1};
  tracking_.reference = random_.chance(0.5);
  tracking_.accuracy = kAccuracies[random_.below(4)];
  tracking_.background_learning = random_.chance(0.2);
  if (random_.chance(0.5)) tracking_.learn = learning_;
  learning_.reference = tracking_.reference && random_.chance(0.3);
  frames_per_push_ = random_.chance(0.25) ? 16 : 1;
  words_ += fmt::format(", accuracy {}, {}{}{}", tracking_.accuracy,
                        learning_.reference   ? "learned with reference"
                        : tracking_.reference ? "reference"
                                              : "no reference",
                        tracking_.background_learning ? ", learns in the background" : "",
                        frames_per_push_ > 1 ? ", pushes of 16" : "");
}

double ChangingTones::power(const ChangingTone& tone) const {
  return tone.amplitude * tone.amplitude * (real_ ? 0.5 : 1);
}

double ChangingTones::tone_power() const {
  double sum = 0;
  for (const ChangingTone& tone : tones_) sum += power(tone);
  return sum;
}

void ChangingTones::evolve() {
  for (ChangingTone& tone : tones_) {
    tone.phase = std::fmod(tone.phase + tone.turn, kTurn);
    for (std::size_t d = 0; d < 2; ++d) tone.frequency[d] += tone.drift[d];
    // The tone reverses before it meets its conjugate.
    const double low = static_cast<double>(shape_[0]) / 32, high = static_cast<double>(shape_[0]) / 2 - low;
    if (real_ && (tone.frequency[0] < low || tone.frequency[0] > high)) tone.drift[0] = -tone.drift[0];
  }
  const auto any = [&] {
    return static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(tones_.size())));
  };
  const auto start = [&](double share) {  // share of the energy of all tones
    ChangingTone tone = draw_tone();
    tone.amplitude = std::sqrt(share / (1 - share) * tone_power() * (real_ ? 2 : 1));
    tones_.push_back(tone);
  };
  const auto stop = [&] {
    if (tones_.size() > 1) tones_.erase(tones_.begin() + static_cast<std::ptrdiff_t>(any()));
  };
  const bool now = index_ == when_, again = index_ > 60 && index_ % period_ == 0;
  switch (change_) {
    case ToneChange::start:
      if (now) start(random_.uniform(0.15, 0.5));
      break;
    case ToneChange::strong_start:
      if (now) start(random_.uniform(0.8, 0.98));
      break;
    case ToneChange::stop:
      if (now) stop();
      break;
    case ToneChange::drift:
      break;
    case ToneChange::hop:
      if (now) hop(tones_[any()]);
      break;
    case ToneChange::hop_often:
      if (again) hop(tones_[any()]);
      break;
    case ToneChange::mixture:
      if (!again) break;
      switch (random_.below(3)) {
        case 0:
          return start(random_.uniform(0.15, 0.5));
        case 1:
          return stop();
        default:
          return hop(tones_[any()]);
      }
  }
}

std::vector<std::byte> ChangingTones::next() {
  if (index_ > 0) evolve();
  ++index_;
  std::fill(samples_.begin(), samples_.end(), 0);
  const auto rows = static_cast<std::size_t>(shape_[0]),
             columns = static_cast<std::size_t>(columns_of(shape_));
  std::vector<std::complex<double>> along(columns);
  for (const ChangingTone& tone : tones_) {
    for (std::size_t c = 0; c < columns; ++c)
      along[c] = std::polar(
          tone.amplitude, kTurn * tone.frequency[1] * static_cast<double>(c) / static_cast<double>(columns));
    const double step = kTurn * tone.frequency[0] / static_cast<double>(rows);
    constexpr std::size_t kExact = 64;  // rotations from one exact value to the next
    const std::complex<double> turn = std::polar(1.0, step);
    std::complex<double> across;
    for (std::size_t r = 0; r < rows; ++r) {
      across = r % kExact == 0 ? std::polar(1.0, tone.phase + step * static_cast<double>(r)) : across * turn;
      for (std::size_t c = 0; c < columns; ++c) samples_[r * columns + c] += across * along[c];
    }
  }
  const double per_part = real_ ? noise_ : noise_ / std::numbers::sqrt2;
  for (std::complex<double>& sample : samples_) sample += per_part * random_.normal_pair();
  std::vector<std::byte> bytes(samples_.size() * (real_ ? sizeof(float) : sizeof(std::complex<float>)));
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (real_) {
      const auto sample = static_cast<float>(samples_[i].real());
      std::memcpy(bytes.data() + i * sizeof sample, &sample, sizeof sample);
    } else {
      const std::complex<float> sample(samples_[i]);
      std::memcpy(bytes.data() + i * sizeof sample, &sample, sizeof sample);
    }
  }
  return bytes;
}

SignalView ChangingTones::view(const std::vector<std::byte>& frame) const {
  return {frame.data(), static_cast<std::size_t>(shape_.points()),
          real_ ? ElementType::f32 : ElementType::c64, shape_};
}

std::int64_t ChangingTones::nearest_bin(const ChangingTone& tone) const {
  const auto bin = [](double frequency, std::int64_t size) {
    const std::int64_t rounded = std::llround(frequency) % size;
    return rounded < 0 ? rounded + size : rounded;
  };
  const std::int64_t row = bin(tone.frequency[0], shape_[0]);
  return shape_.rank() == 2 ? row * shape_[1] + bin(tone.frequency[1], shape_[1]) : row;
}

std::vector<std::int64_t> ChangingTones::strong() const {
  const double all = tone_power() + noise_ * noise_;
  std::vector<ChangingTone> tones;
  for (const ChangingTone& tone : tones_)
    if (power(tone) >= kStrong * all) tones.push_back(tone);
  std::ranges::sort(tones, std::greater(), [this](const ChangingTone& tone) { return power(tone); });
  // Of more than k tones, a template learned by k has the strongest. Noise decides between similar ones.
  constexpr double kClearly = 1.1;
  const auto* largest = std::get_if<Largest>(&*learning_.keep);
  if (largest != nullptr && std::ssize(tones) > largest->k) {
    const double weaker = power(tones[static_cast<std::size_t>(largest->k)]);
    std::erase_if(tones, [&](const ChangingTone& tone) { return power(tone) < kClearly * weaker; });
  }
  std::vector<std::int64_t> found;
  for (const ChangingTone& tone : tones) found.push_back(nearest_bin(tone));
  return found;
}

}  // namespace sfft::trust
