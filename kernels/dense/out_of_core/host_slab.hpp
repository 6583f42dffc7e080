// SPDX-License-Identifier: Apache-2.0
// The host's transform of one slab of an out-of-core array, on one thread.
#pragma once

#include <memory>
#include <vector>

#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/problem/engine.hpp"

namespace sfft::detail {

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

extern template class HostRealSlab<float>;
extern template class HostRealSlab<double>;
extern template class HostSlab<float>;
extern template class HostSlab<double>;

}  // namespace sfft::detail
