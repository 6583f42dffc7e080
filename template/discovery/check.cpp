// SPDX-License-Identifier: Apache-2.0
// DiscoveryComb::check(): a round on samples that discovery has not seen, which judges its result and refines
// the values.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/stages/locate.hpp"
#include "template/discovery/comb.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;
constexpr std::int64_t kRun = 8;

/// Delays of run `number`. The delays are divided into as many parts as there are runs, and each run lies at
/// random within its part.
DelayPattern check_delays(const CombGrid& grid, int rank, std::int64_t number, const CheckReads& reads,
                          DiscoveryRandom& random) {
  // No set of up to eight frequencies of a bucket vanishes at all delays of a run of eight (Vandermonde), and
  // larger sets do so only if their values conspire. In several dimensions random delays must suffice. Four
  // delays are not enough: with four, a wrong frequency passed in one of 12,000 random cases.
  if (reads.runs == 0 && rank == 1) return run_of_delays(grid, true, random, reads.compared);
  if (reads.runs == 0) return random_delays(grid.strides, rank, kDiscoveryDelays, random);
  const auto last = static_cast<std::size_t>(rank - 1);
  const std::int64_t blocks_of_row = grid.strides[last] / kRun;
  if (blocks_of_row == 0) return random_delays(grid.strides, rank, static_cast<int>(kRun), random);
  std::int64_t blocks = blocks_of_row;
  for (std::size_t d = 0; d < last; ++d) blocks *= grid.strides[d];
  const double within = static_cast<double>(random() >> 11) * 0x1p-53;
  auto block = static_cast<std::int64_t>((static_cast<double>(number) + within) *
                                         static_cast<double>(blocks) / static_cast<double>(reads.runs));
  block = std::min(block, blocks - 1);
  DelayPattern pattern;
  if (rank == 1) pattern.kind = DelayPattern::Kind::run;
  GridPoint delay{0, 0, 0};
  delay[last] = block % blocks_of_row * kRun;
  block /= blocks_of_row;
  for (std::size_t d = last; d-- > 0;) {
    delay[d] = block % grid.strides[d];
    block /= grid.strides[d];
  }
  for (std::int64_t j = 0; j < kRun; ++j) {
    pattern.delays.push_back(delay);
    ++delay[last];
  }
  return pattern;
}

}  // namespace

/// Normal equations of the corrections to the values of one bucket's known frequencies; for a crowd only the
/// energies are kept. The unknowns are corrections rather than values, so that the residual is not a small
/// difference of large squares.
template <class Real>
struct DiscoveryComb<Real>::Accumulator {
  std::int32_t bucket = 0;
  int members = 0;  ///< 0: a crowd, whose values are not refitted
  std::int32_t member[kDiscoveryMembers] = {};
  Complex right[kDiscoveryMembers] = {};
  std::int32_t gram = -1;  ///< first element in `gram_`, row by row; only for two members or more
  double energy = 0;       ///< Σ|y|²
  double rest = 0;         ///< Σ|y − known|²
};

/// Tabulates exp(2 pi i f·τ_j/n) of every component at every delay, component by component.
template <class Real>
void DiscoveryComb<Real>::tabulate_roots(const DelayPattern& pattern,
                                         const std::vector<DiscoveryComponent>& components) {
  const std::size_t count = components.size();
  const std::size_t delays = pattern.delays.size();
  roots_re_.resize(count * delays);
  roots_im_.resize(count * delays);
  constexpr double kExact = 0x1p53;
  bool exact = true;
  for (int d = 0; d < shape_.rank(); ++d) {
    for (const GridPoint& delay : pattern.delays)
      exact = exact &&
              static_cast<double>(shape_[d]) * static_cast<double>(delay[static_cast<std::size_t>(d)] + 1) <
                  kExact;
  }
  if (!exact) {
    for (std::size_t i = 0; i < count; ++i) {
      DiscoveryVector roots;
      phases(components[i].f, pattern, roots);
      for (std::size_t j = 0; j < delays; ++j) {
        roots_re_[i * delays + j] = roots[j].real();
        roots_im_[i * delays + j] = roots[j].imag();
      }
    }
    return;
  }
  const auto roots = cpu::locate_kernels<Real>().roots;
  coordinate_.resize(count);
  other_.resize(2 * count);
  const auto number = static_cast<std::int64_t>(count);
  for (int d = 0; d < shape_.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const auto extent = static_cast<double>(shape_[d]);
    for (std::size_t i = 0; i < count; ++i) coordinate_[i] = static_cast<double>(components[i].f[at]);
    if (pattern.kind == DelayPattern::Kind::run) {
      roots(coordinate_.data(), number, static_cast<double>(pattern.delays[0][at]),
            static_cast<double>(pattern.step), extent, static_cast<std::int64_t>(delays), roots_re_.data(),
            roots_im_.data());
      return;
    }
    for (std::size_t j = 0; j < delays; ++j) {
      roots(coordinate_.data(), number, static_cast<double>(pattern.delays[j][at]), 0, extent, 1,
            other_.data(), other_.data() + count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t to = i * delays + j;
        const Complex before = d == 0 ? 1 : Complex(roots_re_[to], roots_im_[to]);
        const Complex product = times(before, {other_[i], other_[count + i]});
        roots_re_[to] = product.real();
        roots_im_[to] = product.imag();
      }
    }
  }
}

