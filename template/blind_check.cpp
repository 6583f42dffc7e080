// BlindComb's other round: samples that discovery has not seen, to judge what it found and to sharpen the
// values.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/turns.hpp"
#include "kernels/cpu/locate.hpp"
#include "template/blind_comb.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;
constexpr std::int64_t kRun = 8;

/// Run `number` of those that share the delays out among them: each somewhere in its own part.
DelayPattern check_delays(const CombGrid& grid, int rank, std::int64_t number, const CheckReads& reads,
                          BlindRandom& random) {
  // A run tells any eight frequencies of a bucket from nothing, whatever they have in common (Vandermonde);
  // in several dimensions chance has to do.
  if (reads.runs == 0 && rank == 1) return run_of_delays(grid, true, random);
  if (reads.runs == 0) return random_delays(grid.strides, rank, kBlindDelays, random);
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

/// Normal equations of the corrections to one bucket's known frequencies, or, of a crowd, only what is left
/// of it. Corrections rather than values: their squares do not cancel.
template <class Real>
struct BlindComb<Real>::Accumulator {
  std::int32_t bucket = 0;
  int members = 0;  ///< 0: a crowd, taken with the values that it has
  std::int32_t member[kBlindMembers] = {};
  Complex right[kBlindMembers] = {};
  std::int32_t gram = -1;  ///< row by row from here in `gram_`, of two members and more
  double energy = 0;       ///< Σ|y|²
  double rest = 0;         ///< Σ|y − known|²
};

/// exp(2 pi i f·τ_j/n) of every component at every delay, delay by delay.
template <class Real>
void BlindComb<Real>::tabulate_roots(const DelayPattern& pattern,
                                     const std::vector<BlindComponent>& components) {
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
      BlindVector roots;
      phases(components[i].f, pattern, roots);
      for (std::size_t j = 0; j < delays; ++j) {
        roots_re_[j * count + i] = roots[j].real();
        roots_im_[j * count + i] = roots[j].imag();
      }
    }
    return;
  }
  const auto roots = cpu::locate_kernels<Real>().roots;
  coordinate_.resize(count);
  other_.resize(2 * count);
  for (int d = 0; d < shape_.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    for (std::size_t i = 0; i < count; ++i) coordinate_[i] = static_cast<double>(components[i].f[at]);
    for (std::size_t j = 0; j < delays; ++j) {
      double* re = d == 0 ? &roots_re_[j * count] : other_.data();
      double* im = d == 0 ? &roots_im_[j * count] : other_.data() + count;
      roots(coordinate_.data(), static_cast<std::int64_t>(count), static_cast<double>(pattern.delays[j][at]),
            static_cast<double>(shape_[d]), re, im);
      for (std::size_t i = 0; d > 0 && i < count; ++i) {
        const Complex product =
            times({roots_re_[j * count + i], roots_im_[j * count + i]}, {other_[i], other_[count + i]});
        roots_re_[j * count + i] = product.real();
        roots_im_[j * count + i] = product.imag();
      }
    }
  }
}

