// SPDX-License-Identifier: Apache-2.0
// Collects up to twice as many elements as are wanted, then drops the smaller ones and raises the level.
#include "template/learning/largest_elements.hpp"

#include <algorithm>
#include <limits>

namespace sfft::detail {

namespace {

/// Elements beyond the multiple of k at which it is time to drop some.
constexpr std::int64_t kSpare = 64;

bool ranks_before(const SpectrumElement& a, const SpectrumElement& b) {
  return a.power != b.power ? a.power > b.power : a.index < b.index;
}

}  // namespace

PartialSelection::PartialSelection(std::size_t cells, std::int64_t k, double level)
    : kernels_(&cpu::spectrum_scan_kernels()), k_(k), level_(level), sums_(cells, 0.0) {}

/// Kernels may fuse the multiplication with the addition, offer() does not: they round differently.
double PartialSelection::scan_level() const noexcept {
  return level_ * (1 - 8 * std::numeric_limits<double>::epsilon());
}

void PartialSelection::offer(std::int64_t index, const std::complex<double>& value, std::int32_t cell,
                             std::int32_t multiplicity) {
  const double power = std::norm(value);
  if (!(power >= level_)) return reject(power, power, cell, multiplicity);
  elements_.push_back({power, index, value, cell, multiplicity});
  compact_beyond(k_ + kSpare);
}

void PartialSelection::compact_beyond(std::int64_t spare) {
  const auto k = static_cast<std::ptrdiff_t>(k_);
  if (static_cast<std::ptrdiff_t>(elements_.size()) < k + spare) return;
  const auto least = elements_.begin() + (k - 1);
  std::nth_element(elements_.begin(), least, elements_.end(), ranks_before);
  level_ = std::max(level_, least->power);
  for (auto element = least + 1; element != elements_.end(); ++element)
    reject(element->power, element->power, element->cell, element->multiplicity);
  elements_.erase(least + 1, elements_.end());
}

void LargestElements::take(PartialSelection&& part) {
  for (std::size_t c = 0; c < part.sums_.size(); ++c) all_.sums_[c] += part.sums_[c];
  all_.largest_outside_ = std::max(all_.largest_outside_, part.largest_outside_);
  all_.mean += part.mean;
  all_.elements_.insert(all_.elements_.end(), part.elements_.begin(), part.elements_.end());
  all_.compact_beyond(all_.k_ + kSpare);
}

void LargestElements::raise_level() {
  all_.compact_beyond(all_.k_ / 4 + kSpare);
}

void LargestElements::finish() {
  all_.compact_beyond(0);
  std::sort(all_.elements_.begin(), all_.elements_.end(),
            [](const SpectrumElement& a, const SpectrumElement& b) { return a.index < b.index; });
}

}  // namespace sfft::detail
