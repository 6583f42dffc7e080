// SPDX-License-Identifier: Apache-2.0
// The part of DiscoveryComb that finds the frequencies which explain one bucket.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/stages/locate.hpp"
#include "template/discovery/comb.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

GridPoint bucket_coordinates(std::int64_t bucket, const GridPoint& buckets) {
  return {bucket / (buckets[1] * buckets[2]), bucket / buckets[2] % buckets[1], bucket % buckets[2]};
}

}  // namespace

/// Locates `order` frequencies of the bucket from the phases. Returns their number, 0 if the phases indicate
/// none.
template <class Real>
int DiscoveryComb<Real>::locate(const Bucket& where, const DiscoveryVector& y, int order,
                                GridPoint* f) const {
  const CombGrid& grid = where.grid;
  const DelayPattern& pattern = where.pattern;
  const std::int64_t bucket = where.number;
  const GridPoint b = bucket_coordinates(bucket, grid.buckets);
  // Maps a phase per step along one dimension, in turns, to the nearest frequency that the bucket may hold.
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

/// The frequency of the bucket that correlates best with y; tries all of them.
template <class Real>
GridPoint DiscoveryComb<Real>::strongest(const Bucket& where, const DiscoveryVector& y) const {
  const CombGrid& grid = where.grid;
  const DelayPattern& pattern = where.pattern;
  const std::int64_t bucket = where.number;
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
  double max = -1;
  const std::int64_t outer0 = last > 0 ? grid.strides[0] : 1;
  const std::int64_t outer1 = last > 1 ? grid.strides[1] : 1;
  // Phases of the first candidate, and the factors from one candidate to the next along the outer dimensions.
  DiscoveryVector row, steps[2];
  phases(b, pattern, row);
  for (std::size_t d = 0; d < last; ++d) {
    GridPoint step{0, 0, 0};
    step[d] = grid.buckets[d];
    phases(step, pattern, steps[d]);
  }
  for (std::int64_t g0 = 0; g0 < outer0; ++g0) {
    DiscoveryVector roots;
    std::copy_n(row, cpu::kRunDelays, roots);
    for (std::int64_t g1 = 0; g1 < outer1; ++g1) {
      GridPoint f = b;
      if (last > 0) f[0] += grid.buckets[0] * g0;
      if (last > 1) f[1] += grid.buckets[1] * g1;
      for (std::size_t j = 0; j < cpu::kRunDelays; ++j) {
        line.base_re[j] = roots[j].real();
        line.base_im[j] = roots[j].imag();
        if (last > 1) roots[j] = times(roots[j], steps[1][j]);
      }
      double power = 0;
      const std::int64_t g = correlate(y_re, y_im, line, grid.strides[last], power);
      if (power <= max) continue;
      max = power;
      best = f;
      best[last] += grid.buckets[last] * g;
    }
    for (std::size_t j = 0; last > 0 && j < cpu::kRunDelays; ++j) row[j] = times(row[j], steps[0][j]);
  }
  return best;
}

/// Finds two frequencies of a bucket by trying all candidates: first the strongest, then the strongest in its
/// residual, then each again with the other subtracted. Serves noisy signals, where linear prediction fails.
template <class Real>
bool DiscoveryComb<Real>::search_pair(const Bucket& where, const DiscoveryVector& y, GridPoint* f) const {
  const DelayPattern& pattern = where.pattern;
  constexpr int kSweeps = 3;
  constexpr auto kDelays = static_cast<int>(cpu::kRunDelays);
  DiscoveryVector roots[2];
  DiscoveryVector rest;
  f[0] = strongest(where, y);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (int own = 1; own >= 0; --own) {
      // y without the part explained by the other frequency.
      const int other = 1 - own;
      phases(f[other], pattern, roots[other]);
      Complex value = 0;
      if (sweep == 0) {
        value = fit_bucket(1, kDelays, &roots[other], y).values[0];
      } else {
        const DiscoveryFit fit = fit_bucket(2, kDelays, roots, y);
        if (!fit.ok) return false;
        value = fit.values[other];
      }
      for (int j = 0; j < kDelays; ++j) rest[j] = y[j] - times(value, roots[other][j]);
      f[own] = strongest(where, rest);
      phases(f[own], pattern, roots[own]);
      if (f[own] == f[other]) return false;
      if (sweep == 0 && own == 1) {
        const DiscoveryFit fit = fit_bucket(2, kDelays, roots, y);
        if (!fit.ok) return false;
      }
    }
  }
  return true;
}

template <class Real>
double DiscoveryComb<Real>::residual_limit(const DiscoveryRound& round, int freedom, double energy) const {
  // Buckets hold values of type Real, whose rounding grows with the bucket's content.
  constexpr double kOwn = kOwnRounding * std::numeric_limits<Real>::epsilon();
  return freedom * round.noise * exceedance(freedom, confidence_) + kOwn * kOwn * energy;
}

