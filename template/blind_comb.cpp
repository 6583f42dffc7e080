#include "template/blind_comb.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/common/turns.hpp"
#include "kernels/cpu/bucket_power.hpp"
#include "kernels/cpu/hash.hpp"
#include "kernels/cpu/locate.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

template <class Real>
constexpr double kEpsilon = std::numeric_limits<Real>::epsilon();

GridPoint bucket_coordinates(std::int64_t bucket, const GridPoint& buckets) {
  return {bucket / (buckets[1] * buckets[2]), bucket / buckets[2] % buckets[1], bucket % buckets[2]};
}

/// Empty buckets' power when more than half of them hold noise: a low quantile of all, undone by what that
/// quantile is of a mean of `count` exponentials (Wilson and Hilferty 1931).
template <class Real>
double noise_by_quantile(const std::vector<Real>& power, std::int64_t delays) {
  constexpr std::size_t kMost = 4096;
  const std::size_t step = std::max<std::size_t>(1, power.size() / kMost);
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
void BlindComb<Real>::file_members(const CombGrid& grid, const std::vector<BlindComponent>& components) {
  first_.assign(static_cast<std::size_t>(grid.count), -1);
  next_.assign(components.size(), -1);
  bucket_.resize(components.size());
  // Divisions are what this loop costs, and a mask is the common case.
  const std::int64_t mask = grid.count - 1;
  const bool masked = shape_.rank() == 1 && (grid.count & mask) == 0;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const GridPoint& f = components[i].f;
    const std::int64_t bucket = masked ? f[0] & mask : cpu::hash(f, grid.buckets);
    bucket_[i] = static_cast<std::int32_t>(bucket);
    std::int32_t& head = first_[static_cast<std::size_t>(bucket)];
    next_[i] = head;
    head = static_cast<std::int32_t>(i);
  }
}

template <class Real>
void BlindComb<Real>::measure_power(const BucketValues<Real>& values, bool add) {
  if (!add) power_.assign(static_cast<std::size_t>(values.buckets), Real(0));
  cpu::bucket_power_kernels<Real>().add_power(values.re, values.im, values.buckets, values.delays,
                                              power_.data());
}

/// Tells the noise from power_ and counts the significant buckets. `least` is rounding that power_ does not
/// show.
template <class Real>
void BlindComb<Real>::judge_noise(const CombGrid& grid, std::int64_t delays, std::int64_t known, double least,
                                  BlindRound& round) {
  const double scale = static_cast<double>(shape_.points()) / static_cast<double>(grid.count);
  const double unit = scale * scale;
  // Four sums: one would wait for itself at every term.
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
  round.rounding = std::max(least, rounding * rounding * round.total_energy);
  round.noise = round.rounding;
  const double excess = exceedance(delays, confidence_);
  const auto count_above = [&](double noise) {
    const auto limit = static_cast<Real>(noise * excess * static_cast<double>(delays) / unit);
    std::int64_t count = 0;
    for (const Real p : power_) count += p > limit ? 1 : 0;
    return count;
  };
  round.significant = count_above(round.noise);
  // With most buckets at rounding, rounding is the noise.
  if (2 * (round.significant - known) > grid.count) {
    round.noise = std::max(round.rounding, noise_by_quantile(power_, delays) * unit);
    round.significant = count_above(round.noise);
  }
  round.missed_power = round.noise * excess;
}

