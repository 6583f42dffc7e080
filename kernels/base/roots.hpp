// SPDX-License-Identifier: Apache-2.0
// Roots of unity of one order. They are tabulated if the table is short.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/index.hpp"
#include "kernels/base/turns.hpp"

namespace sfft::detail {

/// exp(2πi p/n) for p in [0, n).
class RootsOfUnity {
 public:
  explicit RootsOfUnity(std::int64_t n = 1) : n_(n) {
    constexpr std::int64_t kLongest = 4096;
    if (n > kLongest) return;
    table_.reserve(static_cast<std::size_t>(n));
    for (std::int64_t p = 0; p < n; ++p)
      table_.push_back(root_of_turns(static_cast<double>(p) / static_cast<double>(n)));
  }

  std::complex<double> operator()(std::int64_t p) const noexcept {
    return table_.empty() ? root_of_turns(static_cast<double>(p) / static_cast<double>(n_))
                          : table_[static_cast<std::size_t>(p)];
  }
  /// exp(2πi a b/n) for a, b in [0, n).
  std::complex<double> operator()(std::int64_t a, std::int64_t b) const noexcept {
    if (table_.empty()) return root_of_turns(turns_of(a, b, n_));
    return table_[static_cast<std::size_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b) %
                                           static_cast<std::uint32_t>(n_))];
  }

 private:
  std::int64_t n_;
  std::vector<std::complex<double>> table_;
};

}  // namespace sfft::detail
