// SPDX-License-Identifier: Apache-2.0
// Every disturbed frame is transformed densely in double, as the plan got it.
#include "bench/trust/burst_case.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace sfft::trust {

const char* to_string(BurstPlace place) {
  constexpr std::array kNames{"scattered", "one stretch", "stretches", "block", "train"};
  return kNames[static_cast<std::size_t>(place)];
}

const char* to_string(BurstContent content) {
  constexpr std::array kNames{"noise", "offset", "zero", "flipped", "held", "wild"};
  return kNames[static_cast<std::size_t>(content)];
}

template <class Real>
BurstCase<Real>::BurstCase(const BurstSettings& settings)
    : settings_(settings),
      places_([&] {
        Random random(settings.seed, 1);
        return Places(settings.shape, settings.real, settings.k, settings.runs, random);
      }()),
      truth_(settings.shape, settings.real) {
  Random random(settings.seed, 2);
  const auto points = static_cast<double>(settings.shape.points());
  for (std::int64_t i = 0; i < settings.k; ++i)
    values_.push_back(std::polar(points * random.uniform(0.5, 1.5), random.phase()));
  const auto make_template = [&] {
    if (settings.origin == Origin::support && !settings.reference)
      return Template::from_support(settings.shape, settings.real ? Domain::real : Domain::complex,
                                    places_.support());
    LearnOptions options;
    options.keep = Largest{settings.k};
    options.reference = settings.reference;
    const auto first = frame(0, settings.origin == Origin::learned ? 0 : 3);
    return learn(view(first), options);
  };
  PlanOptions options;
  options.seed = random.bits();
  options.burst = settings.burst;
  options.device = Device::cpu();
  plan_.emplace(make_template(), options);
  workspace_ = plan_->make_workspace();
  spectrum_ = plan_->make_spectrum();
  base_ = frame(settings.reference ? 0.1 : 0, 4);
  for (const auto& sample : base_)
    power_ += settings.real ? sample.real() * sample.real() : std::norm(sample);
  power_ /= points;
}

/// Sums the tones, each changed by about the share `change` of its size, and adds noise number `part`; 0 adds
/// none.
template <class Real>
std::vector<std::complex<double>> BurstCase<Real>::frame(double change, std::uint64_t part) const {
  const dense::Plan<double> plan(settings_.shape, Domain::complex);
  std::vector<std::complex<double>> samples(plan.spectrum_points());
  Random random(settings_.seed, 16 + part);
  double power = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    // The real part of one half of the spectrum, doubled, is the real signal of both.
    auto& value = samples[static_cast<std::size_t>(places_.support()[i])];
    value =
        (settings_.real ? 2.0 : 1.0) * (values_[i] + change * std::abs(values_[i]) * random.normal_pair());
    power += std::norm(value) / (settings_.real ? 2 : 1);
  }
  plan.inverse(samples, samples);
  if (!settings_.snr_db || part == 0) return samples;
  power /= static_cast<double>(samples.size()) * static_cast<double>(samples.size());
  const double sigma = std::sqrt(power * std::pow(10, -*settings_.snr_db / 10));
  const double per_part = settings_.real ? sigma : sigma / std::numbers::sqrt2;
  for (auto& sample : samples) sample += per_part * random.normal_pair();
  return samples;
}

template <class Real>
SignalView BurstCase<Real>::view(const std::vector<std::complex<double>>& samples) {
  if (settings_.real) {
    real_samples_.resize(samples.size());
    for (std::size_t t = 0; t < samples.size(); ++t) real_samples_[t] = static_cast<Real>(samples[t].real());
    return {real_samples_, settings_.shape};
  }
  complex_samples_.resize(samples.size());
  for (std::size_t t = 0; t < samples.size(); ++t)
    complex_samples_[t] = {static_cast<Real>(samples[t].real()), static_cast<Real>(samples[t].imag())};
  return {complex_samples_, settings_.shape};
}

