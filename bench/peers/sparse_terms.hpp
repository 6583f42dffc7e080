// SPDX-License-Identifier: Apache-2.0
// The sparse spectrum that an iterative algorithm has found so far.
#pragma once

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <vector>

#include "bench/peers/peer.hpp"

namespace sfft::peers {

/// Terms in the order of discovery. Adding to a known frequency adds to its value. Uses an open hash table
/// because the fastest algorithms here take microseconds.
class SparseTerms {
 public:
  void clear() {
    terms_.clear();
    std::fill(slots_.begin(), slots_.end(), kEmptySlot);
  }
  void add(std::int64_t frequency, std::complex<double> value) {
    if (2 * (terms_.size() + 1) > slots_.size()) rebuild(2 * (terms_.size() + 1));
    std::uint32_t& slot = find(frequency);
    if (slot == kEmptySlot) {
      slot = static_cast<std::uint32_t>(terms_.size());
      terms_.push_back({frequency, value});
    } else {
      terms_[slot].value += value;
    }
  }
  const std::vector<Tone>& terms() const noexcept { return terms_; }
  std::size_t size() const noexcept { return terms_.size(); }

  /// Keeps the `count` largest terms of at least `min` in magnitude.
  void truncate(std::size_t count, double min = 0) {
    if (min > 0) std::erase_if(terms_, [=](const Tone& t) { return std::norm(t.value) < min * min; });
    if (terms_.size() > count) {
      std::nth_element(terms_.begin(), terms_.begin() + static_cast<std::ptrdiff_t>(count), terms_.end(),
                       [](const Tone& a, const Tone& b) { return std::norm(a.value) > std::norm(b.value); });
      terms_.resize(count);
    }
    rebuild(slots_.size() / 2);
  }

 private:
  static constexpr std::uint32_t kEmptySlot = ~std::uint32_t{0};

  std::uint32_t& find(std::int64_t frequency) {
    const std::size_t mask = slots_.size() - 1;
    // Fibonacci hashing: the high bits of a product are well mixed.
    std::size_t at = (static_cast<std::uint64_t>(frequency) * 0x9E3779B97F4A7C15U) >> 32 & mask;
    while (slots_[at] != kEmptySlot && terms_[slots_[at]].frequency != frequency) at = (at + 1) & mask;
    return slots_[at];
  }
  void rebuild(std::size_t count) {
    slots_.assign(std::bit_ceil(std::max<std::size_t>(2 * count, 64)), kEmptySlot);
    for (std::size_t i = 0; i < terms_.size(); ++i) find(terms_[i].frequency) = static_cast<std::uint32_t>(i);
  }

  std::vector<Tone> terms_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace sfft::peers
