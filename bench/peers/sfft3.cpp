// SPDX-License-Identifier: Apache-2.0
// Each round hashes the residual at τ and τ + 1, and locates or corrects one term per bucket. The buckets
// that remain unexplained determine the size of the next round.
#include "bench/peers/sfft3.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace sfft::peers {

namespace {

// Buckets per term in the first round, which finds most terms, and per unexplained bucket in later rounds.
constexpr std::uint64_t kBucketsPerTerm = 8;
constexpr std::int64_t kLaterRatio = 2;
// There are never fewer buckets than this, nor fewer than terms. Otherwise the errors of found terms would
// pile up indistinguishably.
constexpr std::int64_t kFewestBuckets = 16;
constexpr int kExtraRounds = 8;
// A frequency is N/2π times the phase between two hashes, so leakage must stay below π/N.
constexpr double kLeakage = 1e-8;
// A bucket below this share of the largest is empty. This assumes that coefficients lie within that range,
// like the integers -L..L of the paper.
constexpr double kEmpty = 5e-7;
// A bucket whose hashes differ by more in squared magnitude holds more than one term.
constexpr double kAgree = 1e-5;
// Frequencies are integers. A location further from an integer comes from more than one term.
constexpr double kOffGrid = 0.15;
// A remainder below this share of a known term counts as its error if its phase also advances like that of
// the term.
constexpr double kRemainder = 1e-2;
constexpr double kSameTurn = 0.1;
constexpr std::int32_t kNobody = -1, kSeveral = -2;

/// Computes both hashes at once, because sample t+1 lies in the cache line of sample t.
template <class Real>
void hash_pair(std::span<const std::complex<Real>> signal, const Permutation& permutation,
               const FlatWindow<double>& window, std::complex<double>* here, std::complex<double>* next) {
  const std::uint64_t mask = signal.size() - 1;
  const std::int64_t count = window.buckets();
  const std::complex<Real>* x = signal.data();
  std::fill_n(here, count, std::complex<double>());
  std::fill_n(next, count, std::complex<double>());
  const double* tap = window.centre() - window.half();
  std::uint64_t at = permutation.tau - static_cast<std::uint64_t>(window.half()) * permutation.sigma;
  std::int64_t m = (count - window.half() % count) % count;
  for (std::int64_t left = window.taps(); left > 0;) {
    const std::int64_t run = std::min(left, count - m);
    for (std::int64_t i = m; i < m + run; ++i) {
      const std::complex<Real> a = x[at & mask];
      const std::complex<Real> b = x[(at + 1) & mask];
      const double weight = *tap++;
      here[i] += std::complex<double>(weight * a.real(), weight * a.imag());
      next[i] += std::complex<double>(weight * b.real(), weight * b.imag());
      at += permutation.sigma;
    }
    left -= run;
    m = 0;
  }
}

}  // namespace

template <class Real>
Sfft3<Real>::Sfft3(std::int64_t points, std::int64_t k, std::uint64_t seed)
    : points_(points), k_(k), random_(seed), roots_(static_cast<std::uint64_t>(points)) {
  const auto max = static_cast<std::int64_t>(std::bit_ceil(kBucketsPerTerm * static_cast<std::uint64_t>(k)));
  const auto fewest =
      std::max(kFewestBuckets, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(k))));
  for (std::int64_t buckets = std::max(max, fewest); buckets >= fewest; buckets /= 2) {
    levels_.push_back({FlatWindow<double>({buckets, 0.5, 0.75, kLeakage}), BucketFft<double>(buckets)});
  }
}

template <class Real>
void Sfft3<Real>::execute(std::span<const std::complex<Real>> signal, std::vector<Tone>& tones) {
  found_.clear();
  samples_ = 0;
  largest_ = 0;
  std::size_t level = 0;
  std::int64_t before = points_;
  const int rounds = static_cast<int>(levels_.size()) + kExtraRounds;
  for (int i = 0; i < rounds; ++i) {
    const std::int64_t unexplained = i == 0 ? comb_round(signal) : round(signal, levels_[level]);
    if (unexplained == 0) break;
    // A missing term shows in one or two buckets. The next round has as many buckets as these require, or
    // more than this round if it improved nothing. What remains then are errors of known terms, which need a
    // bucket each.
    if (i > 1 && unexplained >= before) {
      level -= std::min<std::size_t>(level, 2);
    } else {
      level = 0;
      while (level + 1 < levels_.size() && levels_[level + 1].window.buckets() >= kLaterRatio * unexplained) {
        ++level;
      }
    }
    before = unexplained;
  }
  // Wrong terms that were cancelled by later rounds have values near zero.
  found_.truncate(static_cast<std::size_t>(k_), kEmpty * largest_);
  tones = found_.terms();
  for (Tone& tone : tones) tone.value *= static_cast<double>(points_);
}

template <class Real>
std::int64_t Sfft3<Real>::round(std::span<const std::complex<Real>> signal, Level& level) {
  const FlatWindow<double>& window = level.window;
  const auto count = static_cast<std::size_t>(window.buckets());
  const Permutation permutation = Permutation::draw(random_, signal.size());
  here_.resize(count);
  next_.resize(count);
  hash_pair(signal, permutation, window, here_.data(), next_.data());
  samples_ += 2 * window.taps();
  level.fft.forward(here_);
  level.fft.forward(next_);
  subtract(found_.terms(), permutation, window);
  find_owners(permutation, window);
  fresh_.clear();
  for (std::size_t b = 0; b < count; ++b) {
    Tone tone;
    if (!occupied(b)) continue;
    if (correct(b, permutation, window, tone) || locate(b, permutation, window, tone)) fresh_.push_back(tone);
  }
  subtract(fresh_, permutation, window);
  for (const Tone& tone : fresh_) found_.add(tone.frequency, tone.value);
  std::int64_t unexplained = 0;
  for (std::size_t b = 0; b < count; ++b) unexplained += occupied(b);
  return unexplained;
}