template <class Real>
void DiscoveryComb<Real>::accumulate(const BucketValues<Real>& values, double scale,
                                     const std::vector<DiscoveryComponent>& components,
                                     std::vector<Accumulator>& crowds) {
  const auto delays = static_cast<std::size_t>(values.delays);
  const auto root = [&](std::int32_t i, std::size_t j) {
    const std::size_t at = static_cast<std::size_t>(i) * delays + j;
    return Complex(roots_re_[at], roots_im_[at]);
  };
  for (Accumulator& own : crowds) {
    DiscoveryVector y;
    double energy = 0;
    for (std::size_t j = 0; j < delays; ++j) {
      y[j] = scale * values.at(own.bucket, static_cast<std::int64_t>(j));
      energy += std::norm(y[j]);
    }
    own.energy += energy;
    for (std::int32_t i = first_[static_cast<std::size_t>(own.bucket)]; i >= 0;
         i = next_[static_cast<std::size_t>(i)]) {
      const Complex value = components[static_cast<std::size_t>(i)].value;
      for (std::size_t j = 0; j < delays; ++j) y[j] -= times(value, root(i, j));
    }
    for (int i = 0; i < own.members; ++i) {
      Complex sum = 0;
      for (std::size_t j = 0; j < delays; ++j) sum += times_conj(y[j], root(own.member[i], j));
      own.right[i] += sum;
      for (int l = 0; l < i; ++l) {
        Complex product = 0;
        for (std::size_t j = 0; j < delays; ++j)
          product += times_conj(root(own.member[l], j), root(own.member[i], j));
        gram_[static_cast<std::size_t>(own.gram + i * own.members + l)] += product;
      }
    }
    double rest = 0;
    for (std::size_t j = 0; j < delays; ++j) rest += std::norm(y[j]);
    own.rest += rest;
  }
}

/// Solves one bucket's normal equations: the corrections to its values, and their gains. False if singular.
template <class Real>
bool DiscoveryComb<Real>::solve_accumulated(const Accumulator& own, double delays, Complex* corrections,
                                            double* gains) const {
  if (own.members == 1) {
    corrections[0] = own.right[0] / delays;
    gains[0] = 1 / delays;
    return true;
  }
  for (int i = 0; i <= own.members; ++i) {
    Complex gram[kDiscoveryMembers][kDiscoveryMembers];
    for (int r = 0; r < own.members; ++r) {
      gram[r][r] = delays;
      for (int l = 0; l < r; ++l) {
        gram[r][l] = gram_[static_cast<std::size_t>(own.gram + r * own.members + l)];
        gram[l][r] = std::conj(gram[r][l]);
      }
    }
    Complex right[kDiscoveryMembers] = {};
    if (i < own.members) {
      right[i] = 1;
    } else {
      std::copy(own.right, own.right + own.members, right);
    }
    if (!solve_small(own.members, gram, right)) return false;
    if (i < own.members) {
      gains[i] = std::sqrt(std::norm(right[i]));
    } else {
      std::copy(right, right + own.members, corrections);
    }
  }
  return true;
}