template <class Real>
void BlindComb<Real>::accumulate(const BucketValues<Real>& values, double scale,
                                 const std::vector<BlindComponent>& components,
                                 std::vector<Accumulator>& crowds) {
  const auto delays = static_cast<std::size_t>(values.delays);
  const std::size_t count = components.size();
  const auto root = [&](std::int32_t i, std::size_t j) {
    const std::size_t at = j * count + static_cast<std::size_t>(i);
    return Complex(roots_re_[at], roots_im_[at]);
  };
  for (Accumulator& own : crowds) {
    BlindVector y;
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

/// Solves one bucket's normal equations: corrections to `fitted` and their gains. False when singular.
template <class Real>
bool BlindComb<Real>::solve_accumulated(const Accumulator& own, double delays, Complex* corrections,
                                        double* gains) const {
  if (own.members == 1) {
    corrections[0] = own.right[0] / delays;
    gains[0] = 1 / delays;
    return true;
  }
  for (int i = 0; i <= own.members; ++i) {
    Complex gram[kBlindMembers][kBlindMembers];
    for (int r = 0; r < own.members; ++r) {
      gram[r][r] = delays;
      for (int l = 0; l < r; ++l) {
        gram[r][l] = gram_[static_cast<std::size_t>(own.gram + r * own.members + l)];
        gram[l][r] = std::conj(gram[r][l]);
      }
    }
    Complex right[kBlindMembers] = {};
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

/// The occupied buckets; with their members where these are few and one's variance exceeds `doubtful`.
template <class Real>
std::vector<typename BlindComb<Real>::Accumulator> BlindComb<Real>::list_crowds(
    const std::vector<BlindComponent>& components, double doubtful) {
  std::vector<Accumulator> crowds;
  gram_.clear();
  crowds.reserve(bucket_.size());
  for (std::size_t c = 0; c < bucket_.size(); ++c) {
    const std::int32_t bucket = bucket_[c];
    if (first_[static_cast<std::size_t>(bucket)] != static_cast<std::int32_t>(c)) continue;
    Accumulator own;
    own.bucket = bucket;
    int members = 0;
    bool fit = false;
    for (auto i = static_cast<std::int32_t>(c); i >= 0; i = next_[static_cast<std::size_t>(i)]) {
      fit = fit || components[static_cast<std::size_t>(i)].variance > doubtful;
      if (members < kBlindMembers) own.member[members] = i;
      ++members;
    }
    if (fit && members <= kBlindMembers) own.members = members;
    if (own.members > 1) {
      own.gram = static_cast<std::int32_t>(gram_.size());
      gram_.resize(gram_.size() + static_cast<std::size_t>(own.members * own.members));
    }
    crowds.push_back(own);
  }
  return crowds;
}

/// Fits the members of one bucket and judges what that leaves. False where there are none or the delays drawn
/// cannot tell them apart.
template <class Real>
bool BlindComb<Real>::refit(const Accumulator& own, int delays, std::vector<BlindComponent>& components,
                            BlindRound& round, std::vector<char>& drop) const {
  constexpr double kLargestGain = 16;
  Complex fitted[kBlindMembers];
  double gain[kBlindMembers];
  if (own.members == 0 || !solve_accumulated(own, static_cast<double>(delays), fitted, gain)) return false;
  if (*std::max_element(gain, gain + own.members) * delays > kLargestGain) return false;
  double residual = own.rest;
  for (int i = 0; i < own.members; ++i) residual -= times_conj(own.right[i], fitted[i]).real();
  if (!(residual <= residual_limit(round, delays - own.members, own.energy))) ++round.unresolved;
  for (int i = 0; i < own.members; ++i) {
    BlindComponent& component = components[static_cast<std::size_t>(own.member[i])];
    const double variance = gain[i] * round.noise;
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

/// Judges one bucket by what its members leave with the values that they have.
template <class Real>
void BlindComb<Real>::judge_as_known(const Accumulator& own, std::int64_t delays,
                                     const std::vector<BlindComponent>& components, BlindRound& round) const {
  double uncertain = 0;
  for (std::int32_t i = first_[static_cast<std::size_t>(own.bucket)]; i >= 0;
       i = next_[static_cast<std::size_t>(i)])
    uncertain += components[static_cast<std::size_t>(i)].variance;
  const double limit =
      residual_limit(round, static_cast<int>(delays), own.energy) * (1 + uncertain / round.noise);
  if (!(own.rest <= limit)) ++round.unresolved;
  round.missed_power = std::max(round.missed_power, limit / static_cast<double>(delays));
}

template <class Real>
BlindRound BlindComb<Real>::check(const CombGrid& grid, const CheckReads& reads, BlindRandom& random,
                                  std::vector<BlindComponent>& components) {
  BlindRound round;
  file_members(grid, components);
  const double scale = static_cast<double>(shape_.points()) / static_cast<double>(grid.count);
  const std::int64_t chunks = std::max<std::int64_t>(1, reads.runs);
  std::int64_t delays = 0;
  const bool exact = reads.runs == 0;
  // Without noise most values are as good as they get. Not those of frequencies that the delays at which they
  // were found could hardly tell apart.
  constexpr double kDoubt = 8;
  double least = std::numeric_limits<double>::infinity();
  for (const BlindComponent& component : components) least = std::min(least, component.variance);
  std::vector<Accumulator> crowds = list_crowds(components, exact ? kDoubt * least : 0);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const DelayPattern pattern = check_delays(grid, shape_.rank(), chunk, reads, random);
    const BucketValues<Real> values = sampler_.comb(grid.buckets, pattern.delays);
    delays += values.delays;
    measure_power(values, chunk > 0);
    tabulate_roots(pattern, components);
    accumulate(values, scale, components, crowds);
  }
  judge_noise(grid, delays, static_cast<std::int64_t>(crowds.size()), 0, round);
  if (!round.finite) return round;

  const auto limit = static_cast<Real>(round.missed_power * static_cast<double>(delays) / (scale * scale));
  std::vector<char> drop(components.size(), 0);
  for (const Accumulator& own : crowds) {
    // Judged here, not below.
    power_[static_cast<std::size_t>(own.bucket)] = Real(0);
    // Of exact signals the values known are judged, too: a fit could make up for what is wrong.
    if (exact) judge_as_known(own, delays, components, round);
    const bool fitted = refit(own, static_cast<int>(delays), components, round, drop);
    if (!exact && !fitted) judge_as_known(own, delays, components, round);
  }
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

#define SFFT_INSTANTIATE(Real)                                                                              \
  template void BlindComb<Real>::tabulate_roots(const DelayPattern&, const std::vector<BlindComponent>&);   \
  template void BlindComb<Real>::accumulate(const BucketValues<Real>&, double,                              \
                                            const std::vector<BlindComponent>&, std::vector<Accumulator>&); \
  template std::vector<typename BlindComb<Real>::Accumulator> BlindComb<Real>::list_crowds(                 \
      const std::vector<BlindComponent>&, double);                                                          \
  template bool BlindComb<Real>::refit(const Accumulator&, int, std::vector<BlindComponent>&, BlindRound&,  \
                                       std::vector<char>&) const;                                           \
  template void BlindComb<Real>::judge_as_known(const Accumulator&, std::int64_t,                           \
                                                const std::vector<BlindComponent>&, BlindRound&) const;     \
  template bool BlindComb<Real>::solve_accumulated(const Accumulator&, double, Complex*, double*) const;    \
  template BlindRound BlindComb<Real>::check(const CombGrid&, const CheckReads&, BlindRandom&,              \
                                             std::vector<BlindComponent>&);
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)
#undef SFFT_INSTANTIATE

}  // namespace sfft::detail