template <class Real>
void BlindComb<Real>::phases(const GridPoint& f, const DelayPattern& pattern, BlindVector& roots) const {
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

/// The `order` frequencies of the bucket that the phases point to; 0 when they point nowhere.
template <class Real>
int BlindComb<Real>::locate(const CombGrid& grid, const DelayPattern& pattern, std::int64_t bucket,
                            const BlindVector& y, int order, GridPoint* f) const {
  const GridPoint b = bucket_coordinates(bucket, grid.buckets);
  // From a share of a turn along one dimension to the nearest frequency that the bucket may hold.
  const auto snap = [&](std::size_t d, double turns, std::int64_t step, std::int64_t inverse) {
    const std::int64_t stride = grid.strides[d];
    const double own = turns_of(b[d], step, shape_[static_cast<int>(d)]);
    const auto g = static_cast<std::int64_t>(std::floor((turns - own) * static_cast<double>(stride) + 0.5));
    return b[d] + grid.buckets[d] * multiply_mod(floor_mod(g, stride), inverse, stride);
  };
  if (pattern.kind == DelayPattern::Kind::run) {
    double turns[kPronyFrequencies];
    if (!prony(y, static_cast<int>(pattern.delays.size()), order, turns)) return 0;
    for (int i = 0; i < order; ++i) {
      f[i] = {snap(0, turns[i], pattern.step, pattern.inverse), 0, 0};
      for (int l = 0; l < i; ++l) {
        if (f[l] == f[i]) return 0;
      }
    }
    return order;
  }
  if (order != 1 || pattern.kind != DelayPattern::Kind::ladder) return 0;
  f[0] = b;
  for (std::size_t d = 0; d < 3; ++d) {
    if (pattern.rungs[d].empty()) continue;
    double turns = 0;
    bool coarse = true;
    for (const DelayPattern::Rung& rung : pattern.rungs[d]) {
      const Complex z = times_conj(y[rung.delay], y[0]);
      const double seen = std::atan2(z.imag(), z.real()) / (2 * std::numbers::pi);
      const auto step = static_cast<double>(rung.step);
      turns = coarse ? seen : (std::floor(step * turns - seen + 0.5) + seen) / step;
      coarse = false;
    }
    f[0][d] = snap(d, turns - std::floor(turns), 1, 1);
  }
  return 1;
}

/// Of all frequencies of the bucket the one that y has most of.
template <class Real>
GridPoint BlindComb<Real>::strongest(const CombGrid& grid, const DelayPattern& pattern, std::int64_t bucket,
                                     const BlindVector& y) const {
  const GridPoint b = bucket_coordinates(bucket, grid.buckets);
  const auto last = static_cast<std::size_t>(shape_.rank() - 1);
  double y_re[cpu::kRunDelays], y_im[cpu::kRunDelays];
  cpu::CandidateLine line;
  for (std::size_t j = 0; j < cpu::kRunDelays; ++j) {
    y_re[j] = y[j].real();
    y_im[j] = y[j].imag();
    const Complex step = root_of_turns(turns_of(grid.buckets[last] % shape_[static_cast<int>(last)],
                                                pattern.delays[j][last], shape_[static_cast<int>(last)]));
    line.step_re[j] = step.real();
    line.step_im[j] = step.imag();
  }
  const auto correlate = cpu::locate_kernels<Real>().correlate;
  GridPoint best = b;
  double most = -1;
  const std::int64_t outer0 = last > 0 ? grid.strides[0] : 1;
  const std::int64_t outer1 = last > 1 ? grid.strides[1] : 1;
  for (std::int64_t g0 = 0; g0 < outer0; ++g0) {
    for (std::int64_t g1 = 0; g1 < outer1; ++g1) {
      GridPoint f = b;
      if (last > 0) f[0] += grid.buckets[0] * g0;
      if (last > 1) f[1] += grid.buckets[1] * g1;
      BlindVector roots;
      phases(f, pattern, roots);
      for (std::size_t j = 0; j < cpu::kRunDelays; ++j) {
        line.base_re[j] = roots[j].real();
        line.base_im[j] = roots[j].imag();
      }
      double power = 0;
      const std::int64_t g = correlate(y_re, y_im, line, grid.strides[last], power);
      if (power <= most) continue;
      most = power;
      best = f;
      best[last] += grid.buckets[last] * g;
    }
  }
  return best;
}

/// Two frequencies of a bucket by trying all candidates: the strongest, the strongest of what that leaves,
/// and each again given the other. For noise, where linear prediction fails.
template <class Real>
bool BlindComb<Real>::search_pair(const CombGrid& grid, const DelayPattern& pattern, std::int64_t bucket,
                                  const BlindVector& y, GridPoint* f) const {
  constexpr int kSweeps = 3;
  constexpr auto kDelays = static_cast<int>(cpu::kRunDelays);
  BlindVector roots[2];
  BlindVector rest;
  f[0] = strongest(grid, pattern, bucket, y);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (int own = 1; own >= 0; --own) {
      // Without what the other explains of y.
      const int other = 1 - own;
      phases(f[other], pattern, roots[other]);
      Complex value = 0;
      if (sweep == 0) {
        value = fit_bucket(1, kDelays, &roots[other], y).values[0];
      } else {
        const BlindFit fit = fit_bucket(2, kDelays, roots, y);
        if (!fit.ok) return false;
        value = fit.values[other];
      }
      for (int j = 0; j < kDelays; ++j) rest[j] = y[j] - times(value, roots[other][j]);
      f[own] = strongest(grid, pattern, bucket, rest);
      phases(f[own], pattern, roots[own]);
      if (f[own] == f[other]) return false;
      if (sweep == 0 && own == 1) {
        const BlindFit fit = fit_bucket(2, kDelays, roots, y);
        if (!fit.ok) return false;
      }
    }
  }
  return true;
}

