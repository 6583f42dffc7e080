// SPDX-License-Identifier: Apache-2.0
// Synthesises the base frame once and adds tones to copies of it by tables of rotations, so that a
// measurement costs no dense transform. check_reference() verifies this with one.
#include "bench/trust/tone_case.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "bench/trust/error_ratios.hpp"

namespace sfft::trust {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

/// exp(2πi · product / extent); the product is reduced exactly first.
std::complex<double> turn(std::int64_t frequency, std::int64_t place, std::int64_t extent) {
  const auto reduced = static_cast<std::int64_t>(static_cast<unsigned __int128>(frequency) *
                                                 static_cast<unsigned __int128>(place) %
                                                 static_cast<unsigned __int128>(extent));
  return std::polar(1.0, kTurn * static_cast<double>(reduced) / static_cast<double>(extent));
}

}  // namespace

const char* to_string(Origin origin) {
  switch (origin) {
    case Origin::learned:
      return "learn(exact)";
    case Origin::learned_noisy:
      return "learn(noisy)";
    case Origin::support:
      return "from_support";
  }
  return "unknown";
}

template <class Real>
ToneCase<Real>::ToneCase(const ToneSettings& settings)
    : settings_(settings), places_([&] {
        Random random(settings.seed, 1);
        return Places(settings.shape, settings.real, settings.k, settings.runs, random);
      }()) {
  Random random(settings.seed, 2);
  const auto points = static_cast<double>(settings.shape.points());
  for (std::int64_t i = 0; i < settings.k; ++i) {
    values_.push_back(std::polar(points * random.uniform(0.5, 1.5), random.phase()));
  }
  base_ = synthesise();
  const auto make_template = [&] {
    if (settings.origin == Origin::support)
      return Template::from_support(settings.shape, settings.real ? Domain::real : Domain::complex,
                                    places_.support());
    std::vector<std::complex<double>> first = base_;
    if (settings.origin == Origin::learned_noisy) add_noise(first, 3);
    return learn(view(first), {.keep = Largest{settings.k}});
  };
  plan_.emplace(make_template());
  workspace_ = plan_->make_workspace();
  spectrum_ = plan_->make_spectrum();
  add_noise(base_, 4);
  samples_ = base_;

  Truth truth(settings.shape, settings.real);
  transform(base_, truth);
  std::vector<double> magnitudes;
  for (const std::int64_t f : plan_->source().support()) {
    exact_.push_back(truth.at(f));
    norm_ += std::norm(exact_.back());
    magnitudes.push_back(std::abs(exact_.back()));
  }
  norm_ = std::sqrt(norm_);
  typical_ = median(std::move(magnitudes));
}

template <class Real>
std::vector<std::complex<double>> ToneCase<Real>::synthesise() const {
  const dense::Plan<double> plan(settings_.shape, Domain::complex);
  std::vector<std::complex<double>> samples(plan.spectrum_points());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    // The real part of one half of the spectrum, doubled, is the real signal of both.
    samples[static_cast<std::size_t>(places_.support()[i])] = (settings_.real ? 2.0 : 1.0) * values_[i];
  }
  plan.inverse(samples, samples);
  return samples;
}

template <class Real>
void ToneCase<Real>::add_noise(std::vector<std::complex<double>>& samples, std::uint64_t part) const {
  if (!settings_.snr_db) return;
  double power = 0;
  for (const auto& sample : samples)
    power += settings_.real ? sample.real() * sample.real() : std::norm(sample);
  power /= static_cast<double>(samples.size());
  const double sigma = std::sqrt(power * std::pow(10, -*settings_.snr_db / 10));
  const double per_part = settings_.real ? sigma : sigma / std::numbers::sqrt2;
  Random random(settings_.seed, part);
  for (auto& sample : samples) sample += per_part * random.normal_pair();
}

template <class Real>
SignalView ToneCase<Real>::view(const std::vector<std::complex<double>>& samples) {
  if (settings_.real) {
    real_samples_.resize(samples.size());
    for (std::size_t t = 0; t < samples.size(); ++t) real_samples_[t] = static_cast<Real>(samples[t].real());
    return {real_samples_, settings_.shape};
  }
  complex_samples_.resize(samples.size());
  for (std::size_t t = 0; t < samples.size(); ++t) {
    complex_samples_[t] = {static_cast<Real>(samples[t].real()), static_cast<Real>(samples[t].imag())};
  }
  return {complex_samples_, settings_.shape};
}

