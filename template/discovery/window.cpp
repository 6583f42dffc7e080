// SPDX-License-Identifier: Apache-2.0
// A round of windows: locates peaks with a ladder of delays, strongest first, subtracts each from its
// neighbourhood, and refits all values together by Gauss-Seidel sweeps.
#include "template/discovery/window.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "kernels/base/math/roots_of_unity.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

/// Taps per bucket: the window's main lobe then covers three buckets (six in double precision).
constexpr std::int64_t kFolds = 4;
constexpr int kLines = kDiscoveryDelays;
/// Largest distance of a frequency from its strongest bucket, in buckets.
constexpr double kReach = 0.8;
/// Share of a bucket's power that one frequency may leave and still be accepted: neighbours leak in.
constexpr double kBelievable = 0.1;
/// Time to project on or subtract a trace in one bucket, to try a peak, and to sum a bucket's power.
constexpr double kTouchUs = 0.02, kPeakUs = 0.5, kPowerUs = 0.01;

template <class Real>
constexpr double kLeakage = sizeof(Real) == sizeof(float) ? 1e-8 : 1e-14;

/// Neighbouring buckets share noise because their windows overlap. This is the variance of a value fitted to
/// `span` of them, relative to independent noise, for a frequency between two buckets, the worst case: 1.14
/// in single precision, 1.33 in double.
double shared_noise(const KaiserWindow& kaiser, std::int64_t span) {
  constexpr int kIntervals = 200;
  const double middle = 0.5 * static_cast<double>(span - 1);
  double power = 0, shared = 0, own = 0;
  for (int i = 0; i < kIntervals; ++i) {
    const double t = (i + 0.5) / kIntervals;
    double sum = 0;
    for (std::int64_t q = 0; q < span; ++q) {
      const double distance = static_cast<double>(kFolds) * (static_cast<double>(q) - middle);
      const double response = kaiser.response(distance);
      sum += response * std::cos(std::numbers::pi * distance * t);
      if (i == 0) power += response * response;
    }
    const double tap = kaiser.tap(t);
    shared += tap * tap * sum * sum;
    own += tap * tap;
  }
  return shared / (own * power);
}

}  // namespace

template <class Real>
DiscoveryWindow<Real>::DiscoveryWindow(DiscoverySampler<Real>& sampler)
    : sampler_(sampler), shape_(sampler.shape()), kaiser_(KaiserWindow::for_leakage(kLeakage<Real>)) {
  span_ = static_cast<std::int64_t>(std::ceil(2 * kaiser_.half_width / static_cast<double>(kFolds)));
  static const double shared = shared_noise(kaiser_, span_);
  shared_noise_ = shared;
}

template <class Real>
std::int64_t DiscoveryWindow<Real>::samples(std::int64_t buckets) noexcept {
  return buckets * kFolds * kLines;
}

template <class Real>
std::int64_t DiscoveryWindow<Real>::wrap(std::int64_t bucket) const noexcept {
  return floor_mod(bucket, lines_.buckets);
}

template <class Real>
void DiscoveryWindow<Real>::draw(std::int64_t buckets, DiscoveryRandom& random) {
  GridPoint extents{1, 1, 1};
  lines_.sigma = {0, 0, 0};
  for (int d = 0; d < shape_.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    extents[at] = shape_[d];
    if (shape_[d] == 1) continue;
    do {
      lines_.sigma[at] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape_[d]));
    } while (std::gcd(lines_.sigma[at], shape_[d]) != 1);
  }
  pattern_ = ladder_of_delays(extents, shape_.rank(), kLines, random);
  pattern_.delays.resize(kLines);
  lines_.delays = pattern_.delays;
  if (lines_.buckets == buckets) return;
  lines_.buckets = buckets;
  const std::int64_t taps = buckets * kFolds;
  lines_.window.resize(static_cast<std::size_t>(taps));
  window_power_ = 0;
  for (std::int64_t m = 0; m < taps; ++m) {
    const double tap = kaiser_.tap(static_cast<double>(2 * m + 1 - taps) / static_cast<double>(taps)) /
                       static_cast<double>(taps);
    lines_.window[static_cast<std::size_t>(m)] = tap;
    window_power_ += tap * tap;
  }
}

