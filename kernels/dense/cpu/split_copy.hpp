// SPDX-License-Identifier: Apache-2.0
// Copies between arrays with strides and the split buffers of small FFTs.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/cpu/small_fft/small_fft_line.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// A dimension of an array; the strides are in elements, of the array and of the buffers.
struct StridedAxis {
  std::int64_t extent = 1, stride = 1, split = 1;
};

/// Copies between an array with strides and buffers that hold the same elements without gaps. Rows or columns
/// that are contiguous in the array are copied by vectors. Immutable, thread-safe.
template <class Real>
class SplitCopy {
 public:
  SplitCopy() = default;
  /// `axes`: slowest first, as in the buffers, whose strides follow from that.
  explicit SplitCopy(const std::vector<StridedAxis>& axes);

  std::int64_t points() const noexcept { return points_; }
  /// Elements of `type` to to.re and to.im. Imaginary parts of real elements are zero. Overwrites the other
  /// two buffers.
  void load(const void* from, ElementType type, const cpu::SplitBuffers<Real>& to) const;
  /// from.re and from.im times `scale` to complex values. Overwrites from.re and from.im.
  void store(const cpu::SplitBuffers<Real>& from, Real scale, std::complex<Real>* to) const;
  /// The same for real elements. `other` is a second buffer, which both overwrite.
  void load_reals(const void* from, ElementType type, Real* to, Real* other) const;
  void store_reals(const Real* from, Real scale, Real* to, Real* other) const;

 private:
  /// How the last axes are copied, which form a plane: usually its rows and columns.
  enum class Plane : std::uint8_t {
    rows,     ///< rows are contiguous in the array
    columns,  ///< columns are contiguous in the array
    single,   ///< neither: elements are copied by a table of offsets
  };

  /// Calls action(offset in the array, offset in the buffers) for every plane.
  template <class Action>
  void over_planes(const Action& action) const;
  /// Calls action(offset in the array, index in the plane) for every element of a plane.
  template <class Action>
  void over_elements(const Action& action) const;
  void columns_to_rows(const Real* columns, Real* to, Real* work) const;
  void rows_to_columns(const Real* from, Real* columns, Real* work) const;

  std::vector<StridedAxis> outer_;     ///< all axes but those of planes
  StridedAxis row_{1, 0, 0}, column_;  ///< number and distance of rows, and of columns
  std::vector<std::int64_t> offsets_;
  Plane kind_ = Plane::rows;
  std::int64_t plane_ = 1, points_ = 1;
};

extern template class SplitCopy<float>;
extern template class SplitCopy<double>;

}  // namespace sfft::detail