/// Noise power of a bucket. A tail that is not white may be stronger here than elsewhere; rounding is the
/// same everywhere.
template <class Real>
double DiscoveryComb<Real>::noise_of_bucket(const DiscoveryRound& round, double residual, int freedom) {
  const bool noisy = round.noise > 4 * round.rounding;
  return noisy && freedom > 0 ? std::max(round.noise, residual / freedom) : round.noise;
}

/// Appends the frequencies that explain the bucket to `found`; false if none do. Tries the known ones first,
/// with at most one more, then sets of at least `fewest`.
template <class Real>
bool DiscoveryComb<Real>::explain(const Bucket& where, const DiscoveryVector& y, int fewest,
                                  const DiscoveryRound& round,
                                  const std::vector<DiscoveryComponent>& components,
                                  std::vector<DiscoveryComponent>& found) {
  const CombGrid& grid = where.grid;
  const DelayPattern& pattern = where.pattern;
  const std::int64_t bucket = where.number;
  const int delays = static_cast<int>(pattern.delays.size());
  double energy = 0;
  for (int j = 0; j < delays; ++j) energy += std::norm(y[j]);
  GridPoint f[kDiscoveryMembers];
  DiscoveryVector roots[kDiscoveryMembers];
  const auto accept = [&](int members) {
    const DiscoveryFit fit = fit_bucket(members, delays, roots, y);
    if (!fit.ok || !(fit.residual <= residual_limit(round, delays - members, energy))) return false;
    const double noise = noise_of_bucket(round, fit.residual, delays - members);
    for (int i = 0; i < members; ++i) found.push_back({f[i], fit.values[i], fit.gain[i] * noise});
    return true;
  };

  int known = 0;
  for (std::int32_t i = first_[static_cast<std::size_t>(bucket)]; i >= 0;
       i = next_[static_cast<std::size_t>(i)]) {
    if (known == kDiscoveryMembers) return false;
    f[known++] = components[static_cast<std::size_t>(i)].f;
  }
  if (known > delays - 2) return false;
  for (int i = 0; i < known; ++i) phases(f[i], pattern, roots[i]);
  if (known > 0 && accept(known)) return true;
  // One more frequency may explain the residual of the known ones.
  if (known > 0 && known + 1 <= std::min(delays - 2, kDiscoveryMembers)) {
    DiscoveryVector rest;
    std::copy(y, y + delays, rest);
    for (std::int32_t i = first_[static_cast<std::size_t>(bucket)], at = 0; i >= 0;
         i = next_[static_cast<std::size_t>(i)], ++at) {
      const Complex value = components[static_cast<std::size_t>(i)].value;
      for (int j = 0; j < delays; ++j) rest[j] -= times(value, roots[at][j]);
    }
    if (locate(where, rest, 1, &f[known]) == 1 && std::find(f, f + known, f[known]) == f + known) {
      phases(f[known], pattern, roots[known]);
      if (accept(known + 1)) return true;
    }
  }
  for (int order = fewest; order <= std::min(kPronyFrequencies, delays - 2); ++order) {
    if (locate(where, y, order, f) != order) continue;
    for (int i = 0; i < order; ++i) phases(f[i], pattern, roots[i]);
    if (accept(order)) return true;
  }
  // The search visits every candidate seven times, so it is too slow for many candidates.
  const std::int64_t candidates = shape_.points() / grid.count;
  if (known > 0 || pattern.kind == DelayPattern::Kind::run || delays != cpu::kRunDelays ||
      searches_ < candidates)
    return false;
  searches_ -= candidates;
  if (!search_pair(where, y, f)) return false;
  for (int i = 0; i < 2; ++i) phases(f[i], pattern, roots[i]);
  return accept(2);
}

#define SFFT_INSTANTIATE(Real)                                                                              \
  template int DiscoveryComb<Real>::locate(const Bucket&, const DiscoveryVector&, int, GridPoint*) const;   \
  template GridPoint DiscoveryComb<Real>::strongest(const Bucket&, const DiscoveryVector&) const;           \
  template bool DiscoveryComb<Real>::search_pair(const Bucket&, const DiscoveryVector&, GridPoint*) const;  \
  template double DiscoveryComb<Real>::residual_limit(const DiscoveryRound&, int, double) const;            \
  template double DiscoveryComb<Real>::noise_of_bucket(const DiscoveryRound&, double, int);                 \
  template bool DiscoveryComb<Real>::explain(const Bucket&, const DiscoveryVector&, int,                    \
                                             const DiscoveryRound&, const std::vector<DiscoveryComponent>&, \
                                             std::vector<DiscoveryComponent>&);
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)
#undef SFFT_INSTANTIATE

}  // namespace sfft::detail