/// Lists all occupied buckets (`all`) or only those to fit. A bucket is fitted, and its members are listed,
/// if they are few and the variance of one exceeds `doubtful`.
template <class Real>
std::vector<typename DiscoveryComb<Real>::Accumulator> DiscoveryComb<Real>::list_crowds(
    const std::vector<DiscoveryComponent>& components, double doubtful, bool all) {
  std::vector<Accumulator> crowds;
  gram_.clear();
  if (all) crowds.reserve(bucket_.size());
  for (std::size_t c = 0; c < bucket_.size(); ++c) {
    const std::int32_t bucket = bucket_[c];
    if (first_[static_cast<std::size_t>(bucket)] != static_cast<std::int32_t>(c)) continue;
    int members = 0;
    bool fit = false;
    for (auto i = static_cast<std::int32_t>(c); i >= 0; i = next_[static_cast<std::size_t>(i)]) {
      fit = fit || components[static_cast<std::size_t>(i)].variance > doubtful;
      ++members;
    }
    fit = fit && members <= kDiscoveryMembers;
    if (!fit && !all) continue;
    Accumulator own;
    own.bucket = bucket;
    for (auto i = static_cast<std::int32_t>(c); fit && i >= 0; i = next_[static_cast<std::size_t>(i)])
      own.member[own.members++] = i;
    if (own.members > 1) {
      own.gram = static_cast<std::int32_t>(gram_.size());
      gram_.resize(gram_.size() + static_cast<std::size_t>(own.members * own.members));
    }
    crowds.push_back(own);
  }
  return crowds;
}

/// Fits the members of one bucket and judges the residual. False if there are no members or the delays cannot
/// separate them.
template <class Real>
bool DiscoveryComb<Real>::refit(const Accumulator& own, int delays,
                                std::vector<DiscoveryComponent>& components, DiscoveryRound& round,
                                std::vector<char>& drop) const {
  constexpr double kLargestGain = 16;
  Complex fitted[kDiscoveryMembers];
  double gain[kDiscoveryMembers];
  if (own.members == 0 || own.members >= delays) return false;
  if (!solve_accumulated(own, static_cast<double>(delays), fitted, gain)) return false;
  if (*std::max_element(gain, gain + own.members) * delays > kLargestGain) return false;
  double residual = own.rest;
  for (int i = 0; i < own.members; ++i) residual -= times_conj(own.right[i], fitted[i]).real();
  if (!(residual <= residual_limit(round, delays - own.members, own.energy))) ++round.unresolved;
  const double noise = noise_of_bucket(round, residual, delays - own.members);
  for (int i = 0; i < own.members; ++i) {
    DiscoveryComponent& component = components[static_cast<std::size_t>(own.member[i])];
    const double variance = gain[i] * noise;
    const double apart = disagreement(fitted[i], variance + component.variance);
    if (apart > kContradiction * confidence_) ++round.unresolved;
    component.doubt = std::max(component.doubt, doubt_of(apart));
    fitted[i] += component.value;
    if (std::norm(fitted[i]) < confidence_ * std::min(variance, component.variance)) {
      drop[static_cast<std::size_t>(own.member[i])] = 1;
      ++round.dropped;
    } else if (variance < component.variance) {
      component.value = fitted[i];
      component.variance = variance;
    }
  }
  return true;
}

/// Judges one bucket by the residual of its members' present values.
template <class Real>
void DiscoveryComb<Real>::judge_as_known(const Accumulator& own, std::int64_t delays,
                                         const std::vector<DiscoveryComponent>& components,
                                         DiscoveryRound& round) const {
  double uncertain = 0;
  for (std::int32_t i = first_[static_cast<std::size_t>(own.bucket)]; i >= 0;
       i = next_[static_cast<std::size_t>(i)])
    uncertain += components[static_cast<std::size_t>(i)].variance;
  const double limit =
      residual_limit(round, static_cast<int>(delays), own.energy) * (1 + uncertain / round.noise);
  if (!(own.rest <= limit)) ++round.unresolved;
  round.missed_power = std::max(round.missed_power, limit / static_cast<double>(delays));
}

/// Judges every bucket by the residual of its components' present values, so that no fit hides an error.
template <class Real>
void DiscoveryComb<Real>::compare(const BucketValues<Real>& values, double scale,
                                  const std::vector<DiscoveryComponent>& components, DiscoveryRound& round) {
  const std::size_t count = components.size();
  const auto buckets = static_cast<std::size_t>(values.buckets);
  const auto delays = static_cast<double>(values.delays);
  compared_.assign(2 * count + buckets * static_cast<std::size_t>(2 + 2 * values.delays), 0.0);
  double* value_re = compared_.data();
  double* value_im = value_re + count;
  double* uncertain = value_im + count;
  double* rest = uncertain + buckets;
  for (std::size_t i = 0; i < count; ++i) {
    value_re[i] = components[i].value.real() / scale;
    value_im[i] = components[i].value.imag() / scale;
    uncertain[bucket_[i]] += components[i].variance;
  }
  const cpu::KnownFrequencies known{bucket_.data(),   value_re,         value_im,
                                    roots_re_.data(), roots_im_.data(), static_cast<std::int64_t>(count)};
  cpu::locate_kernels<Real>().leftover(values.re, values.im, values.buckets, values.delays, known,
                                       rest + buckets, rest);
  const double min = residual_limit(round, static_cast<int>(values.delays), 0);
  const double unit = scale * scale;
  constexpr double kOwn = kOwnRounding * std::numeric_limits<Real>::epsilon();
  double max = min;
  for (std::size_t b = 0; b < buckets; ++b) {
    const double own = min + kOwn * kOwn * unit * static_cast<double>(power_[b]);
    const double limit = own * (1 + uncertain[b] / round.noise);
    max = std::max(max, limit);
    if (!(unit * rest[b] <= limit)) ++round.unresolved;
  }
  round.missed_power = std::max(round.missed_power, max / delays);
}