template <class Real>
void Sfft3<Real>::find_largest() {
  double power = 0;
  for (const std::complex<double>& bucket : here_) power = std::max(power, std::norm(bucket));
  largest_ = std::sqrt(power);
  min_power_ = kEmpty * kEmpty * power;
}

template <class Real>
void Sfft3<Real>::subtract(const std::vector<Tone>& terms, const Permutation& permutation,
                           const FlatWindow<double>& window) {
  const auto mask = static_cast<std::uint64_t>(points_ - 1);
  const double buckets_per_point = static_cast<double>(window.buckets()) / static_cast<double>(points_);
  const auto bucket_mask = static_cast<std::int64_t>(window.buckets() - 1);
  for (const Tone& tone : terms) {
    const auto frequency = static_cast<std::uint64_t>(tone.frequency);
    const double position = static_cast<double>((permutation.sigma * frequency) & mask) * buckets_per_point;
    const std::complex<double> here = times(tone.value, roots_(frequency * permutation.tau));
    const std::complex<double> next = times(here, roots_(frequency));
    const auto last = static_cast<std::int64_t>(std::floor(position + window.reach()));
    for (auto b = static_cast<std::int64_t>(std::ceil(position - window.reach())); b <= last; ++b) {
      const double response = window.response(static_cast<double>(b) - position);
      here_[static_cast<std::size_t>(b & bucket_mask)] -= response * here;
      next_[static_cast<std::size_t>(b & bucket_mask)] -= response * next;
    }
  }
}

template <class Real>
void Sfft3<Real>::find_owners(const Permutation& permutation, const FlatWindow<double>& window) {
  owner_.assign(static_cast<std::size_t>(window.buckets()), kNobody);
  const auto width = static_cast<std::uint64_t>(points_ / window.buckets());
  const std::vector<Tone>& terms = found_.terms();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::uint64_t position = permutation.sigma * static_cast<std::uint64_t>(terms[i].frequency);
    const std::uint64_t bucket =
        (position + width / 2) / width & static_cast<std::uint64_t>(window.buckets() - 1);
    owner_[bucket] = owner_[bucket] == kNobody ? static_cast<std::int32_t>(i) : kSeveral;
  }
}

template <class Real>
double Sfft3<Real>::offset_in(std::uint64_t bucket, std::uint64_t frequency, const Permutation& permutation,
                              const FlatWindow<double>& window) const {
  const auto mask = static_cast<std::uint64_t>(points_ - 1);
  const double scale = static_cast<double>(window.buckets()) / static_cast<double>(points_);
  return std::remainder(
      static_cast<double>((permutation.sigma * frequency) & mask) * scale - static_cast<double>(bucket),
      static_cast<double>(window.buckets()));
}

/// Corrects a known term. The remainder of an inaccurate value is too small to locate, but can be recognised
/// as belonging to its term.
template <class Real>
bool Sfft3<Real>::correct(std::uint64_t bucket, const Permutation& permutation,
                          const FlatWindow<double>& window, Tone& tone) const {
  if (owner_[bucket] < 0) return false;
  const Tone& owner = found_.terms()[static_cast<std::size_t>(owner_[bucket])];
  const std::complex<double> here = here_[bucket];
  if (std::norm(here) > kRemainder * kRemainder * std::norm(owner.value)) return false;
  const auto frequency = static_cast<std::uint64_t>(owner.frequency);
  if (std::norm(next_[bucket] - times(here, roots_(frequency))) > kSameTurn * kSameTurn * std::norm(here))
    return false;
  const double offset = offset_in(bucket, frequency, permutation, window);
  tone.frequency = owner.frequency;
  tone.value = times(here, std::conj(roots_(frequency * permutation.tau))) / window.response(offset);
  return true;
}

/// The frequency of a bucket that holds a single term. The paper accepts wrong terms from buckets with
/// collisions and lets later rounds cancel them. Here most are recognised because the two hashes differ in
/// magnitude or their phase lies between integers.
template <class Real>
bool Sfft3<Real>::single(std::size_t bucket, std::int64_t& frequency) const {
  const std::complex<double> here = here_[bucket];
  const std::complex<double> next = next_[bucket];
  const double power = std::norm(here);
  if (std::abs(std::norm(next) - power) > kAgree * power) return false;
  const std::complex<double> turn = times(next, std::conj(here));
  const double phase = std::atan2(turn.imag(), turn.real()) / (2 * std::numbers::pi);
  const double location = phase * static_cast<double>(points_);
  const double nearest = std::round(location);
  if (std::abs(location - nearest) > kOffGrid) return false;
  frequency = static_cast<std::int64_t>(nearest) & (points_ - 1);
  return true;
}

template <class Real>
bool Sfft3<Real>::locate(std::uint64_t bucket, const Permutation& permutation,
                         const FlatWindow<double>& window, Tone& tone) const {
  if (!single(bucket, tone.frequency)) return false;
  const auto frequency = static_cast<std::uint64_t>(tone.frequency);
  const double offset = offset_in(bucket, frequency, permutation, window);
  // Beyond half a bucket, the neighbour sees more of the term, which would be found twice.
  if (std::abs(offset) > 0.5) return false;
  tone.value = times(here_[bucket], std::conj(roots_(frequency * permutation.tau))) / window.response(offset);
  return true;
}

template <class Real>
std::string Sfft3<Real>::describe() const {
  return fmt::format("{} buckets and fewer, {} taps", levels_.front().window.buckets(),
                     levels_.front().window.taps());
}

template class Sfft3<float>;
template class Sfft3<double>;

}  // namespace sfft::peers
