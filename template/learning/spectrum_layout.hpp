// SPDX-License-Identifier: Apache-2.0
// How a dense spectrum is stored, and which elements represent which frequencies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sfft/types.hpp"

namespace sfft::detail {

/// Stores all N frequencies of a complex signal, (n1, …, nD/2 + 1) of a real one.
struct SpectrumLayout {
  Shape shape{1};
  bool real = false;

  std::int64_t row_points() const noexcept;  ///< elements of the last dimension as stored
  std::int64_t points() const noexcept;      ///< stored elements
  /// The linear index of stored element i in the full grid.
  std::int64_t linear_index(std::int64_t i) const noexcept;
  /// Whether stored element i represents its conjugate pair: real spectra store both halves of the planes f_D
  /// = 0 and f_D = n_D/2, and the smaller linear index represents the pair.
  bool representative(std::int64_t i) const noexcept;
  /// 2 if the full spectrum holds a distinct conjugate of stored element i, else 1.
  double multiplicity(std::int64_t i) const noexcept;
  std::int64_t distinct() const noexcept;  ///< number of representatives
};

}  // namespace sfft::detail