template <class Real>
DiscoveryRound DiscoveryComb<Real>::check(const CombGrid& grid, CheckReads reads, DiscoveryRandom& random,
                                          std::vector<DiscoveryComponent>& components) {
  DiscoveryRound round;
  file_members(grid, components);
  const double scale = static_cast<double>(shape_.points()) / static_cast<double>(grid.count);
  const std::int64_t chunks = std::max<std::int64_t>(1, reads.runs);
  std::int64_t delays = 0;
  const bool exact = reads.runs == 0;
  // Without noise most values cannot be improved, except those of frequencies that the original delays could
  // hardly separate.
  constexpr double kDoubt = 8;
  double min = std::numeric_limits<double>::infinity();
  double max = 0;
  for (const DiscoveryComponent& component : components) {
    min = std::min(min, component.variance);
    max = std::max(max, component.variance);
  }
  if (max > kDoubt * kDoubt * min) reads.compared *= 2;  // there is much to refine
  std::vector<Accumulator> crowds = list_crowds(components, exact ? kDoubt * min : 0, !exact);
  BucketValues<Real> values{};
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const DelayPattern pattern = check_delays(grid, shape_.rank(), chunk, reads, random);
    values = sampler_.comb(grid.buckets, pattern.delays);
    delays += values.delays;
    measure_power(values, chunk > 0);
    tabulate_roots(pattern, components);
    accumulate(values, scale, components, crowds);
  }
  judge_noise(grid, delays, occupied_, 0, round);
  if (!round.finite) return round;

  const auto limit = static_cast<Real>(round.missed_power * static_cast<double>(delays) / (scale * scale));
  if (exact) compare(values, scale, components, round);
  std::vector<char> drop(components.size(), 0);
  for (const Accumulator& own : crowds) {
    const bool fitted = refit(own, static_cast<int>(delays), components, round, drop);
    if (exact) continue;
    if (!fitted) judge_as_known(own, delays, components, round);
    // This bucket has been judged here.
    power_[static_cast<std::size_t>(own.bucket)] = Real(0);
  }
  for (const Real power : power_) round.unresolved += !exact && power > limit ? 1 : 0;
  if (round.dropped > 0) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < components.size(); ++i) {
      if (!drop[i]) components[kept++] = components[i];
    }
    components.resize(kept);
  }
  return round;
}

#define SFFT_INSTANTIATE(Real)                                                                               \
  template void DiscoveryComb<Real>::tabulate_roots(const DelayPattern&,                                     \
                                                    const std::vector<DiscoveryComponent>&);                 \
  template void DiscoveryComb<Real>::accumulate(                                                             \
      const BucketValues<Real>&, double, const std::vector<DiscoveryComponent>&, std::vector<Accumulator>&); \
  template std::vector<typename DiscoveryComb<Real>::Accumulator> DiscoveryComb<Real>::list_crowds(          \
      const std::vector<DiscoveryComponent>&, double, bool);                                                 \
  template bool DiscoveryComb<Real>::refit(const Accumulator&, int, std::vector<DiscoveryComponent>&,        \
                                           DiscoveryRound&, std::vector<char>&) const;                       \
  template void DiscoveryComb<Real>::compare(const BucketValues<Real>&, double,                              \
                                             const std::vector<DiscoveryComponent>&, DiscoveryRound&);       \
  template void DiscoveryComb<Real>::judge_as_known(                                                         \
      const Accumulator&, std::int64_t, const std::vector<DiscoveryComponent>&, DiscoveryRound&) const;      \
  template bool DiscoveryComb<Real>::solve_accumulated(const Accumulator&, double, Complex*, double*) const; \
  template DiscoveryRound DiscoveryComb<Real>::check(const CombGrid&, CheckReads, DiscoveryRandom&,          \
                                                     std::vector<DiscoveryComponent>&);
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)
#undef SFFT_INSTANTIATE

}  // namespace sfft::detail
