// SPDX-License-Identifier: Apache-2.0
// The FFT of a 2D signal for readers that want few of its coefficients: columns without any are skipped.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/types.hpp"
#include "kernels/dense/cpu/line_stage.hpp"

namespace sfft::detail {

/// Coefficients of the built-in engine, bit for bit, at some elements of its spectrum: transforms every row,
/// and then the columns that hold an element. Immutable, thread-safe.
template <class Real>
class PickedFft {
 public:
  /// Whether it skips enough columns to pay off. `elements`: indices into the spectrum as
  /// stored.
  static bool worthwhile(const Shape& shape, bool real, std::span<const std::int64_t> elements);

  /// For a shape of rank 2. Elements may repeat and come in any order.
  PickedFft(const Shape& shape, bool real, std::span<const std::int64_t> elements);

  /// 64-byte aligned scratch of one call.
  std::size_t scratch_bytes() const noexcept;
  /// `signal` holds all samples, contiguous; `values` one coefficient per element, in their order.
  void forward(const void* signal, ElementType type, std::span<std::complex<Real>> values,
               std::byte* scratch) const;

 private:
  std::size_t stage_bytes() const noexcept;
  std::size_t row_bytes() const noexcept;

  std::int64_t rows_, row_points_;
  RowStage<Real> row_;
  std::vector<std::int64_t> columns_;  ///< that are kept, ascending; of the stored spectrum
  std::int64_t width_;                 ///< columns of the table, a few of which may be empty
  ColumnStage<Real> across_;
  std::vector<std::int64_t> places_;  ///< of the elements in the table
};

extern template class PickedFft<float>;
extern template class PickedFft<double>;

}  // namespace sfft::detail
