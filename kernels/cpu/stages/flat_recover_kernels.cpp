// SPDX-License-Identifier: Apache-2.0
// Dot products stay in vectors until a vector's worth of rows is done; pairwise folds then add the lanes.
#include <utility>

#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/flat_recover.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

/// Adds the two halves of every segment of S lanes of a, then of b. The result has twice as many segments,
/// each half as long.
template <int S, class V, std::size_t... I>
inline __attribute__((always_inline)) V fold_segments(V a, V b, std::index_sequence<I...>) {
  constexpr int H = S / 2;
  const V low = __builtin_shufflevector(a, b, (static_cast<int>(I) / H * S + static_cast<int>(I) % H)...);
  const V high =
      __builtin_shufflevector(a, b, (static_cast<int>(I) / H * S + static_cast<int>(I) % H + H)...);
  return low + high;
}

template <class Real>
struct ComplexRows {
  const Real *re, *im;
  const std::int32_t* start;
  const Real* weights;
  std::int64_t length;
};

template <class Real>
struct RealRows {
  const Real *re, *im;
  const std::int32_t *start, *mirror;
  const Real* weights;
  std::int64_t length;
};

/// The dot product of row i before its lanes are added: real parts in the first half of the lanes, imaginary
/// parts in the second.
template <class Real, int kVectors>
inline __attribute__((always_inline)) typename Simd<Real>::Vector row_sum(const ComplexRows<Real>& rows,
                                                                          std::int64_t i) {
  using S = Simd<Real>;
  const std::int64_t length = kVectors > 0 ? kVectors * S::kLanes : rows.length;
  const Real* zr = rows.re + rows.start[i];
  const Real* zi = rows.im + rows.start[i];
  const Real* weights = rows.weights + 2 * i * length;
  typename S::Vector sum_re{}, sum_im{};
  for (std::int64_t q = 0; q < length; q += S::kLanes) {
    const auto a = S::load(weights + q), b = S::load(weights + length + q);
    const auto x = S::load(zr + q), y = S::load(zi + q);
    sum_re += a * x;
    sum_re -= b * y;
    sum_im += a * y;
    sum_im += b * x;
  }
  return fold_segments<S::kLanes>(sum_re, sum_im, std::make_index_sequence<S::kLanes>());
}

template <class Real, int kVectors>
inline __attribute__((always_inline)) typename Simd<Real>::Vector row_sum(const RealRows<Real>& rows,
                                                                          std::int64_t i) {
  using S = Simd<Real>;
  const std::int64_t length = kVectors > 0 ? kVectors * S::kLanes : rows.length;
  const Real* zr = rows.re + rows.start[i];
  const Real* zi = rows.im + rows.start[i];
  const Real* mr = rows.re + rows.mirror[i];
  const Real* mi = rows.im + rows.mirror[i];
  const Real* weights = rows.weights + 4 * i * length;
  typename S::Vector sum_re{}, sum_im{};
  for (std::int64_t q = 0; q < length; q += S::kLanes) {
    const auto a = S::load(weights + q), b = S::load(weights + length + q);
    const auto x = S::load(zr + q), y = S::load(zi + q);
    sum_re += a * x;
    sum_re -= b * y;
    sum_im += a * y;
    sum_im += b * x;
    const auto c = S::load(weights + 2 * length + q), d = S::load(weights + 3 * length + q);
    const auto u = S::load(mr + q), v = S::load(mi + q);
    sum_re += c * u;
    sum_re += d * v;
    sum_im += d * u;
    sum_im -= c * v;
  }
  return fold_segments<S::kLanes>(sum_re, sum_im, std::make_index_sequence<S::kLanes>());
}

/// The values of kRows rows in 2·kRows segments of a vector; with kLanes/2 rows each lane is one number.
template <class Real, int kVectors, int kRows, class Rows>
inline __attribute__((always_inline)) typename Simd<Real>::Vector rows_sum(const Rows& rows, std::int64_t i) {
  if constexpr (kRows == 1) {
    return row_sum<Real, kVectors>(rows, i);
  } else {
    const auto first = rows_sum<Real, kVectors, kRows / 2>(rows, i);
    const auto second = rows_sum<Real, kVectors, kRows / 2>(rows, i + kRows / 2);
    return fold_segments<Simd<Real>::kLanes / kRows>(first, second,
                                                     std::make_index_sequence<Simd<Real>::kLanes>());
  }
}

template <class Real, int kVectors, class Rows>
void read_rows(const Rows& rows, std::int64_t count, Real* values) {
  using S = Simd<Real>;
  constexpr int kBlock = S::kLanes / 2;
  std::int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock)
    S::store(values + 2 * i, rows_sum<Real, kVectors, kBlock>(rows, i));
  for (; i < count; ++i) {
    const typename S::Vector sums = row_sum<Real, kVectors>(rows, i);
    Real re = 0, im = 0;
    for (int l = 0; l < kBlock; ++l) {
      re += sums[l];
      im += sums[kBlock + l];
    }
    values[2 * i] = re;
    values[2 * i + 1] = im;
  }
}

template <class Real, class Rows>
void read_any(const Rows& rows, std::int64_t count, Real* values) {
  switch (rows.length / Simd<Real>::kLanes) {
    case 1:
      return read_rows<Real, 1>(rows, count, values);
    case 2:
      return read_rows<Real, 2>(rows, count, values);
    case 3:
      return read_rows<Real, 3>(rows, count, values);
    case 4:
      return read_rows<Real, 4>(rows, count, values);
    case 6:
      return read_rows<Real, 6>(rows, count, values);
    default:
      return read_rows<Real, 0>(rows, count, values);
  }
}

template <class Real>
void read_complex(const Real* re, const Real* im, const std::int32_t* start, const Real* weights,
                  std::int64_t length, std::int64_t rows, Real* values) {
  read_any(ComplexRows<Real>{re, im, start, weights, length}, rows, values);
}

template <class Real>
void read_real(const Real* re, const Real* im, const std::int32_t* start, const std::int32_t* mirror,
               const Real* weights, std::int64_t length, std::int64_t rows, Real* values) {
  read_any(RealRows<Real>{re, im, start, mirror, weights, length}, rows, values);
}

template <class Real>
constexpr FlatRecoverKernels<Real> kTable{read_complex<Real>, read_real<Real>};

}  // namespace

const FlatRecoverKernels<float>& flat_recover_table_float() noexcept {
  return kTable<float>;
}
const FlatRecoverKernels<double>& flat_recover_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