template <class Real>
std::vector<std::int64_t> BurstCase<Real>::draw(std::int64_t samples, BurstPlace place,
                                                Random& random) const {
  const Shape& shape = settings_.shape;
  const std::int64_t points = shape.points();
  std::vector<std::int64_t> at;
  const auto add_stretch = [&](std::int64_t length) {
    const std::int64_t start = random.below(points - length + 1);
    for (std::int64_t i = 0; i < length; ++i) at.push_back(start + i);
  };
  switch (place) {
    case BurstPlace::scattered:
      for (std::int64_t t = 0, left = samples; t < points && left > 0; ++t) {
        if (random.below(points - t) >= left) continue;
        at.push_back(t);
        --left;
      }
      break;
    case BurstPlace::stretch:
      add_stretch(samples);
      break;
    case BurstPlace::stretches: {
      const std::int64_t count = std::min(samples, random.integer(2, 8));
      for (std::int64_t i = 0; i < count; ++i) add_stretch(samples / count + (i < samples % count ? 1 : 0));
      break;
    }
    case BurstPlace::block: {
      // The last two dimensions, with sides in the frame's ratio; one plane of a volume.
      const int last = shape.rank() - 1;
      const std::int64_t rows = shape.rank() > 1 ? shape[last - 1] : 1, columns = shape[last];
      const double scale =
          std::sqrt(std::min(1.0, static_cast<double>(samples) / static_cast<double>(rows * columns)));
      const std::int64_t height =
          std::clamp<std::int64_t>(std::llround(scale * static_cast<double>(rows)), 1, rows);
      const std::int64_t width = std::clamp<std::int64_t>((samples + height - 1) / height, 1, columns);
      const std::int64_t plane = random.below(points / (rows * columns));
      const std::int64_t y = random.below(rows - height + 1), x = random.below(columns - width + 1);
      for (std::int64_t r = 0; r < height; ++r) {
        for (std::int64_t c = 0; c < width; ++c) at.push_back((plane * rows + y + r) * columns + x + c);
      }
      break;
    }
    case BurstPlace::train: {
      const std::int64_t period = std::max<std::int64_t>(1, points / samples);
      for (std::int64_t t = random.below(period); t < points; t += period) at.push_back(t);
      break;
    }
  }
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  return at;
}

template <class Real>
void BurstCase<Real>::disturb(const std::vector<std::int64_t>& at, BurstContent content, Random& random) {
  const double root = std::sqrt(power_);
  const double size = root * random.log_uniform(0.1, 30);
  const std::complex<double> offset = settings_.real ? size : std::polar(size, random.phase());
  const std::complex<double> held = samples_[static_cast<std::size_t>(at[0])];
  for (const std::int64_t t : at) {
    std::complex<double>& sample = samples_[static_cast<std::size_t>(t)];
    switch (content) {
      case BurstContent::noise:
        sample += size * random.normal_pair() / std::numbers::sqrt2;
        break;
      case BurstContent::offset:
        sample += offset;
        break;
      case BurstContent::zero:
        sample = 0;
        break;
      case BurstContent::flipped:
        sample = -sample;
        break;
      case BurstContent::held:
        sample = held;
        break;
      case BurstContent::wild:
        sample = root * random.log_uniform(0.1, 30) * random.normal_pair();
        break;
    }
  }
}

template <class Real>
BurstResult BurstCase<Real>::compare() {
  const SignalView seen = view(samples_);
  plan_->execute(seen, spectrum_, workspace_);
  truth_.transform(seen);
  const Comparison errors = truth_.compare(spectrum_);
  return {0, errors.true_l2, errors.norm, errors.reported_l2};
}

template <class Real>
BurstResult BurstCase<Real>::measure(std::int64_t samples, BurstPlace place, BurstContent content,
                                     Random& random) {
  samples_ = base_;
  const std::vector<std::int64_t> at = draw(samples, place, random);
  disturb(at, content, random);
  BurstResult result = compare();
  result.samples = static_cast<std::int64_t>(at.size());
  return result;
}

template <class Real>
BurstResult BurstCase<Real>::undisturbed() {
  samples_ = base_;
  return compare();
}

template class BurstCase<float>;
template class BurstCase<double>;

}  // namespace sfft::trust
