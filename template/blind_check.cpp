// BlindComb's other round: samples that discovery has not seen, to judge what it found and to sharpen the
// values.
#include <algorithm>
#include <cmath>

#include "kernels/common/turns.hpp"
#include "kernels/cpu/hash.hpp"
#include "template/blind_comb.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;
constexpr std::int64_t kRun = 8;

/// Run `number` of `runs`, which share the delays out among them: each somewhere in its own part.
DelayPattern check_delays(const CombGrid& grid, int rank, std::int64_t number, std::int64_t runs,
                          std::mt19937_64& random) {
  if (runs == 0) return random_delays(grid.strides, rank, 4, random);
  const auto last = static_cast<std::size_t>(rank - 1);
  const std::int64_t blocks_of_row = grid.strides[last] / kRun;
  if (blocks_of_row == 0) return random_delays(grid.strides, rank, static_cast<int>(kRun), random);
  std::int64_t blocks = blocks_of_row;
  for (std::size_t d = 0; d < last; ++d) blocks *= grid.strides[d];
  const double within = static_cast<double>(random() >> 11) * 0x1p-53;
  auto block = static_cast<std::int64_t>((static_cast<double>(number) + within) *
                                         static_cast<double>(blocks) / static_cast<double>(runs));
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

/// Normal equations of the corrections to one bucket's known frequencies, or, of a crowd, only what is left
/// of it. Corrections rather than values: their squares do not cancel.
template <class Real>
struct BlindComb<Real>::Accumulator {
  std::int64_t bucket = 0;
  int members = 0;  ///< 0: a crowd, taken with the values that it has
  std::int32_t member[kBlindMembers] = {};
  Complex gram[kBlindMembers][kBlindMembers] = {};
  Complex right[kBlindMembers] = {};
  double energy = 0;  ///< Σ|y|²
  double rest = 0;    ///< Σ|y − known|²
};

template <class Real>
void BlindComb<Real>::accumulate(const BucketValues<Real>& values, const DelayPattern& pattern, double scale,
                                 const std::vector<BlindComponent>& components,
                                 std::vector<Accumulator>& crowds) const {
  const auto delays = static_cast<int>(values.delays);
  BlindVector roots[kBlindMembers];
  for (Accumulator& own : crowds) {
    BlindVector y;
    for (int j = 0; j < delays; ++j) {
      y[j] = scale * values.at(own.bucket, j);
      own.energy += std::norm(y[j]);
    }
    int at = 0;
    for (std::int32_t i = first_[static_cast<std::size_t>(own.bucket)]; i >= 0;
         i = next_[static_cast<std::size_t>(i)]) {
      const BlindComponent& component = components[static_cast<std::size_t>(i)];
      phases(component.f, pattern, roots[at]);
      for (int j = 0; j < delays; ++j) y[j] -= times(component.value, roots[at][j]);
      if (own.members > 0) ++at;
    }
    for (int i = 0; i < own.members; ++i) {
      for (int j = 0; j < delays; ++j) own.right[i] += times_conj(y[j], roots[i][j]);
      for (int l = 0; l < i; ++l) {
        for (int j = 0; j < delays; ++j) own.gram[i][l] += times_conj(roots[l][j], roots[i][j]);
      }
    }
    for (int j = 0; j < delays; ++j) own.rest += std::norm(y[j]);
  }
}

template <class Real>
BlindRound BlindComb<Real>::check(const CombGrid& grid, std::int64_t runs, std::mt19937_64& random,
                                  std::vector<BlindComponent>& components) {
  BlindRound round;
  file_members(grid, components);
  const double scale = static_cast<double>(shape_.points()) / static_cast<double>(grid.count);
  const std::int64_t chunks = std::max<std::int64_t>(1, runs);
  const std::int64_t delays = runs == 0 ? 4 : chunks * kRun;
  const int most = static_cast<int>(std::min<std::int64_t>(kBlindMembers, delays / 2));

  std::vector<Accumulator> crowds;
  crowds.reserve(components.size());
  for (std::size_t c = 0; c < components.size(); ++c) {
    const std::int64_t bucket = cpu::hash(components[c].f, grid.buckets);
    if (first_[static_cast<std::size_t>(bucket)] != static_cast<std::int32_t>(c)) continue;
    Accumulator own;
    own.bucket = bucket;
    for (auto i = static_cast<std::int32_t>(c); i >= 0; i = next_[static_cast<std::size_t>(i)]) {
      if (own.members == most) {
        own.members = 0;
        break;
      }
      own.member[own.members++] = i;
    }
    crowds.push_back(own);
  }
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const DelayPattern pattern = check_delays(grid, shape_.rank(), chunk, runs, random);
    const BucketValues<Real> values = sampler_.comb(grid.buckets, pattern.delays);
    measure_power(values, chunk > 0);
    accumulate(values, pattern, scale, components, crowds);
  }
  judge_noise(grid, delays, static_cast<std::int64_t>(crowds.size()), round);
  if (!round.finite) return round;

  std::vector<char> drop(components.size(), 0);
  for (Accumulator& own : crowds) {
    // Judged here, not below.
    power_[static_cast<std::size_t>(own.bucket)] = Real(0);
    if (own.members == 0) {
      double uncertain = 0;
      for (std::int32_t i = first_[static_cast<std::size_t>(own.bucket)]; i >= 0;
           i = next_[static_cast<std::size_t>(i)])
        uncertain += components[static_cast<std::size_t>(i)].variance;
      const double limit =
          residual_limit(round, static_cast<int>(delays), own.energy) * (1 + uncertain / round.noise);
      if (!(own.rest <= limit)) ++round.unresolved;
      continue;
    }
    Complex fitted[kBlindMembers];
    double gain[kBlindMembers];
    bool ok = true;
    for (int i = 0; i < own.members; ++i) {
      own.gram[i][i] = static_cast<double>(delays);
      for (int l = 0; l < i; ++l) own.gram[l][i] = std::conj(own.gram[i][l]);
    }
    for (int i = 0; i <= own.members && ok; ++i) {
      Complex copy[kBlindMembers][kBlindMembers];
      for (int r = 0; r < own.members; ++r) std::copy(own.gram[r], own.gram[r] + own.members, copy[r]);
      Complex right[kBlindMembers] = {};
      if (i < own.members) {
        right[i] = 1;
      } else {
        std::copy(own.right, own.right + own.members, right);
      }
      ok = solve_small(own.members, copy, right);
      if (i < own.members) {
        gain[i] = std::abs(right[i].real());
      } else {
        std::copy(right, right + own.members, fitted);
      }
    }
    if (!ok) {
      ++round.unresolved;
      continue;
    }
    double residual = own.rest;
    for (int i = 0; i < own.members; ++i) residual -= times_conj(own.right[i], fitted[i]).real();
    const auto freedom = static_cast<int>(delays - own.members);
    if (!(residual <= residual_limit(round, freedom, own.energy))) ++round.unresolved;
    for (int i = 0; i < own.members; ++i) {
      BlindComponent& component = components[static_cast<std::size_t>(own.member[i])];
      const double variance = gain[i] * round.noise;
      fitted[i] += component.value;
      if (std::norm(fitted[i]) < confidence_ * variance) {
        drop[static_cast<std::size_t>(own.member[i])] = 1;
        ++round.dropped;
      } else if (variance < component.variance) {
        component.value = fitted[i];
        component.variance = variance;
      }
    }
  }
  const auto limit = static_cast<Real>(round.missed_power * static_cast<double>(delays) / (scale * scale));
  for (const Real power : power_) round.unresolved += power > limit ? 1 : 0;
  if (round.dropped > 0) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < components.size(); ++i) {
      if (!drop[i]) components[kept++] = components[i];
    }
    components.resize(kept);
  }
  return round;
}

template void BlindComb<float>::accumulate(const BucketValues<float>&, const DelayPattern&, double,
                                           const std::vector<BlindComponent>&,
                                           std::vector<Accumulator>&) const;
template void BlindComb<double>::accumulate(const BucketValues<double>&, const DelayPattern&, double,
                                            const std::vector<BlindComponent>&,
                                            std::vector<Accumulator>&) const;
template BlindRound BlindComb<float>::check(const CombGrid&, std::int64_t, std::mt19937_64&,
                                            std::vector<BlindComponent>&);
template BlindRound BlindComb<double>::check(const CombGrid&, std::int64_t, std::mt19937_64&,
                                             std::vector<BlindComponent>&);

}  // namespace sfft::detail
