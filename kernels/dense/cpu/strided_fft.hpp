// SPDX-License-Identifier: Apache-2.0
// FFTs along any axes of arrays with strides: the passes of both directions.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/dense/cpu/strided_pass.hpp"
#include "kernels/dense/problem/engine.hpp"
#include "sfft/dense_options.hpp"

namespace sfft::detail {

/// The first pass reads one array and writes the other, further passes work in place there. Short dimensions
/// share a pass. If there are several passes, a batch is divided into units that stay in cache from one pass
/// to the next. Immutable, thread-safe.
template <class Real>
class StridedFft {
  using Complex = std::complex<Real>;

 public:
  StridedFft(const dense::Layout& layout, bool real);

  std::int64_t units() const noexcept { return units_; }
  /// Points of one unit.
  std::int64_t unit_points() const noexcept { return unit_points_; }
  /// Bytes of 64-byte aligned memory for the transform of a unit on this number of threads.
  std::size_t workspace_bytes(int threads) const noexcept;

  /// Transform one unit and multiply it by `scale`. The arrays may be the same memory if their layouts agree.
  void forward(std::int64_t unit, const void* signal, ElementType type, Complex* spectrum, Real scale,
               const EngineScratch& scratch) const;
  /// `signal` holds Reals or complex values.
  void inverse(std::int64_t unit, const Complex* spectrum, void* signal, Real scale,
               const EngineScratch& scratch) const;

 private:
  /// Offsets of a unit.
  struct Place {
    std::int64_t signal, spectrum;
  };

  void make_units(std::vector<dense::Layout::Dimension>& batch, std::int64_t points);
  Place place(std::int64_t unit) const noexcept;
  void run(const StridedPass<Real>& pass, const void* from, ElementType type, void* to, bool inverse,
           Real scale, const EngineScratch& scratch) const;

  bool real_;
  std::vector<dense::Layout::Dimension> unit_dimensions_;  ///< slowest first
  std::int64_t units_ = 1, unit_points_ = 1;
  std::vector<StridedPass<Real>> forward_, inverse_;
  std::size_t pass_bytes_ = 0;  ///< workspace of one thread
  std::size_t copy_bytes_ = 0;  ///< half spectra between the passes of an inverse
};

extern template class StridedFft<float>;
extern template class StridedFft<double>;

}  // namespace sfft::detail
