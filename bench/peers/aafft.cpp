// SPDX-License-Identifier: Apache-2.0
// Iterates until the added terms no longer shrink. Once the leading frequencies settle, iterations only
// estimate values, which needs fewer samples.
#include "bench/peers/aafft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <set>

#include "kernels/base/math/quantiles.hpp"

namespace sfft::peers {

namespace {

constexpr std::uint64_t kBinsPerTerm = 8;
constexpr int kTrials = 3;     ///< votes per bit
constexpr int kEstimates = 5;  ///< values per median
constexpr int kIterations = 24;
// The added terms shrink by a constant factor per iteration until they meet the noise.
constexpr double kStalled = 0.6;
template <class Real>
constexpr double kDone = sizeof(Real) == 4 ? 3e-7 : 1e-9;

/// Mean of exp(2πi dj) over 0 <= j < count: the box filter's response to a term `d` off a bin's centre.
std::complex<double> box_response(double d, double count) {
  const double angle = std::numbers::pi * d;
  const double size = std::abs(angle) < 1e-15 ? 1 : std::sin(angle * count) / (count * std::sin(angle));
  return std::polar(size, angle * (count - 1));
}

}  // namespace

template <class Real>
Aafft<Real>::Aafft(std::int64_t points, std::int64_t k, std::uint64_t seed)
    : points_(points),
      k_(k),
      bins_(static_cast<std::int64_t>(std::bit_ceil(kBinsPerTerm * static_cast<std::uint64_t>(k)))),
      bits_(std::countr_zero(static_cast<std::uint64_t>(points))),
      random_(seed),
      roots_(static_cast<std::uint64_t>(points)),
      fft_(bins_),
      usfft_(bins_),
      bank_(static_cast<std::size_t>(bins_)) {}

template <class Real>
void Aafft<Real>::execute(Signal signal, std::vector<Tone>& tones) {
  found_.clear();
  samples_ = 0;
  double before = HUGE_VAL;
  std::vector<std::int64_t> leaders_before;
  bool settled = false;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    candidates_.clear();
    if (!settled) identify(signal);
    const double added = estimate(signal);
    found_.truncate(static_cast<std::size_t>(2 * k_));
    double norm = 0;
    for (const Tone& tone : found_.terms()) norm += std::norm(tone.value);
    if (added <= kDone<Real> * std::sqrt(norm)) break;
    std::vector<std::int64_t> now = leaders();
    if (settled && added > kStalled * before) break;
    settled = now == leaders_before;
    leaders_before = std::move(now);
    before = added;
  }
  found_.truncate(static_cast<std::size_t>(k_));
  tones = found_.terms();
}

/// Returns the k largest terms' frequencies, sorted.
template <class Real>
std::vector<std::int64_t> Aafft<Real>::leaders() const {
  SparseTerms copy = found_;
  copy.truncate(static_cast<std::size_t>(k_));
  std::vector<std::int64_t> frequencies;
  for (const Tone& tone : copy.terms()) frequencies.push_back(tone.frequency);
  std::sort(frequencies.begin(), frequencies.end());
  return frequencies;
}

template <class Real>
void Aafft<Real>::place(const std::vector<Tone>& terms, std::uint64_t sigma) {
  turns_.clear();
  for (const Tone& term : terms) {
    const std::uint64_t position =
        (sigma * static_cast<std::uint64_t>(term.frequency)) & static_cast<std::uint64_t>(points_ - 1);
    turns_.push_back(static_cast<double>(position) / static_cast<double>(points_));
  }
  usfft_.place(turns_);
}

template <class Real>
void Aafft<Real>::shatter(Signal signal, std::uint64_t start, std::uint64_t sigma) {
  const auto mask = static_cast<std::uint64_t>(points_ - 1);
  std::uint64_t at = start;
  for (std::complex<double>& sample : bank_) {
    sample = signal[at & mask];
    at += sigma;
  }
  samples_ += bins_;
  const double scale = 1 / static_cast<double>(points_);
  coefficients_.clear();
  for (const Tone& term : found_.terms()) {
    coefficients_.push_back(scale *
                            times(term.value, roots_(static_cast<std::uint64_t>(term.frequency) * start)));
  }
  usfft_.subtract(coefficients_, bank_);
  fft_.forward(bank_);
}

