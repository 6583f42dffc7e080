// SPDX-License-Identifier: Apache-2.0
// The FFT of a 2D signal for readers that need only a few coefficients. It skips columns that contain none of
// them.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/dense/cpu/line_stage.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// Computes the coefficients at some elements of the spectrum, bit for bit as the built-in engine does. It
/// transforms every row, and then the columns that contain an element. Immutable, thread-safe.
template <class Real>
class PickedFft {
 public:
  /// Whether enough columns are skipped to be faster than a whole FFT. `elements` are indices into the
  /// spectrum as stored.
  static bool worthwhile(const Shape& shape, bool real, std::span<const std::int64_t> elements);

  /// The shape must have rank 2. Elements may repeat and come in any order.
  PickedFft(const Shape& shape, bool real, std::span<const std::int64_t> elements);

  /// Bytes of scratch memory per call, which must be 64-byte aligned.
  std::size_t scratch_bytes() const noexcept;
  /// `signal` holds all samples contiguously. `values` receives one coefficient per element, in their order.
  void forward(const void* signal, ElementType type, std::span<std::complex<Real>> values,
               std::byte* scratch) const;

 private:
  std::size_t stage_bytes() const noexcept;
  std::size_t row_bytes() const noexcept;

  std::int64_t rows_, row_points_;
  RowStage<Real> row_;
  std::vector<std::int64_t> columns_;  ///< kept columns of the stored spectrum, ascending
  std::int64_t width_;                 ///< columns of the table; a few may be empty
  ColumnStage<Real> across_;
  std::vector<std::int64_t> places_;  ///< places of the elements in the table
};

extern template class PickedFft<float>;
extern template class PickedFft<double>;

}  // namespace sfft::detail
