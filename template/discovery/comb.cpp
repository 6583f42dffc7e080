// SPDX-License-Identifier: Apache-2.0
// One round of combs: measures the power of every bucket, estimates the noise from these powers, and calls
// explain() for each bucket that stands out. explain.cpp and check.cpp define the rest of the class.
#include "template/discovery/comb.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/stages/bucket_power.hpp"
#include "kernels/cpu/stages/hash.hpp"
#include "kernels/cpu/stages/locate.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

template <class Real>
constexpr double kEpsilon = std::numeric_limits<Real>::epsilon();

/// Power of an empty bucket if more than half of all buckets are above rounding: a low quantile of all
/// powers, divided by the same quantile of the mean of `delays` unit exponentials (Wilson and Hilferty 1931).
template <class Real>
double noise_by_quantile(const std::vector<Real>& power, std::int64_t delays) {
  constexpr std::size_t kMax = 4096;
  const std::size_t step = std::max<std::size_t>(1, power.size() / kMax);
  std::vector<Real> some;
  some.reserve(power.size() / step + 1);
  for (std::size_t b = 0; b < power.size(); b += step) some.push_back(power[b]);
  constexpr double kNormal = -0.5244;  // the standard normal's quantile of 0.3
  const auto at = some.begin() + static_cast<std::ptrdiff_t>(0.3 * static_cast<double>(some.size()));
  std::nth_element(some.begin(), at, some.end());
  const double ninth = 1 / (9 * static_cast<double>(delays));
  const double quantile = std::pow(std::max(0.05, 1 - ninth + kNormal * std::sqrt(ninth)), 3);
  return static_cast<double>(*at) / (static_cast<double>(delays) * quantile);
}

}  // namespace

template <class Real>
void DiscoveryComb<Real>::file_members(const CombGrid& grid,
                                       const std::vector<DiscoveryComponent>& components) {
  first_.assign(static_cast<std::size_t>(grid.count), -1);
  next_.assign(components.size(), -1);
  bucket_.resize(components.size());
  // Divisions dominate the cost of this loop; in the common case a mask suffices.
  const std::int64_t mask = grid.count - 1;
  const bool masked = shape_.rank() == 1 && (grid.count & mask) == 0;
  occupied_ = 0;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const GridPoint& f = components[i].f;
    const std::int64_t bucket = masked ? f[0] & mask : cpu::hash(f, grid.buckets);
    bucket_[i] = static_cast<std::int32_t>(bucket);
    std::int32_t& head = first_[static_cast<std::size_t>(bucket)];
    next_[i] = head;
    occupied_ += head < 0 ? 1 : 0;
    head = static_cast<std::int32_t>(i);
  }
}

template <class Real>
void DiscoveryComb<Real>::measure_power(const BucketValues<Real>& values, bool add) {
  if (!add) power_.assign(static_cast<std::size_t>(values.buckets), Real(0));
  cpu::bucket_power_kernels<Real>().add_power(values.re, values.im, values.buckets, values.delays,
                                              power_.data());
}

/// Estimates the noise from power_ and counts the significant buckets. `min` is the rounding that power_ does
/// not reveal.
template <class Real>
void DiscoveryComb<Real>::judge_noise(const CombGrid& grid, std::int64_t delays, std::int64_t known,
                                      double min, DiscoveryRound& round) {
  const double scale = static_cast<double>(shape_.points()) / static_cast<double>(grid.count);
  const double unit = scale * scale;
  // Four partial sums, because additions to a single sum would wait for each other.
  double part[4] = {};
  const std::size_t whole = power_.size() / 4 * 4;
  for (std::size_t b = 0; b < whole; b += 4) {
    for (std::size_t i = 0; i < 4; ++i) part[i] += static_cast<double>(power_[b + i]);
  }
  for (std::size_t b = whole; b < power_.size(); ++b) part[0] += static_cast<double>(power_[b]);
  const double sum = part[0] + part[1] + part[2] + part[3];
  round.total_energy = sum * unit / static_cast<double>(delays);
  round.finite = std::isfinite(round.total_energy);
  if (!round.finite) return;
  confidence_ = std::log(kRoundsPerMistake * static_cast<double>(grid.count));
  const double rounding = kRoundingShare * kEpsilon<Real>;
  round.rounding = std::max(min, rounding * rounding * round.total_energy);
  round.noise = round.rounding;
  const double excess = exceedance(delays, confidence_);
  const auto count_above = [&](double noise) {
    const auto limit = static_cast<Real>(noise * excess * static_cast<double>(delays) / unit);
    std::int64_t count = 0;
    for (const Real p : power_) count += p > limit ? 1 : 0;
    return count;
  };
  round.significant = count_above(round.noise);
  // If most buckets are at rounding level, rounding is the noise.
  if (2 * (round.significant - known) > grid.count) {
    round.noise = std::max(round.rounding, noise_by_quantile(power_, delays) * unit);
    round.significant = count_above(round.noise);
  }
  round.missed_power = round.noise * excess;
}

