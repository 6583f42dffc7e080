// SPDX-License-Identifier: Apache-2.0
// Every frame has its own generator; tones on the grid come from one inverse transform, others are summed
// sample by sample, then noise and gain are applied.
#include "bench/trust/signal_stream.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sfft/dense.hpp"

namespace sfft::trust {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

class SignalStream : public Stream {
 public:
  explicit SignalStream(SignalSettings settings)
      : settings_(std::move(settings)),
        tones_(settings_.tones),
        synthesis_(Shape(settings_.points), Domain::complex),
        samples_(static_cast<std::size_t>(settings_.points)) {}

  SignalView next() override {
    Random random(settings_.seed, 1'000'000 + static_cast<std::uint64_t>(index_));
    if (index_ > 0) advance(random);
    synthesise();
    const double gain = settings_.gain ? settings_.gain(index_) : 1;
    const double noise = settings_.noise * (settings_.noise_gain ? settings_.noise_gain(index_) : 1);
    const double per_part = is_complex(settings_.type) ? noise / std::numbers::sqrt2 : noise;
    for (std::complex<double>& sample : samples_) {
      if (noise > 0) sample += per_part * random.normal_pair();
      sample *= gain;
    }
    ++index_;
    return rounded();
  }

 private:
  void advance(Random& random) {
    for (Tone& tone : tones_) tone.phase = std::fmod(tone.phase + tone.turn, kTurn);
    if (settings_.evolve) settings_.evolve(tones_, index_, random);
  }

  /// Synthesises tones on the grid by an inverse transform, others sample by sample.
  void synthesise() {
    std::fill(samples_.begin(), samples_.end(), 0);
    const auto points = static_cast<double>(settings_.points);
    for (const Tone& tone : tones_) {
      if (tone.frequency != std::floor(tone.frequency)) continue;
      samples_[static_cast<std::size_t>(tone.frequency)] += std::polar(tone.amplitude * points, tone.phase);
    }
    synthesis_.inverse(samples_, samples_);
    for (const Tone& tone : tones_) {
      if (tone.frequency == std::floor(tone.frequency)) continue;
      const double step = kTurn * tone.frequency / points;
      for (std::size_t t = 0; t < samples_.size(); ++t) {
        samples_[t] += std::polar(tone.amplitude, tone.phase + step * static_cast<double>(t));
      }
    }
  }

  template <class Sample>
  SignalView real_view(std::vector<Sample>& out) {
    out.resize(samples_.size());
    for (std::size_t t = 0; t < out.size(); ++t) out[t] = static_cast<Sample>(samples_[t].real());
    return {out, Shape(settings_.points)};
  }
  SignalView rounded() {
    switch (settings_.type) {
      case ElementType::f32:
        return real_view(floats_);
      case ElementType::f64:
        return real_view(doubles_);
      case ElementType::c64:
        single_.assign(samples_.begin(), samples_.end());
        return {single_, Shape(settings_.points)};
      default:
        return {samples_, Shape(settings_.points)};
    }
  }

  SignalSettings settings_;
  std::vector<Tone> tones_;
  dense::Plan<double> synthesis_;
  std::vector<std::complex<double>> samples_;
  std::vector<std::complex<float>> single_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
  std::int64_t index_ = 0;
};

}  // namespace

std::unique_ptr<Stream> make_signal(SignalSettings settings) {
  return std::make_unique<SignalStream>(std::move(settings));
}

}  // namespace sfft::trust