template <class Real>
double BlindComb<Real>::residual_limit(const BlindRound& round, int freedom, double energy) const {
  // Values are read from single-precision buckets: their own rounding grows with what is in the bucket.
  constexpr double kOwn = kOwnRounding * kEpsilon<Real>;
  return freedom * round.noise * exceedance(freedom, confidence_) + kOwn * kOwn * energy;
}

/// Appends the bucket's explanation to `found`; false when there is none.
template <class Real>
bool BlindComb<Real>::explain(const CombGrid& grid, const DelayPattern& pattern, std::int64_t bucket,
                              const BlindVector& y, const BlindRound& round,
                              const std::vector<BlindComponent>& components,
                              std::vector<BlindComponent>& found) {
  const int delays = static_cast<int>(pattern.delays.size());
  double energy = 0;
  for (int j = 0; j < delays; ++j) energy += std::norm(y[j]);
  GridPoint f[kBlindMembers];
  BlindVector roots[kBlindMembers];
  const auto accept = [&](int members) {
    const BlindFit fit = fit_bucket(members, delays, roots, y);
    if (!fit.ok || !(fit.residual <= residual_limit(round, delays - members, energy))) return false;
    for (int i = 0; i < members; ++i) found.push_back({f[i], fit.values[i], fit.gain[i] * round.noise});
    return true;
  };

  int known = 0;
  for (std::int32_t i = first_[static_cast<std::size_t>(bucket)]; i >= 0;
       i = next_[static_cast<std::size_t>(i)]) {
    if (known == kBlindMembers) return false;
    f[known++] = components[static_cast<std::size_t>(i)].f;
  }
  if (known > delays - 2) return false;
  for (int i = 0; i < known; ++i) phases(f[i], pattern, roots[i]);
  if (known > 0 && accept(known)) return true;
  // What the known leave: one more frequency.
  if (known > 0 && known + 1 <= std::min(delays - 2, kBlindMembers)) {
    BlindVector rest;
    std::copy(y, y + delays, rest);
    for (std::int32_t i = first_[static_cast<std::size_t>(bucket)], at = 0; i >= 0;
         i = next_[static_cast<std::size_t>(i)], ++at) {
      const Complex value = components[static_cast<std::size_t>(i)].value;
      for (int j = 0; j < delays; ++j) rest[j] -= times(value, roots[at][j]);
    }
    if (locate(grid, pattern, bucket, rest, 1, &f[known]) == 1 &&
        std::find(f, f + known, f[known]) == f + known) {
      phases(f[known], pattern, roots[known]);
      if (accept(known + 1)) return true;
    }
  }
  for (int order = 1; order <= std::min(kPronyFrequencies, delays - 2); ++order) {
    if (locate(grid, pattern, bucket, y, order, f) != order) continue;
    for (int i = 0; i < order; ++i) phases(f[i], pattern, roots[i]);
    if (accept(order)) return true;
  }
  // Every candidate is looked at seven times; not worth it where they are many.
  const std::int64_t candidates = shape_.points() / grid.count;
  if (known > 0 || pattern.kind != DelayPattern::Kind::ladder || delays != cpu::kRunDelays ||
      searches_ < candidates)
    return false;
  searches_ -= candidates;
  if (!search_pair(grid, pattern, bucket, y, f)) return false;
  for (int i = 0; i < 2; ++i) phases(f[i], pattern, roots[i]);
  return accept(2);
}

template <class Real>
BlindRound BlindComb<Real>::solve(const CombGrid& grid, const DelayPattern& pattern,
                                  std::vector<BlindComponent>& components) {
  BlindRound round;
  const BucketValues<Real> values = sampler_.comb(grid.buckets, pattern.delays);
  measure_power(values, false);
  judge_noise(grid, values.delays, 0, 0, round);
  if (!round.finite) return round;
  std::vector<BlindComponent> found;
  explain_all(grid, pattern, values, components, round, found);
  if (!round.crowded) components = std::move(found);
  return round;
}

