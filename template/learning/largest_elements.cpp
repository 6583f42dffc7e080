// SPDX-License-Identifier: Apache-2.0
// Collects up to twice as many elements as wanted, then raises the level to a power that at least k elements
// reach, and drops the elements below it. Only finish() always needs the k-th largest power itself.
#include "template/learning/spectrum_passes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace sfft::detail {

namespace {

/// Dropping fewer than this does not pay off.
constexpr std::int64_t kSpare = 64;

}  // namespace

PartialSelection::PartialSelection(std::size_t cells, std::int64_t k, double level)
    : kernels_(&cpu::spectrum_scan_kernels()), k_(k), level_(level), sums_(cells, 0.0) {}

/// Slightly below the level: kernels may fuse multiplication and addition, but offer() does not, so they
/// round differently.
double PartialSelection::scan_level() const noexcept {
  return level_ * (1 - 8 * std::numeric_limits<double>::epsilon());
}

void PartialSelection::offer(std::int64_t index, const std::complex<double>& value, std::int32_t cell,
                             std::int32_t multiplicity) {
  const double power = std::norm(value);
  if (!(power >= level_)) return reject(power, power, cell, multiplicity);
  elements_.push_back({power, index, value, cell, multiplicity});
  make_room(k_);
}

bool PartialSelection::raise_level() {
  constexpr std::size_t kSample = 64;
  const std::size_t size = elements_.size();
  std::array<double, kSample> sample;
  for (std::size_t i = 0; i < kSample; ++i) sample[i] = elements_[i * size / kSample].power;
  std::sort(sample.begin(), sample.end(), std::greater<>());
  const auto k = static_cast<std::size_t>(k_);
  for (std::size_t i = kSample * k / size + 2; i < kSample; i += 4) {
    const double level = sample[i];
    const auto above = static_cast<std::size_t>(
        std::count_if(elements_.begin(), elements_.end(),
                      [level](const SpectrumElement& element) { return element.power >= level; }));
    if (above < k) continue;
    if (above > (k + size) / 2) return false;
    drop([level](const SpectrumElement& element) { return element.power < level; });
    level_ = level;
    return true;
  }
  return false;
}

template <class Unwanted>
void PartialSelection::drop(const Unwanted& unwanted) {
  const auto rejected = [&](const SpectrumElement& element) {
    if (!unwanted(element)) return false;
    reject(element.power, element.power, element.cell, element.multiplicity);
    return true;
  };
  elements_.erase(std::remove_if(elements_.begin(), elements_.end(), rejected), elements_.end());
}

std::vector<double> PartialSelection::powers_around(std::size_t rank) const {
  std::vector<double> powers;
  powers.reserve(elements_.size());
  for (const SpectrumElement& element : elements_) powers.push_back(element.power);
  std::nth_element(powers.begin(), powers.begin() + static_cast<std::ptrdiff_t>(rank), powers.end(),
                   std::greater<>());
  return powers;
}

void PartialSelection::raise_level_to(std::size_t rank) {
  level_ = powers_around(rank)[rank];
  drop([this](const SpectrumElement& element) { return element.power < level_; });
}

void PartialSelection::keep_largest() {
  const auto k = static_cast<std::ptrdiff_t>(k_);
  if (static_cast<std::ptrdiff_t>(elements_.size()) <= k) return;
  const std::vector<double> powers = powers_around(static_cast<std::size_t>(k - 1));
  const auto min = powers.begin() + (k - 1);
  level_ = *min;
  // The largest k powers end with `*min`, but elements of exactly that power may be on both sides of it.
  const auto tied = std::count(powers.begin(), min + 1, level_);
  std::vector<std::int64_t> ties;
  for (const SpectrumElement& element : elements_) {
    if (element.power == level_) ties.push_back(element.index);
  }
  std::nth_element(ties.begin(), ties.begin() + (tied - 1), ties.end());
  const std::int64_t last_tie = ties[static_cast<std::size_t>(tied - 1)];
  drop([&](const SpectrumElement& element) {
    return element.power < level_ || (element.power == level_ && element.index > last_tie);
  });
}

void PartialSelection::make_room(std::int64_t spare) {
  if (static_cast<std::int64_t>(elements_.size()) < k_ + spare + kSpare) return;
  if (!raise_level()) keep_largest();
}

void LargestElements::take(PartialSelection&& part) {
  for (std::size_t c = 0; c < part.sums_.size(); ++c) all_.sums_[c] += part.sums_[c];
  all_.largest_outside_ = std::max(all_.largest_outside_, part.largest_outside_);
  all_.mean += part.mean;
  all_.elements_.insert(all_.elements_.end(), part.elements_.begin(), part.elements_.end());
  all_.make_room(all_.k_);
}

void LargestElements::raise_level() {
  all_.make_room(all_.k_ / 4);
}

void LargestElements::suggest_level(double share) {
  constexpr double kDeviations = 4;  // of a Poisson count
  const double expected = share * static_cast<double>(all_.k_);
  const auto rank = static_cast<std::size_t>(expected + kDeviations * (std::sqrt(expected) + 1));
  if (rank >= all_.elements_.size()) return;
  suggested_ = true;
  all_.raise_level_to(rank);
}

void LargestElements::finish() {
  all_.keep_largest();
  std::sort(all_.elements_.begin(), all_.elements_.end(),
            [](const SpectrumElement& a, const SpectrumElement& b) { return a.index < b.index; });
}

}  // namespace sfft::detail
