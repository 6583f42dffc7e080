// SPDX-License-Identifier: Apache-2.0
// Fills the buckets of all stages once, then peels: every bucket with a single term reveals that term, which
// is subtracted from its buckets in the other stages.
#include "bench/peers/ffast.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "bench/peers/permutation.hpp"

namespace sfft::peers {

namespace {

// Buckets below kEmpty times the largest are empty; a bucket whose powers at both delays agree to kAgree
// holds one term.
constexpr double kEmpty = 1e-5;
constexpr double kAgree = 1e-3;

}  // namespace

template <class Real>
Ffast<Real>::Ffast(std::int64_t points, std::int64_t k, const std::vector<std::int64_t>& stages)
    : points_(points), k_(k) {
  for (const std::int64_t buckets : stages) {
    const auto count = static_cast<std::size_t>(buckets);
    stages_.push_back({BucketFft<double>(buckets), std::vector<std::complex<double>>(count),
                       std::vector<std::complex<double>>(count), std::vector<bool>(count)});
  }
}

/// Bucket b of f is Σ X[l] over l ≡ b modulo f, and the same with exp(2πi l/N), after scaling by N/f.
template <class Real>
void Ffast<Real>::sample(std::span<const std::complex<Real>> signal, Stage& stage) {
  const std::size_t stride = signal.size() / stage.here.size();
  const std::complex<Real>* at = signal.data();
  for (std::size_t i = 0; i < stage.here.size(); ++i, at += stride) {
    stage.here[i] = at[0];
    stage.next[i] = at[1];
  }
  stage.fft.forward(stage.here);
  stage.fft.forward(stage.next);
  const auto scale = static_cast<double>(stride);
  for (auto* buckets : {&stage.here, &stage.next}) {
    for (std::complex<double>& bucket : *buckets) bucket *= scale;
  }
}

/// The ratio test: a single term has the same magnitude at both delays, and the phase between them gives its
/// frequency.
template <class Real>
bool Ffast<Real>::singleton(const Stage& stage, std::size_t index, Tone& tone) const {
  const std::complex<double> here = stage.here[index];
  const std::complex<double> next = stage.next[index];
  const double power = std::norm(here);
  if (power <= min_ || std::abs(std::norm(next) - power) > kAgree * power) return false;
  const std::complex<double> turn = times(next, std::conj(here));
  const auto n = static_cast<double>(points_);
  const auto buckets = static_cast<double>(stage.here.size());
  const double frequency = std::atan2(turn.imag(), turn.real()) / (2 * std::numbers::pi) * n;
  // The frequencies of this bucket are `buckets` apart, so a single term lies on one of them.
  const double steps = (frequency - static_cast<double>(index)) / buckets;
  const double nearest = std::round(steps);
  if (std::abs(steps - nearest) * buckets > 0.45) return false;
  const auto flat = static_cast<std::int64_t>(index) +
                    static_cast<std::int64_t>(nearest) * static_cast<std::int64_t>(stage.here.size());
  tone.frequency = (flat % points_ + points_) % points_;
  tone.value = here;
  return true;
}

template <class Real>
void Ffast<Real>::peel(const Tone& tone) {
  const std::complex<double> next =
      times(tone.value, std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(tone.frequency) /
                                            static_cast<double>(points_)));
  for (std::uint32_t s = 0; s < stages_.size(); ++s) {
    Stage& stage = stages_[s];
    const auto index = static_cast<std::size_t>(tone.frequency) % stage.here.size();
    stage.here[index] -= tone.value;
    stage.next[index] -= next;
    if (!stage.queued[index] && std::norm(stage.here[index]) > min_) {
      stage.queued[index] = true;
      queue_.push_back({s, static_cast<std::uint32_t>(index)});
    }
  }
}

template <class Real>
void Ffast<Real>::execute(std::span<const std::complex<Real>> signal, std::vector<Tone>& tones) {
  found_.clear();
  queue_.clear();
  double max = 0;
  for (Stage& stage : stages_) {
    sample(signal, stage);
    for (const std::complex<double>& bucket : stage.here) max = std::max(max, std::norm(bucket));
  }
  min_ = kEmpty * kEmpty * max;
  for (std::uint32_t s = 0; s < stages_.size(); ++s) {
    Stage& stage = stages_[s];
    for (std::size_t b = 0; b < stage.here.size(); ++b) {
      stage.queued[b] = std::norm(stage.here[b]) > min_;
      if (stage.queued[b]) queue_.push_back({s, static_cast<std::uint32_t>(b)});
    }
  }
  // Every peeled term empties a bucket. The bound is for signals that violate the assumptions.
  auto left = 4 * static_cast<std::size_t>(k_) + 16;
  for (std::size_t next = 0; next < queue_.size() && left > 0; ++next) {
    const Bucket bucket = queue_[next];
    stages_[bucket.stage].queued[bucket.index] = false;
    Tone tone;
    if (!singleton(stages_[bucket.stage], bucket.index, tone)) continue;
    found_.add(tone.frequency, tone.value);
    peel(tone);
    --left;
  }
  found_.truncate(static_cast<std::size_t>(k_));
  tones = found_.terms();
}

template <class Real>
std::int64_t Ffast<Real>::samples_read() const noexcept {
  std::int64_t samples = 0;
  for (const Stage& stage : stages_) samples += 2 * static_cast<std::int64_t>(stage.here.size());
  return samples;
}

template <class Real>
std::string Ffast<Real>::describe() const {
  std::string text = "combs of";
  for (const Stage& stage : stages_) text += fmt::format(" {}", stage.here.size());
  return text;
}

template class Ffast<float>;
template class Ffast<double>;

}  // namespace sfft::peers
