// SPDX-License-Identifier: Apache-2.0
// What the host does with its share of an out-of-core array, on one thread: transforms of slabs, and factors
// of columns.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/out_of_core/out_of_core_device.hpp"
#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

/// Multiplies columns by the twiddles between the two transforms of a long line, while they are in cache.
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

/// A dimension of a slab other than the last: `outer` grids of `points` values.
template <class Real>
struct SlabColumns {
  ColumnStage<Real> stage;
  std::int64_t outer, points;

  void transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse,
                 std::byte* scratch) const {
    for (std::int64_t o = 0; o < outer; ++o)
      stage.transform(from + o * points, to + o * points, inverse, scratch);
  }
};

/// Slabs of the shape `stored`. The first `row_points` values of every row are transformed; the others are
/// neither read nor preserved.
template <class Real>
class HostSlab {
 public:
  HostSlab(const Shape& stored, std::int64_t row_points);

  /// Scratch of one thread, a multiple of 64 bytes.
  std::size_t scratch_bytes() const noexcept;
  /// The arrays may be the same.
  void transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse, Real scale,
                 std::byte* scratch) const;

 private:
  Shape stored_;
  std::int64_t row_points_;
  std::unique_ptr<const DenseEngine<Real>> engine_;  ///< for slabs without gaps
  std::unique_ptr<const RowStage<Real>> row_;        ///< for slabs with gaps
  std::vector<SlabColumns<Real>> columns_;
};

/// Slabs of real rows of `points` samples, whose starts are `pitch` samples apart, and half spectra of the
/// shape `stored`.
template <class Real>
class HostRealSlab {
 public:
  HostRealSlab(const Shape& stored, std::int64_t points, std::int64_t pitch);

  std::size_t scratch_bytes() const noexcept;
  /// May be in place if rows of samples have room for half spectra.
  void forward(const Real* samples, std::complex<Real>* spectrum, Real scale, std::byte* scratch) const;
  void inverse(const std::complex<Real>* spectrum, Real* samples, Real scale, std::byte* scratch) const;

 private:
  /// Bytes for the results of the columns, if the array of samples has no room for them.
  std::size_t held_bytes() const noexcept;
  bool padded() const noexcept { return pitch_ == 2 * stored_[stored_.rank() - 1]; }

  Shape stored_;
  std::int64_t points_, pitch_;
  RowStage<Real> row_;
  std::vector<SlabColumns<Real>> columns_;
};

extern template class HostFactors<float>;
extern template class HostFactors<double>;
extern template class HostRealSlab<float>;
extern template class HostRealSlab<double>;
extern template class HostSlab<float>;
extern template class HostSlab<double>;

}  // namespace sfft::detail