template <class Real>
void DiscoveryComb<Real>::phases(const GridPoint& f, const DelayPattern& pattern,
                                 DiscoveryVector& roots) const {
  const auto turns = [&](const GridPoint& delay) {
    double sum = 0;
    for (int d = 0; d < shape_.rank(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      sum += turns_of(f[at], delay[at], shape_[d]);
    }
    return sum;
  };
  const std::size_t count = pattern.delays.size();
  if (pattern.kind != DelayPattern::Kind::run) {
    for (std::size_t j = 0; j < count; ++j) roots[j] = root_of_turns(turns(pattern.delays[j]));
    return;
  }
  const Complex step = root_of_turns(turns_of(f[0], pattern.step, shape_[0]));
  roots[0] = root_of_turns(turns(pattern.delays[0]));
  for (std::size_t j = 1; j < count; ++j) roots[j] = times(roots[j - 1], step);
}

template <class Real>
DiscoveryRound DiscoveryComb<Real>::solve(const CombGrid& grid, const DelayPattern& pattern,
                                          std::vector<DiscoveryComponent>& components) {
  DiscoveryRound round;
  const BucketValues<Real> values = sampler_.comb(grid.buckets, pattern.delays);
  measure_power(values, false);
  judge_noise(grid, values.delays, 0, 0, round);
  if (!round.finite) return round;
  std::vector<DiscoveryComponent> found;
  explain_all(grid, pattern, values, components, round, found);
  if (!round.crowded) components = std::move(found);
  return round;
}

template <class Real>
DiscoveryRound DiscoveryComb<Real>::peel(const CombGrid& grid, const DelayPattern& pattern,
                                         std::vector<DiscoveryComponent>& components) {
  DiscoveryRound whole;
  const BucketValues<Real> values = sampler_.comb(grid.buckets, pattern.delays);
  measure_power(values, false);
  judge_noise(grid, values.delays, 0, 0, whole);
  if (!whole.finite) return whole;
  subtract(grid, pattern, values, components);
  DiscoveryRound round;
  measure_power(values, false);
  judge_noise(grid, values.delays, 0, whole.rounding, round);
  round.total_energy = whole.total_energy;
  std::vector<DiscoveryComponent> found;
  if (round.finite) explain_all(grid, pattern, values, {}, round, found);
  for (const DiscoveryComponent& component : found) {
    const auto same = std::find_if(components.begin(), components.end(),
                                   [&](const DiscoveryComponent& known) { return known.f == component.f; });
    if (same == components.end()) {
      components.push_back(component);
    } else {
      same->value += component.value;
    }
  }
  return round;
}

template <class Real>
void DiscoveryComb<Real>::subtract(const CombGrid& grid, const DelayPattern& pattern,
                                   const BucketValues<Real>& values,
                                   const std::vector<DiscoveryComponent>& components) {
  tabulate_roots(pattern, components);
  const std::size_t count = components.size();
  const auto delays = static_cast<std::size_t>(values.delays);
  const double share = static_cast<double>(grid.count) / static_cast<double>(shape_.points());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(cpu::hash(components[i].f, grid.buckets)) * delays;
    const Complex value = share * components[i].value;
    for (std::size_t j = 0; j < delays; ++j) {
      const Complex seen = times(value, {roots_re_[i * delays + j], roots_im_[i * delays + j]});
      values.re[at + j] -= static_cast<Real>(seen.real());
      values.im[at + j] -= static_cast<Real>(seen.imag());
    }
  }
}

