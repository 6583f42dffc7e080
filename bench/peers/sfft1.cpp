// SPDX-License-Identifier: Apache-2.0
// Location loops vote, and estimation loops refine: every candidate's value is the median over all loops.
// choose() searches for the bucket counts and loops with the lowest estimated cost.
#include "bench/peers/sfft1.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "kernels/base/math/quantiles.hpp"

namespace sfft::peers {

namespace {

// Leakage that matches the precision of the samples, as in the paper's experiments (1e-8 for double).
template <class Real>
constexpr double kLeakage = sizeof(Real) == 4 ? 1e-7 : 1e-9;

/// The box covers a bucket and a third of each neighbour, so that a frequency at a bucket's edge keeps most
/// of its magnitude.
template <class Real>
FlatWindowShape window_shape(std::int64_t buckets) {
  return {buckets, 0.66, 0.5, kLeakage<Real>};
}

double binomial(int n, int k) {
  double value = 1;
  for (int i = 0; i < k; ++i) value *= static_cast<double>(n - i) / (i + 1);
  return value;
}

}  // namespace

Sfft1Parameters Sfft1Parameters::choose(std::int64_t points, std::int64_t k, bool with_comb) {
  // Nanoseconds per filter tap (a scattered read), per vote, and per estimate on a current core.
  constexpr double kTap = 3, kVote = 2.5, kEstimate = 12;
  constexpr double kTapsPerBucket = 12;
  const auto n = static_cast<double>(points);
  const auto bucket_bound = std::min<std::int64_t>(points / 4, std::int64_t{1} << 22);
  Sfft1Parameters best;
  // Collisions spoil an estimate with probability 2.3 k/B. This is rare enough for a median of eight or more
  // to be safe.
  best.estimation_buckets = std::min<std::int64_t>(
      bucket_bound, static_cast<std::int64_t>(std::bit_ceil(28 * static_cast<std::uint64_t>(k))));
  best.estimation_loops =
      static_cast<double>(best.estimation_buckets) >= 36 * static_cast<double>(k) ? 8 : 12;
  double min = HUGE_VAL;
  const auto few = static_cast<std::int64_t>(std::bit_ceil(8 * static_cast<std::uint64_t>(k)));
  std::vector<std::int64_t> combs{0};
  if (with_comb) combs = {few, 2 * few, 4 * few, 8 * few};
  for (const std::int64_t comb : combs) {
    if (comb > points / 4) continue;
    constexpr int kCombLoops = 3;
    // Each loop approves 2k residues; the k correct ones are the same in all.
    const double approved =
        comb == 0 ? 1 : std::min(1.0, static_cast<double>((kCombLoops + 1) * k) / static_cast<double>(comb));
    for (std::int64_t buckets = few; buckets <= bucket_bound; buckets *= 2) {
      const auto b = static_cast<double>(buckets);
      const double heavy = std::min(1.0, 2 * static_cast<double>(k) / b);
      for (const auto& [loops, threshold] : {std::pair{3, 2}, {4, 3}, {5, 3}, {6, 4}}) {
        const double candidates =
            static_cast<double>(k) + n * approved * binomial(loops, threshold) * std::pow(heavy, threshold);
        const double cost = loops * (b * kTapsPerBucket * kTap + n * heavy * approved * kVote) +
                            candidates * (loops + best.estimation_loops) * kEstimate +
                            (comb == 0 ? 0 : kCombLoops * static_cast<double>(comb) * kTap * 2);
        if (cost >= min) continue;
        min = cost;
        best.location_buckets = buckets;
        best.location_loops = loops;
        best.threshold = static_cast<unsigned>(threshold);
        best.comb = comb;
        best.comb_loops = comb == 0 ? 0 : kCombLoops;
      }
    }
  }
  return best;
}

template <class Real>
Sfft1<Real>::Sfft1(std::int64_t points, std::int64_t k, const Sfft1Parameters& parameters, std::uint64_t seed)
    : points_(points),
      k_(k),
      parameters_(parameters),
      random_(seed),
      roots_(static_cast<std::uint64_t>(points)),
      location_window_(window_shape<Real>(parameters.location_buckets)),
      estimation_window_(window_shape<Real>(parameters.estimation_buckets)),
      location_fft_(parameters.location_buckets),
      estimation_fft_(parameters.estimation_buckets),
      location_(static_cast<std::size_t>(parameters.location_loops)),
      estimation_(static_cast<std::size_t>(parameters.estimation_loops)),
      votes_(points, parameters.threshold) {
  if (parameters.comb > 0) comb_.emplace(parameters.comb, parameters.comb_loops);
}

template <class Real>
void Sfft1<Real>::hash(std::span<const std::complex<Real>> signal, Loop& loop, const FlatWindow<Real>& window,
                       BucketFft<Real>& fft) {
  loop.permutation = Permutation::draw(random_, signal.size());
  loop.buckets.resize(static_cast<std::size_t>(window.buckets()));
  hash_to_buckets(signal, loop.permutation, window, loop.buckets.data());
  fft.forward(loop.buckets);
}

template <class Real>
void Sfft1<Real>::execute(std::span<const std::complex<Real>> signal, std::vector<Tone>& tones) {
  const auto mask = static_cast<std::uint64_t>(points_ - 1);
  const auto width = static_cast<std::uint64_t>(points_ / parameters_.location_buckets);
  const auto twice = static_cast<std::size_t>(2 * k_);
  votes_.start();
  if (comb_) comb_->find(signal, twice, random_);
  for (Loop& loop : location_) {
    hash(signal, loop, location_window_, location_fft_);
    largest(loop.buckets, twice, heavy_, scratch_);
    if (comb_) {
      comb_->vote(votes_, heavy_, loop.permutation, width, mask);
    } else {
      vote_all(votes_, heavy_, loop.permutation, width, mask);
    }
  }
  for (Loop& loop : estimation_) hash(signal, loop, estimation_window_, estimation_fft_);

  tones.clear();
  for (const std::uint64_t frequency : votes_.candidates()) {
    tones.push_back({static_cast<std::int64_t>(frequency), estimate(frequency)});
  }
  const auto kept = std::min(tones.size(), static_cast<std::size_t>(k_));
  std::nth_element(tones.begin(), tones.begin() + static_cast<std::ptrdiff_t>(kept), tones.end(),
                   [](const Tone& a, const Tone& b) { return std::norm(a.value) > std::norm(b.value); });
  tones.resize(kept);
}

template <class Real>
std::complex<double> Sfft1<Real>::estimate(std::uint64_t frequency, const Loop& loop,
                                           const FlatWindow<Real>& window) const {
  const std::uint64_t position =
      (loop.permutation.sigma * frequency) & static_cast<std::uint64_t>(points_ - 1);
  const auto width = static_cast<std::uint64_t>(points_ / window.buckets());
  const std::uint64_t bucket = (position + width / 2) / width;
  const double offset =
      static_cast<double>(static_cast<std::int64_t>(position - bucket * width)) / static_cast<double>(width);
  const std::complex<double> value = loop.buckets[bucket & static_cast<std::uint64_t>(window.buckets() - 1)];
  const double scale = static_cast<double>(points_) / window.response(offset);
  return scale * times(value, std::conj(roots_(frequency * loop.permutation.tau)));
}

template <class Real>
std::complex<double> Sfft1<Real>::estimate(std::uint64_t frequency) {
  real_.clear();
  imaginary_.clear();
  const auto add = [&](const Loop& loop, const FlatWindow<Real>& window) {
    const std::complex<double> value = estimate(frequency, loop, window);
    real_.push_back(value.real());
    imaginary_.push_back(value.imag());
  };
  for (const Loop& loop : location_) add(loop, location_window_);
  for (const Loop& loop : estimation_) add(loop, estimation_window_);
  return {detail::median_in_place(real_), detail::median_in_place(imaginary_)};
}

template <class Real>
std::int64_t Sfft1<Real>::samples_read() const noexcept {
  return parameters_.location_loops * location_window_.taps() +
         parameters_.estimation_loops * estimation_window_.taps() + (comb_ ? comb_->samples() : 0);
}

template <class Real>
std::string Sfft1<Real>::describe() const {
  std::string text = fmt::format("{} and {} buckets, {} + {} loops, {} votes", parameters_.location_buckets,
                                 parameters_.estimation_buckets, parameters_.location_loops,
                                 parameters_.estimation_loops, parameters_.threshold);
  if (comb_) text += fmt::format(", {} combs of {}", parameters_.comb_loops, parameters_.comb);
  return text;
}

template class Sfft1<float>;
template class Sfft1<double>;

}  // namespace sfft::peers
