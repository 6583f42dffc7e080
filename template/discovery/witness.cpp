// SPDX-License-Identifier: Apache-2.0
// Positions are sums of anchors and offsets, so that tables of waves serve many samples. The verdict depends
// on outliers, on the power and uniformity of the noise and, on request, on sums over the whole signal.
#include "template/discovery/discovery_driver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/stages/waves.hpp"

namespace sfft::detail {

namespace {

constexpr std::int64_t kOffsets = cpu::kWaveOffsets;
/// Waves whose tables are built and used together; they stay in cache.
constexpr std::size_t kWavesAtOnce = 64;
/// Correct answers per false rejection: noise also has large samples.
constexpr double kFalseAlarms = 1e4;
/// Tolerated relative error of the tail that rounds estimate from their buckets.
constexpr double kTailDoubt = 0.3;
/// Deviations of a mean up to this number of standard deviations count as chance.
constexpr double kChance = 5;
/// The same for the folded residual, whose tail is exponential, and a tolerance for noise that is not white.
constexpr double kFoldChance = 6;
constexpr double kFoldDoubt = 0.2;

std::int64_t below(DiscoveryRandom& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

std::int64_t whole_blocks(std::int64_t positions) {
  return (positions + cpu::kWaveBlock - 1) / cpu::kWaveBlock * cpu::kWaveBlock;
}

}  // namespace

std::int64_t witness_samples(double confidence) {
  return static_cast<std::int64_t>(
      std::ceil((std::log(kWitnessDependence) - std::log(confidence)) / -std::log1p(-kDisturbedShare)));
}

double witness_share(double confidence, std::int64_t samples) {
  return -std::expm1((std::log(confidence) - std::log(kWitnessDependence)) / static_cast<double>(samples));
}

template <class Real>
void DiscoveryWitness<Real>::draw(std::int64_t samples, DiscoveryRandom& random) {
  all_ = shape_.points() <= kWitnessAll;
  for (auto* set : {&anchors_, &offsets_}) {
    for (auto& coordinates : set->at) coordinates.clear();
  }
  offsets_.count = kOffsets;
  if (!all_) {
    anchors_.count = whole_blocks((samples + kOffsets - 1) / kOffsets);
    for (Positions* set : {&anchors_, &offsets_}) {
      for (int d = 0; d < shape_.rank(); ++d) {
        for (std::int64_t i = 0; i < set->count; ++i)
          set->at[d].push_back(static_cast<double>(below(random, shape_[d])));
      }
    }
    return;
  }
  // Offsets run along the longest side; anchors cover the others.
  int along = 0;
  for (int d = 1; d < shape_.rank(); ++d) along = shape_[d] > shape_[along] ? d : along;
  for (int d = 0; d < shape_.rank(); ++d) {
    for (std::int64_t i = 0; i < kOffsets; ++i)
      offsets_.at[d].push_back(d == along ? static_cast<double>(i % shape_[d]) : 0.0);
  }
  std::array<std::int64_t, 3> counts{1, 1, 1};
  for (int d = 0; d < shape_.rank(); ++d)
    counts[static_cast<std::size_t>(d)] = d == along ? (shape_[d] + kOffsets - 1) / kOffsets : shape_[d];
  const std::int64_t needed = counts[0] * counts[1] * counts[2];
  anchors_.count = whole_blocks(needed);
  for (std::int64_t anchor = 0; anchor < anchors_.count; ++anchor) {
    const std::int64_t i = anchor % needed;
    const std::int64_t at[3] = {i / (counts[1] * counts[2]), i / counts[2] % counts[1], i % counts[2]};
    for (int d = 0; d < shape_.rank(); ++d)
      anchors_.at[d].push_back(static_cast<double>(d == along ? at[d] * kOffsets : at[d]));
  }
}

template <class Real>
void DiscoveryWitness<Real>::read() {
  const std::int64_t samples = anchors_.count * kOffsets;
  std::vector<std::int64_t> flat(static_cast<std::size_t>(samples), 0);
  for (int d = 0; d < shape_.rank(); ++d) {
    const std::int64_t extent = shape_[d];
    std::int64_t offset[kOffsets];
    for (std::size_t b = 0; b < kOffsets; ++b) offset[b] = static_cast<std::int64_t>(offsets_.at[d][b]);
    std::int64_t* to = flat.data();
    for (const double at : anchors_.at[d]) {
      const auto anchor = static_cast<std::int64_t>(at);
      for (std::size_t b = 0; b < kOffsets; ++b) {
        const std::int64_t sum = anchor + offset[b];
        to[b] = to[b] * extent + sum - (sum >= extent ? extent : 0);
      }
      to += kOffsets;
    }
  }
  const std::int64_t lanes = real() ? samples / 2 : samples;
  seen_re_.resize(static_cast<std::size_t>(lanes));
  seen_im_.resize(static_cast<std::size_t>(lanes));
  if (real()) {
    // The second half is stored as imaginary parts of the first.
    std::vector<std::int64_t> pairs;
    pairs.reserve(flat.size());
    for (std::size_t l = 0; l < flat.size() / 2; ++l) {
      pairs.push_back(flat[l]);
      pairs.push_back(flat[l + flat.size() / 2]);
    }
    flat = std::move(pairs);
  }
  signal_.read({{1, 1, 1}, {0, 0, 0}, flat.data(), lanes}, seen_re_.data(), seen_im_.data());
}

template <class Real>
void DiscoveryWitness<Real>::predict(const std::vector<DiscoveryComponent>& components) {
  // Predictions are in double precision even for float samples: in single, rounding of the sum of many waves
  // would bury the residual.
  const auto& kernels = cpu::wave_kernels<double>();
  const auto samples = static_cast<std::size_t>(anchors_.count * kOffsets);
  predicted_re_.assign(samples, 0.0);
  predicted_im_.assign(real() ? 0 : samples, 0.0);
  cpu::WaveGrid grid{{1, 1, 1}, shape_.rank()};
  cpu::WavePoints anchors{{}, anchors_.count};
  cpu::WavePoints offsets{{}, kOffsets};
  for (int d = 0; d < shape_.rank(); ++d) {
    grid.extents[d] = static_cast<double>(shape_[d]);
    anchors.at[d] = anchors_.at[d].data();
    offsets.at[d] = offsets_.at[d].data();
  }
  const double share = 1 / static_cast<double>(shape_.points());
  std::vector<double> f[3], value_re(kWavesAtOnce), value_im(kWavesAtOnce);
  for (int d = 0; d < shape_.rank(); ++d) f[d].resize(kWavesAtOnce);
  const auto first = static_cast<std::size_t>(anchors_.count) * kWavesAtOnce;
  const auto second = static_cast<std::size_t>(kOffsets) * kWavesAtOnce;
  std::vector<double> tables(2 * (first + second));
  double* first_im = tables.data() + first;
  double* second_re = first_im + first;
  double* second_im = second_re + second;
  for (std::size_t start = 0; start < components.size(); start += kWavesAtOnce) {
    const std::size_t count = std::min(kWavesAtOnce, components.size() - start);
    for (std::size_t i = 0; i < count; ++i) {
      const DiscoveryComponent& component = components[start + i];
      for (int d = 0; d < shape_.rank(); ++d)
        f[d][i] = static_cast<double>(component.f[static_cast<std::size_t>(d)]);
      value_re[i] = share * component.value.real();
      value_im[i] = share * component.value.imag();
    }
    const auto waves = static_cast<std::int64_t>(count);
    const cpu::WavePoints frequencies{{f[0].data(), f[1].data(), f[2].data()}, waves};
    kernels.roots(frequencies, value_re.data(), value_im.data(), anchors, grid, tables.data(), first_im);
    kernels.roots(frequencies, nullptr, nullptr, offsets, grid, second_re, second_im);
    kernels.sums({tables.data(), first_im, second_re, second_im, waves, anchors_.count}, predicted_re_.data(),
                 real() ? nullptr : predicted_im_.data());
  }
}

template <class Real>
WitnessReport DiscoveryWitness<Real>::judge(const std::vector<DiscoveryComponent>& components,
                                            const WitnessClaim& claim) const {
  WitnessReport report;
  report.samples = anchors_.count * kOffsets;
  const auto samples = static_cast<double>(report.samples);
  const auto points = static_cast<double>(shape_.points());
  double variance = 0;
  for (const DiscoveryComponent& component : components) variance += component.variance;
  const double expected = (claim.tail_energy + variance) / (points * points);
  // Gaussian noise of that power has no larger sample, except as a false alarm.
  const double exponent = std::log(samples * kFalseAlarms);
  const double max = (1 + kTailDoubt) * expected * (real() ? 2 * exponent : exponent);
  // The sample itself and the sum of the waves are rounded.
  constexpr double kOwn = 4 * std::numeric_limits<Real>::epsilon();
  const auto& kernels = cpu::wave_kernels<Real>();
  cpu::WaveRest rest;
  const auto lanes = static_cast<std::int64_t>(seen_re_.size());
  if (real()) {
    kernels.compare(seen_re_.data(), nullptr, predicted_re_.data(), nullptr, lanes, max, kOwn * kOwn, rest);
    kernels.compare(seen_im_.data(), nullptr, predicted_re_.data() + lanes, nullptr, lanes, max, kOwn * kOwn,
                    rest);
  } else {
    kernels.compare(seen_re_.data(), seen_im_.data(), predicted_re_.data(), predicted_im_.data(), lanes, max,
                    kOwn * kOwn, rest);
  }
  report.finite = std::isfinite(rest.seen);
  const double mean = rest.energy / samples;
  report.tail_energy = mean * points * points;
  report.agrees = report.finite && rest.outliers == 0;
  if (!report.agrees) {
    report.reason = "scattered samples are not what the frequencies found say";
    return report;
  }
  if (!claim.noisy) return report;
  // Noise must be as strong as the rounds said, and evenly spread.
  const double deviation = std::sqrt((real() ? 2.0 : 1.0) / samples);
  const double doubt = 1 + kTailDoubt + kChance * deviation;
  if (mean > doubt * expected || expected > doubt * doubt * mean) {
    report.agrees = false;
    report.reason = "scattered samples show another noise than the rounds";
    return report;
  }
  const double shape = rest.squares / samples / (mean * mean);
  const double even = real() ? 3 : 2;
  const double uneven = std::sqrt((real() ? 96.0 : 20.0) / samples);
  if (!all_ && shape > even + kChance * uneven) {
    report.agrees = false;
    report.reason = "what the frequencies leave comes in bursts or pulses";
  }
  return report;
}

/// Parseval: N Σ|x|² is the energy of the components and the tail. Folded under random phases, the residual
/// has the energy of the tail and of the values' errors.
template <class Real>
void DiscoveryWitness<Real>::compare_whole(const std::vector<DiscoveryComponent>& components,
                                           const WitnessClaim& claim, DiscoveryRandom& random,
                                           WitnessReport& report) {
  const RandomFold fold(shape_, random);
  const std::optional<WholeSignal> whole = signal_.whole(1, fold);
  if (!whole) return;
  const auto points = static_cast<double>(shape_.points());
  const double all = points * whole->energy;
  report.finite = std::isfinite(all);
  double held = 0, doubt = 0, variance = 0;
  for (const DiscoveryComponent& component : components) {
    held += std::norm(component.value);
    doubt += std::norm(component.value) * component.variance;
    variance += component.variance;
  }
  const double tail = report.tail_energy;
  const double tail_doubt =
      tail * kChance * 2 * std::sqrt(1 / points + 1 / static_cast<double>(report.samples));
  // Rounding of the values and of the sum over all samples.
  constexpr double kOwn = 4 * std::numeric_limits<Real>::epsilon();
  const double rounding = (kOwn + 0x1p-53 * std::sqrt(points) / 4) * all;
  const double limit = 2 * kChance * std::sqrt(doubt) + tail_doubt + rounding;
  const std::vector<std::complex<double>> explained = fold.cells(components);
  double rest = 0;
  for (std::size_t i = 0; i < explained.size(); ++i)
    rest += std::norm(std::complex<double>(whole->re[i], whole->im[i]) - explained[i]);
  // The scattered samples may estimate the tail better than the rounds. Rounding is added for the cells,
  // which are sums of products of roots in double precision, and for the samples.
  constexpr double kRoots = 128 * std::numeric_limits<double>::epsilon();
  const double expected = (claim.tail_energy + variance) / points;
  const double seen =
      std::max(expected, report.tail_energy / points) + (kOwn * kOwn + kRoots * kRoots) * whole->energy;
  report.whole_agrees = report.finite && std::fabs(all - held - tail) <= limit &&
                        rest <= (1 + kFoldDoubt + kFoldChance * fold.chance(real())) * seen;
  report.agrees = report.whole_agrees;
  report.tail_energy = std::max(report.tail_energy, points * rest);
  report.excess = std::max(0.0, rest - expected);
  if (!report.agrees)
    report.reason = "the signal as a whole is not what the frequencies found and noise make";
}

template <class Real>
WitnessReport DiscoveryWitness<Real>::examine(const std::vector<DiscoveryComponent>& components,
                                              const WitnessClaim& claim, std::int64_t samples,
                                              double confidence, bool everything, DiscoveryRandom& random) {
  draw(samples, random);
  read();
  predict(components);
  WitnessReport report = judge(components, claim);
  report.unseen_share = all_ ? 0 : witness_share(confidence, report.samples);
  if (report.agrees && everything) compare_whole(components, claim, random, report);
  return report;
}

template class DiscoveryWitness<float>;
template class DiscoveryWitness<double>;

}  // namespace sfft::detail