/// Explains every bucket that stands out or has known components, and collects this round's components in
/// `found`.
template <class Real>
void DiscoveryComb<Real>::explain_all(const CombGrid& grid, const DelayPattern& pattern,
                                      const BucketValues<Real>& values,
                                      const std::vector<DiscoveryComponent>& components,
                                      DiscoveryRound& round, std::vector<DiscoveryComponent>& found) {
  // Time to explain a bucket from its phases, and for each candidate that a search for pairs tries.
  constexpr double kExplainUs = 0.3, kCandidateUs = 0.02, kGridCandidateUs = 0.4;
  work_us_ = 0;
  file_members(grid, components);
  const auto delays = static_cast<int>(values.delays);
  const double scale = static_cast<double>(shape_.points()) / static_cast<double>(grid.count);
  const auto limit = static_cast<Real>(round.missed_power * delays / (scale * scale));
  round.crowded = 2 * round.significant > grid.count;
  const bool noisy = round.noise > 4 * round.rounding;
  if (noisy && round.significant > most_significant_) round.crowded = true;
  if (round.crowded) {
    // If too many buckets are full, explaining them would reveal nothing.
    round.unresolved = round.significant;
    return;
  }
  // The search may take about as long as reading the round's samples. Exact signals are better peeled, and
  // are searched only with random delays: the steps of a ladder are often all even and then hardly
  // distinguish frequencies that differ only in their highest bits.
  const bool search = exhaustive_ && pattern.kind == DelayPattern::Kind::random;
  searches_ = noisy    ? std::max<std::int64_t>(grid.count, 2048)
              : search ? 3 * (shape_.points() / grid.count)
                       : 0;
  found.reserve(components.size() + static_cast<std::size_t>(round.significant));
  round.weakest = std::numeric_limits<double>::infinity();
  std::vector<std::int32_t> look;
  look.reserve(static_cast<std::size_t>(round.significant) + components.size());
  Real weakest = std::numeric_limits<Real>::infinity();
  for (std::int64_t b = 0; b < grid.count; ++b) {
    const Real power = power_[static_cast<std::size_t>(b)];
    if (power > limit) weakest = std::min(weakest, power);
    if (power > limit || first_[static_cast<std::size_t>(b)] >= 0)
      look.push_back(static_cast<std::int32_t>(b));
  }
  round.weakest = static_cast<double>(weakest) * scale * scale / delays;
  const bool neighbours =
      pattern.kind == DelayPattern::Kind::run && pattern.step == 1 && delays == cpu::kRunDelays &&
      components.empty() &&
      static_cast<double>(shape_[0]) * static_cast<double>(pattern.delays[0][0] + 1) < 0x1p53;
  if (neighbours) explain_neighbours(grid, pattern, values, round, found, look);
  round.added = static_cast<std::int64_t>(found.size());
  for (std::size_t at = 0; at < look.size(); ++at) {
    const std::int32_t b = look[at];
    const auto seen = static_cast<std::int64_t>(found.size()) + round.unresolved;
    if (noisy && seen > most_significant_) {
      // This is already more than the driver accepts.
      round.unresolved += static_cast<std::int64_t>(look.size() - at);
      break;
    }
    const std::int32_t head = first_[static_cast<std::size_t>(b)];
    DiscoveryVector y;
    for (int j = 0; j < delays; ++j) y[j] = scale * values.at(b, j);
    std::int64_t known = 0;
    for (std::int32_t i = head; i >= 0; i = next_[static_cast<std::size_t>(i)]) ++known;
    const std::size_t before = found.size();
    const std::int64_t searches = searches_;
    const bool explained =
        work_us_ <= limit_us_ && explain({grid, pattern, b}, y, neighbours ? 2 : 1, round, components, found);
    work_us_ += kExplainUs + (shape_.rank() > 1 ? kGridCandidateUs : kCandidateUs) *
                                 static_cast<double>(searches - searches_);
    if (!explained) {
      ++round.unresolved;
      for (std::int32_t i = head; i >= 0; i = next_[static_cast<std::size_t>(i)])
        found.push_back(components[static_cast<std::size_t>(i)]);
      continue;
    }
    // Values that do not exceed the noise are false detections.
    const double min = confidence_ * round.noise / delays;
    const auto own = found.begin() + static_cast<std::ptrdiff_t>(before);
    found.erase(std::remove_if(own, found.end(),
                               [&](const DiscoveryComponent& c) {
                                 return std::norm(c.value) < std::max(min, confidence_ * c.variance);
                               }),
                found.end());
    for (std::size_t i = before; i < found.size(); ++i) {
      bool old = false;
      for (std::int32_t c = head; c >= 0; c = next_[static_cast<std::size_t>(c)])
        old = old || components[static_cast<std::size_t>(c)].f == found[i].f;
      if (!old) ++round.added;
    }
    round.dropped += std::max<std::int64_t>(0, known - static_cast<std::int64_t>(found.size() - before));
  }
}

/// The common case of a first round, for many buckets at once: removes the buckets that one frequency
/// explains from `left` and appends these frequencies to `found`.
template <class Real>
void DiscoveryComb<Real>::explain_neighbours(const CombGrid& grid, const DelayPattern& pattern,
                                             const BucketValues<Real>& values, const DiscoveryRound& round,
                                             std::vector<DiscoveryComponent>& found,
                                             std::vector<std::int32_t>& left) {
  const std::size_t count = left.size();
  singles_.resize(5 * count);
  double* of[5];
  for (std::size_t i = 0; i < 5; ++i) of[i] = singles_.data() + i * count;
  const cpu::RunGeometry geometry{static_cast<double>(shape_[0]), static_cast<double>(grid.buckets[0]),
                                  static_cast<double>(grid.strides[0]),
                                  static_cast<double>(pattern.delays[0][0]),
                                  static_cast<double>(grid.strides[0])};
  cpu::locate_kernels<Real>().explain_run(values.re, values.im, left.data(), static_cast<std::int64_t>(count),
                                          geometry, {of[0], of[1], of[2], of[3], of[4]});
  const double noise_limit = residual_limit(round, static_cast<int>(cpu::kRunDelays) - 1, 0);
  constexpr double kOwn = kOwnRounding * kEpsilon<Real>;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (of[4][i] <= noise_limit + kOwn * kOwn * of[3][i]) {
      found.push_back({{static_cast<std::int64_t>(of[0][i]), 0, 0},
                       {of[1][i], of[2][i]},
                       noise_of_bucket(round, of[4][i], static_cast<int>(cpu::kRunDelays) - 1) /
                           static_cast<double>(cpu::kRunDelays)});
    } else {
      left[kept++] = left[i];
    }
  }
  left.resize(kept);
}

template class DiscoveryComb<float>;
template class DiscoveryComb<double>;

}  // namespace sfft::detail