template <class Real>
BlindRound BlindComb<Real>::peel(const CombGrid& grid, const DelayPattern& pattern,
                                 std::vector<BlindComponent>& components) {
  BlindRound whole;
  const BucketValues<Real> values = sampler_.comb(grid.buckets, pattern.delays);
  measure_power(values, false);
  judge_noise(grid, values.delays, 0, 0, whole);
  if (!whole.finite) return whole;
  subtract(grid, pattern, values, components);
  BlindRound round;
  measure_power(values, false);
  judge_noise(grid, values.delays, 0, whole.rounding, round);
  round.total_energy = whole.total_energy;
  std::vector<BlindComponent> found;
  if (round.finite) explain_all(grid, pattern, values, {}, round, found);
  for (const BlindComponent& component : found) {
    const auto same = std::find_if(components.begin(), components.end(),
                                   [&](const BlindComponent& known) { return known.f == component.f; });
    if (same == components.end()) {
      components.push_back(component);
    } else {
      same->value += component.value;
    }
  }
  return round;
}

template <class Real>
void BlindComb<Real>::subtract(const CombGrid& grid, const DelayPattern& pattern,
                               const BucketValues<Real>& values,
                               const std::vector<BlindComponent>& components) {
  tabulate_roots(pattern, components);
  const std::size_t count = components.size();
  const auto delays = static_cast<std::size_t>(values.delays);
  const double share = static_cast<double>(grid.count) / static_cast<double>(shape_.points());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(cpu::hash(components[i].f, grid.buckets)) * delays;
    const Complex value = share * components[i].value;
    for (std::size_t j = 0; j < delays; ++j) {
      const Complex seen = times(value, {roots_re_[j * count + i], roots_im_[j * count + i]});
      values.re[at + j] -= static_cast<Real>(seen.real());
      values.im[at + j] -= static_cast<Real>(seen.imag());
    }
  }
}

/// Everything that stands out or is known: `found` becomes the components as this round sees them.
template <class Real>
void BlindComb<Real>::explain_all(const CombGrid& grid, const DelayPattern& pattern,
                                  const BucketValues<Real>& values,
                                  const std::vector<BlindComponent>& components, BlindRound& round,
                                  std::vector<BlindComponent>& found) {
  file_members(grid, components);
  const auto delays = static_cast<int>(values.delays);
  const double scale = static_cast<double>(shape_.points()) / static_cast<double>(grid.count);
  const auto limit = static_cast<Real>(round.missed_power * delays / (scale * scale));
  round.crowded = 2 * round.significant > grid.count;
  const bool noisy = round.noise > 4 * round.rounding;
  if (noisy && round.significant > most_significant_) round.crowded = true;
  if (round.crowded) {
    // Nothing to be made of buckets that are nearly all full.
    round.unresolved = round.significant;
    return;
  }
  // As long as reading the round's samples took, or so. Exact signals are better peeled.
  searches_ = noisy       ? std::max<std::int64_t>(grid.count, 2048)
              : stubborn_ ? 3 * (shape_.points() / grid.count)
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
  for (const std::int32_t b : look) {
    const std::int32_t head = first_[static_cast<std::size_t>(b)];
    BlindVector y;
    for (int j = 0; j < delays; ++j) y[j] = scale * values.at(b, j);
    std::int64_t known = 0;
    for (std::int32_t i = head; i >= 0; i = next_[static_cast<std::size_t>(i)]) ++known;
    const std::size_t before = found.size();
    if (!explain(grid, pattern, b, y, round, components, found)) {
      ++round.unresolved;
      for (std::int32_t i = head; i >= 0; i = next_[static_cast<std::size_t>(i)])
        found.push_back(components[static_cast<std::size_t>(i)]);
      continue;
    }
    // Values that are no more than noise were never there.
    const double least = confidence_ * round.noise / delays;
    const auto own = found.begin() + static_cast<std::ptrdiff_t>(before);
    found.erase(std::remove_if(own, found.end(),
                               [&](const BlindComponent& c) {
                                 return std::norm(c.value) < std::max(least, confidence_ * c.variance);
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

/// The first round's common case, many buckets at once: of `left`, moves those that one frequency explains to
/// `found`.
template <class Real>
void BlindComb<Real>::explain_neighbours(const CombGrid& grid, const DelayPattern& pattern,
                                         const BucketValues<Real>& values, const BlindRound& round,
                                         std::vector<BlindComponent>& found,
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
                       round.noise / static_cast<double>(cpu::kRunDelays)});
    } else {
      left[kept++] = left[i];
    }
  }
  left.resize(kept);
}

template class BlindComb<float>;
template class BlindComb<double>;

}  // namespace sfft::detail
