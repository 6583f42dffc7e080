// SPDX-License-Identifier: Apache-2.0
// Multiplies the host's columns by the twiddles between the two transforms of a long line, while they are in
// cache.
#pragma once

#include <complex>
#include <cstdint>

#include "kernels/base/root_table.hpp"
#include "kernels/dense/out_of_core/out_of_core_device.hpp"

namespace sfft::detail {

template <class Real>
class HostFactors {
 public:
  HostFactors() = default;
  /// `length` is Twiddles::length; 0 means that there are no twiddles.
  explicit HostFactors(std::int64_t length) {
    if (length > 0) roots_ = RootTable(length, length);
  }

  /// Multiplies by.rows rows of columns column … column + count − 1, in split layout.
  void multiply(const PieceFactors& by, std::int64_t column, std::int64_t count, Real* re, Real* im) const;

 private:
  std::complex<double> root(const PieceFactors& by, std::int64_t k) const {
    return by.scale * (by.inverse ? std::conj(roots_(k)) : roots_(k));
  }
  /// For elements of a single value, and of several values.
  void multiply_lines(const PieceFactors& by, std::int64_t column, std::int64_t count, Real* re,
                      Real* im) const;
  void multiply_elements(const PieceFactors& by, std::int64_t column, std::int64_t count, Real* re,
                         Real* im) const;

  RootTable roots_;
};

extern template class HostFactors<float>;
extern template class HostFactors<double>;

}  // namespace sfft::detail