template <class Real>
void Aafft<Real>::identify(Signal signal) {
  const Permutation permutation = Permutation::draw(random_, signal.size());
  place(found_.terms(), permutation.sigma);
  std::array<std::uint64_t, kTrials> starts;
  std::vector<double> energy(static_cast<std::size_t>(bins_));
  std::array<std::vector<std::complex<double>>, kTrials> bases;
  for (int trial = 0; trial < kTrials; ++trial) {
    starts[static_cast<std::size_t>(trial)] = random_();
    shatter(signal, starts[static_cast<std::size_t>(trial)], permutation.sigma);
    bases[static_cast<std::size_t>(trial)] = bank_;
    for (std::size_t q = 0; q < bank_.size(); ++q) energy[q] += std::norm(bank_[q]);
  }
  heavy_.clear();
  for (std::size_t q = 0; q < bank_.size(); ++q) heavy_.push_back(static_cast<std::uint32_t>(q));
  const auto kept = std::min(heavy_.size(), static_cast<std::size_t>(2 * k_));
  std::nth_element(heavy_.begin(), heavy_.begin() + static_cast<std::ptrdiff_t>(kept - 1), heavy_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return energy[a] > energy[b]; });
  heavy_.resize(kept);

  const auto row = static_cast<std::size_t>(bits_ + 1);
  tests_.resize(heavy_.size() * kTrials * row);
  for (std::size_t trial = 0; trial < kTrials; ++trial) {
    for (std::size_t b = 0; b < row; ++b) {
      // Bit b-1 shows when the progression starts N/2^b later; b = 0 is the progression itself.
      if (b > 0)
        shatter(signal, starts[trial] + (static_cast<std::uint64_t>(points_) >> b), permutation.sigma);
      const std::vector<std::complex<double>>& outputs = b > 0 ? bank_ : bases[trial];
      for (std::size_t h = 0; h < heavy_.size(); ++h) {
        tests_[(h * kTrials + trial) * row + b] = outputs[heavy_[h]];
      }
    }
  }
  read_bits(permutation.sigma);
}

/// Tests bits, lowest first. With the lower bits' phase removed, the shifted output equals the unshifted one
/// or its negative.
template <class Real>
void Aafft<Real>::read_bits(std::uint64_t sigma) {
  const auto row = static_cast<std::size_t>(bits_ + 1);
  const auto mask = static_cast<std::uint64_t>(points_ - 1);
  for (std::size_t h = 0; h < heavy_.size(); ++h) {
    std::uint64_t frequency = 0;
    for (int b = 1; b <= bits_; ++b) {
      const std::complex<double> known =
          std::conj(roots_(frequency * (static_cast<std::uint64_t>(points_) >> b)));
      int votes = 0;
      for (std::size_t trial = 0; trial < kTrials; ++trial) {
        const std::complex<double>* test = tests_.data() + (h * kTrials + trial) * row;
        const std::complex<double> shifted = times(test[b], known);
        votes += std::norm(test[0] + shifted) < std::norm(test[0] - shifted) ? 1 : -1;
      }
      if (votes > 0) frequency |= std::uint64_t{1} << (b - 1);
    }
    // A term alone in its bin hashes there; noise and collisions do not.
    const double bin = static_cast<double>((sigma * frequency) & mask) * static_cast<double>(bins_) /
                       static_cast<double>(points_);
    double distance = std::abs(bin - static_cast<double>(heavy_[h]));
    distance = std::min(distance, static_cast<double>(bins_) - distance);
    if (distance <= 0.75) candidates_.push_back(static_cast<std::int64_t>(frequency));
  }
}

template <class Real>
double Aafft<Real>::estimate(Signal signal) {
  std::set<std::int64_t> frequencies(candidates_.begin(), candidates_.end());
  for (const Tone& term : found_.terms()) frequencies.insert(term.frequency);
  const std::vector<std::int64_t> all(frequencies.begin(), frequencies.end());
  std::vector<std::array<double, kEstimates>> re(all.size()), im(all.size());
  const auto mask = static_cast<std::uint64_t>(points_ - 1);
  const auto bins = static_cast<double>(bins_);
  const double scale = static_cast<double>(points_) / bins;
  for (std::size_t e = 0; e < kEstimates; ++e) {
    const Permutation permutation = Permutation::draw(random_, signal.size());
    place(found_.terms(), permutation.sigma);
    shatter(signal, permutation.tau, permutation.sigma);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto frequency = static_cast<std::uint64_t>(all[i]);
      const double turn =
          static_cast<double>((permutation.sigma * frequency) & mask) / static_cast<double>(points_);
      const double bin = std::round(turn * bins);
      const std::complex<double> output =
          bank_[static_cast<std::size_t>(bin) & static_cast<std::size_t>(bins_ - 1)];
      const std::complex<double> value = scale *
                                         times(output, std::conj(roots_(frequency * permutation.tau))) /
                                         box_response(turn - bin / bins, bins);
      re[i][e] = value.real();
      im[i][e] = value.imag();
    }
  }
  double added = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::complex<double> value(detail::median_in_place(re[i]), detail::median_in_place(im[i]));
    found_.add(all[i], value);
    added += std::norm(value);
  }
  return std::sqrt(added);
}

template <class Real>
std::string Aafft<Real>::describe() const {
  return fmt::format("{} bins, {} votes a bit, medians of {}", bins_, kTrials, kEstimates);
}

template class Aafft<float>;
template class Aafft<double>;

}  // namespace sfft::peers