template <class Real>
typename DiscoveryWindow<Real>::Trace DiscoveryWindow<Real>::trace(const GridPoint& f) const {
  Trace trace;
  trace.f = f;
  const auto buckets = static_cast<double>(lines_.buckets);
  const FlatPosition position = cpu::FlatHash(shape_, lines_.sigma).position(f, lines_.buckets);
  trace.first = position.bucket - (span_ - 1) / 2;
  if (span_ % 2 != 0 && position.offset >= 0.5) ++trace.first;
  trace.response.resize(static_cast<std::size_t>(span_));
  for (std::int64_t q = 0; q < span_; ++q) {
    const double x = static_cast<double>(position.bucket - trace.first - q) + position.offset;
    const double centre = x * static_cast<double>(kFolds * lines_.buckets - 1) / (2 * buckets);
    trace.response[static_cast<std::size_t>(q)] =
        kaiser_.response(x * static_cast<double>(kFolds)) * root_of_turns(centre);
    trace.power += std::norm(trace.response[static_cast<std::size_t>(q)]);
  }
  for (std::size_t j = 0; j < kLines; ++j) {
    double turns = 0;
    for (int d = 0; d < shape_.rank(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      turns += turns_of(f[at], lines_.delays[j][at], shape_[d]);
    }
    trace.roots[j] = root_of_turns(turns);
  }
  return trace;
}

template <class Real>
void DiscoveryWindow<Real>::subtract(const Trace& trace, Complex value) {
  for (std::int64_t q = 0; q < span_; ++q) {
    const Complex scaled = times(value, trace.response[static_cast<std::size_t>(q)]);
    Complex* rest = &rest_[static_cast<std::size_t>(wrap(trace.first + q) * kLines)];
    for (int j = 0; j < kLines; ++j) rest[j] -= times(scaled, trace.roots[j]);
  }
}

/// The value that best explains the residual at the trace.
template <class Real>
Complex DiscoveryWindow<Real>::project(const Trace& trace) const {
  Complex sum = 0;
  for (std::int64_t q = 0; q < span_; ++q) {
    const Complex* rest = &rest_[static_cast<std::size_t>(wrap(trace.first + q) * kLines)];
    Complex part = 0;
    for (int j = 0; j < kLines; ++j) part += times_conj(rest[j], trace.roots[j]);
    sum += times_conj(part, trace.response[static_cast<std::size_t>(q)]);
  }
  return sum / (trace.power * kLines);
}

template <class Real>
double DiscoveryWindow<Real>::bucket_power(std::int64_t bucket) const {
  double sum = 0;
  for (int j = 0; j < kLines; ++j) sum += std::norm(rest_[static_cast<std::size_t>(bucket * kLines + j)]);
  return sum / kLines;
}

/// Residual power at the trace, per line of a bucket. It is larger than elsewhere if the tail is not white,
/// or if a frequency that is too weak to be found leaks in.
template <class Real>
double DiscoveryWindow<Real>::local_noise(const Trace& trace) const {
  double sum = 0;
  for (std::int64_t q = 0; q < span_; ++q)
    sum += std::norm(trace.response[static_cast<std::size_t>(q)]) * bucket_power(wrap(trace.first + q));
  return sum / trace.power * kLines / (kLines - 1.0);
}

/// Runs Gauss-Seidel sweeps over all values; returns the last sweep's largest correction, relative to the
/// largest value.
template <class Real>
double DiscoveryWindow<Real>::refit(int sweeps) {
  double moved = 0;
  for (int sweep = 0; sweep < sweeps && work_us_ <= limit_us_; ++sweep) {
    work_us_ += 2 * kTouchUs * static_cast<double>(span_) * static_cast<double>(traces_.size());
    double step = 0;
    double largest = 0;
    for (Trace& trace : traces_) {
      const Complex correction = project(trace);
      trace.value += correction;
      subtract(trace, correction);
      step = std::max(step, std::norm(correction));
      largest = std::max(largest, std::norm(trace.value));
    }
    moved = largest > 0 ? std::sqrt(step / largest) : 0;
    if (moved < 0.1 * std::numeric_limits<Real>::epsilon()) break;
  }
  return moved;
}

template <class Real>
GridPoint DiscoveryWindow<Real>::locate(std::int64_t bucket) const {
  const Complex* y = &rest_[static_cast<std::size_t>(bucket * kLines)];
  GridPoint f{0, 0, 0};
  for (std::size_t d = 0; d < 3; ++d) {
    if (pattern_.rungs[d].empty()) continue;
    double turns = 0;
    for (const DelayPattern::Rung& rung : pattern_.rungs[d]) {
      const Complex z = times_conj(y[rung.delay], y[0]);
      const double seen = std::atan2(z.imag(), z.real()) / (2 * std::numbers::pi);
      const auto step = static_cast<double>(rung.step);
      turns = rung.step == 1 ? seen : (std::floor(step * turns - seen + 0.5) + seen) / step;
    }
    const std::int64_t extent = shape_[static_cast<int>(d)];
    turns -= std::floor(turns);
    f[d] = static_cast<std::int64_t>(std::floor(turns * static_cast<double>(extent) + 0.5)) % extent;
  }
  return f;
}

template <class Real>
bool DiscoveryWindow<Real>::near(const Trace& trace, std::int64_t bucket) const {
  const auto buckets = static_cast<double>(lines_.buckets);
  const FlatPosition at = cpu::FlatHash(shape_, lines_.sigma).position(trace.f, lines_.buckets);
  double distance = std::fabs(static_cast<double>(at.bucket - bucket) + at.offset);
  distance = std::min(distance, buckets - distance);
  return distance <= kReach;
}

/// Adds a frequency for every peak that one frequency explains; returns the number of new ones.
template <class Real>
std::int64_t DiscoveryWindow<Real>::add_strongest(double limit) {
  struct Peak {
    double power;
    std::int64_t bucket;
  };
  std::vector<double> power(static_cast<std::size_t>(lines_.buckets));
  for (std::int64_t b = 0; b < lines_.buckets; ++b) power[static_cast<std::size_t>(b)] = bucket_power(b);
  std::vector<Peak> peaks;
  for (std::int64_t b = 0; b < lines_.buckets; ++b) {
    const double own = power[static_cast<std::size_t>(b)];
    if (own > limit && own >= power[static_cast<std::size_t>(wrap(b - 1))] &&
        own >= power[static_cast<std::size_t>(wrap(b + 1))])
      peaks.push_back({own, b});
  }
  std::sort(peaks.begin(), peaks.end(), [](const Peak& a, const Peak& b) { return a.power > b.power; });
  std::int64_t added = 0;
  for (const Peak& peak : peaks) {
    const double before = bucket_power(peak.bucket);
    if (before <= limit) continue;
    if (work_us_ > limit_us_) break;
    work_us_ += kPeakUs + 3 * kTouchUs * static_cast<double>(span_);
    Trace candidate = trace(locate(peak.bucket));
    if (!near(candidate, peak.bucket)) continue;
    const Complex value = project(candidate);
    subtract(candidate, value);
    if (bucket_power(peak.bucket) > std::max(limit, kBelievable * before)) {
      subtract(candidate, -value);
      continue;
    }
    const auto same = std::find_if(traces_.begin(), traces_.end(),
                                   [&](const Trace& known) { return known.f == candidate.f; });
    if (same != traces_.end()) {
      same->value += value;
      continue;
    }
    candidate.value = value;
    traces_.push_back(std::move(candidate));
    ++added;
  }
  return added;
}

template <class Real>
DiscoveryRound DiscoveryWindow<Real>::round(std::int64_t buckets, DiscoveryRandom& random,
                                            std::vector<DiscoveryComponent>& components, double limit_us) {
  DiscoveryRound round;
  work_us_ = 0;
  limit_us_ = limit_us;
  draw(buckets, random);
  const BucketValues<Real> values = sampler_.lines(lines_);
  const auto points = static_cast<double>(shape_.points());
  rest_.resize(static_cast<std::size_t>(buckets * kLines));
  double energy = 0;
  for (std::int64_t b = 0; b < buckets; ++b) {
    for (std::int64_t j = 0; j < kLines; ++j) {
      rest_[static_cast<std::size_t>(b * kLines + j)] = points * values.at(b, j);
      energy += std::norm(rest_[static_cast<std::size_t>(b * kLines + j)]);
    }
  }
  round.total_energy = energy / (kLines * window_power_ * static_cast<double>(buckets));
  round.finite = std::isfinite(round.total_energy);
  if (!round.finite) return round;

  traces_.clear();
  for (const DiscoveryComponent& component : components) {
    traces_.push_back(trace(component.f));
    traces_.back().value = component.value;
    subtract(traces_.back(), component.value);
  }
  refit(3);
  const double confidence = std::log(kRoundsPerMistake * static_cast<double>(buckets));
  const double excess = exceedance(kLines, confidence);
  const double rounding = kRoundingShare * std::numeric_limits<Real>::epsilon() + 2 * kaiser_.leakage;
  round.rounding = rounding * rounding * round.total_energy;
  std::vector<double> power(static_cast<std::size_t>(buckets));
  const auto judge_noise = [&] {
    work_us_ += 2 * kPowerUs * static_cast<double>(buckets);
    for (std::int64_t b = 0; b < buckets; ++b) power[static_cast<std::size_t>(b)] = bucket_power(b);
    const auto middle = power.begin() + static_cast<std::ptrdiff_t>(power.size() / 2);
    std::nth_element(power.begin(), middle, power.end());
    // The median of a mean of sixteen exponentials is 0.979 of the mean.
    round.noise = std::max(round.rounding, *middle / 0.979);
    return round.noise * excess;
  };
  constexpr int kSweeps = 8;
  double limit = judge_noise();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    if (add_strongest(limit) == 0 && sweep > 0) break;
    refit(3);
    limit = judge_noise();
  }
  refit(40);
  limit = judge_noise();
  for (std::int64_t b = 0; b < buckets; ++b) round.significant += bucket_power(b) > limit ? 1 : 0;
  round.unresolved = round.significant + (work_us_ > limit_us_ ? 1 : 0);
  round.crowded = 2 * round.significant > buckets;
  round.missed_power = limit;
  const std::size_t before = components.size();
  std::vector<DiscoveryComponent> kept;
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    const Trace& trace = traces_[i];
    double doubt = 1;
    const double variance =
        shared_noise_ * std::max(round.noise, local_noise(trace)) / (trace.power * kLines);
    if (std::norm(trace.value) < confidence * variance) {
      round.dropped += i < before ? 1 : 0;
      continue;
    }
    if (i < before) {
      const double apart = disagreement(trace.value - components[i].value, variance + components[i].variance);
      if (apart > kContradiction * confidence) ++round.unresolved;
      doubt = doubt_of(apart);
    } else {
      ++round.added;
    }
    kept.push_back({trace.f, trace.value, variance, doubt});
  }
  components = std::move(kept);
  return round;
}

template class DiscoveryWindow<float>;
template class DiscoveryWindow<double>;

}  // namespace sfft::detail