template <class Real>
void ToneCase<Real>::transform(const std::vector<std::complex<double>>& samples, Truth& truth) const {
  if (!settings_.real) return truth.transform({samples, settings_.shape});
  std::vector<double> parts(samples.size());
  std::transform(samples.begin(), samples.end(), parts.begin(),
                 [](const auto& sample) { return sample.real(); });
  truth.transform({parts, settings_.shape});
}

template <class Real>
void ToneCase<Real>::check_reference(Random& random) {
  const AddedTone tone{places_.draw(PlaceKind::random, random), std::polar(typical_, random.phase())};
  samples_ = base_;
  const auto at_tone = [&](const std::vector<std::complex<double>>& samples, Truth& truth) {
    transform(samples, truth);
    return truth.at(tone.flat);
  };
  Truth truth(settings_.shape, settings_.real);
  const std::complex<double> before = at_tone(base_, truth);
  add_tone(tone);
  double error = std::norm(at_tone(samples_, truth) - before - tone.value);
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    error += std::norm(truth.at((*spectrum_.support)[i]) - exact_[i]);
  }
  if (!(std::sqrt(error) <= 1e-11 * norm_)) throw std::logic_error("a tone is not where it was put");
}

/// Runs along the last dimension share a table; each run is rotated by the phase of its start.
template <class Real>
void ToneCase<Real>::add_tone(const AddedTone& tone) {
  constexpr std::int64_t kRun = 512;
  const Shape& shape = settings_.shape;
  const int last = shape.rank() - 1;
  const std::int64_t columns = shape[last];
  const std::int64_t run = std::min(kRun, columns);
  std::vector<std::complex<double>> table;
  for (std::int64_t c = 0; c < run; ++c) table.push_back(turn(tone.flat % columns, c, columns));
  const double scale = (settings_.real ? 2.0 : 1.0) / static_cast<double>(shape.points());
  for (std::int64_t row = 0; row < shape.points() / columns; ++row) {
    std::complex<double> row_turn = scale * tone.value;
    std::int64_t frequency = tone.flat / columns;
    std::int64_t place = row;
    for (int d = last - 1; d >= 0; --d) {
      row_turn *= turn(frequency % shape[d], place % shape[d], shape[d]);
      frequency /= shape[d];
      place /= shape[d];
    }
    for (std::int64_t start = 0; start < columns; start += run) {
      const std::complex<double> factor = row_turn * turn(tone.flat % columns, start, columns);
      const double a = factor.real();
      const double b = factor.imag();
      const std::int64_t count = std::min(run, columns - start);
      std::complex<double>* out = samples_.data() + row * columns + start;
      for (std::int64_t c = 0; c < count; ++c) {
        const std::complex<double> w = table[static_cast<std::size_t>(c)];
        out[c] += std::complex<double>(a * w.real() - b * w.imag(), a * w.imag() + b * w.real());
      }
    }
  }
}

template <class Real>
ToneResult ToneCase<Real>::measure(const std::vector<AddedTone>& tones) {
  std::copy(base_.begin(), base_.end(), samples_.begin());
  ToneResult result;
  double added = 0;
  for (const AddedTone& tone : tones) {
    add_tone(tone);
    added += (settings_.real ? 2 : 1) * std::norm(tone.value);
  }
  plan_->execute(view(samples_), spectrum_, workspace_);
  double error = 0;
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    error += std::norm(std::complex<double>(spectrum_.values[i]) - exact_[i]);
  }
  result.true_l2 = std::sqrt(error);
  result.norm = norm_;
  result.reported_l2 = spectrum_.quality.error_l2;
  result.tail = std::sqrt(spectrum_.quality.tail_energy);
  result.added = std::sqrt(added);
  return result;
}

template class ToneCase<float>;
template class ToneCase<double>;

}  // namespace sfft::trust
