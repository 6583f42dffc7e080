// SPDX-License-Identifier: Apache-2.0
// Reads the samples of a plan into registers: stage "permute" and, for flat windows, also "subsample".
#pragma once

#include "kernels/cuda/stages/binning.hpp"

namespace sfft::detail::cuda {

template <class T>
struct IsComplex {
  static constexpr bool value = false;
};
template <class Real>
struct IsComplex<Complex<Real>> {
  static constexpr bool value = true;
};

/// Reads one complex sample, or two real ones as real and imaginary part. Does not use __ldg(), which the
/// compiler may move ahead of await_previous_kernel().
template <class Real, class T>
__device__ __forceinline__ Complex<Real> read_pair(const T* frame, std::int64_t first, std::int64_t second) {
  __builtin_assume(__isGlobal(frame));
  if constexpr (IsComplex<T>::value) {
    const T z = frame[first];
    return {static_cast<Real>(z.re), static_cast<Real>(z.im)};
  } else {
    return {static_cast<Real>(frame[first]), static_cast<Real>(frame[second])};
  }
}

// A source's fetch() only loads, so that a thread can keep many loads in flight; settle() then subtracts the
// reference. A condition between two loads would make the second wait for the first.

/// Samples of a comb. Point i of row `outer` is at position outer·row_points + i of the bucket grid.
template <class Real, class T>
struct CombSource {
  static constexpr bool kComb = true;
  const Binning<Real>& plan;
  const T* frame;
  const Complex<Real>* reference;
  const std::int64_t* offsets;  ///< the plan's sample offsets

  struct Row {
    const T* frame;
    std::int64_t second;  ///< from the first delay's sample to the second's
    const Complex<Real>* reference;
  };
  __device__ __forceinline__ Row row(int lane, int outer) const {
    const int slab = static_cast<int>(plan.by_rows.divide(outer));
    const std::int64_t start = slab * plan.strides[0] + (outer - slab * plan.rows_per_slab) * plan.strides[1];
    const bool real = !IsComplex<T>::value;
    const std::int64_t first = offsets[real ? 2 * lane : lane];
    const std::int64_t second = real ? offsets[2 * lane + 1] - first : 0;
    return {frame + start + first, second,
            reference == nullptr
                ? nullptr
                : reference + static_cast<std::int64_t>(lane) * plan.fft.points + outer * plan.row_points};
  }
  __device__ __forceinline__ Complex<Real> fetch(const Row& row, int i) const {
    const std::int64_t at = i * plan.strides[2];
    return read_pair<Real, T>(row.frame, at, at + row.second);
  }
  /// The reference at that point; 0 without a reference.
  __device__ __forceinline__ Complex<Real> known(const Row& row, int i) const {
    return row.reference == nullptr ? Complex<Real>{0, 0} : load_constant(row.reference + i);
  }
  __device__ __forceinline__ void settle(const Row& row, int i, Complex<Real>& z) const {
    if (row.reference == nullptr) return;
    const Complex<Real> there = row.reference[i];
    z.re -= there.re;
    z.im -= there.im;
  }
};

/// Windowed and folded taps of a flat window.
template <class Real, class T>
struct FlatSource {
  static constexpr bool kComb = false;  ///< a point sums many samples, so the first pass only loads
  const Binning<Real>& plan;
  const T* frame;
  const Complex<Real>* reference;

  struct Row {
    const std::int64_t *first, *second;
    const Complex<Real>* reference;
  };
  __device__ __forceinline__ std::int64_t taps() const {
    return static_cast<std::int64_t>(plan.folds) * plan.fft.points;
  }
  __device__ __forceinline__ Row row(int lane, int) const {
    const bool real = !IsComplex<T>::value;
    const std::int64_t* first = plan.tap_offsets + (real ? 2 * lane : lane) * taps();
    return {first, real ? first + taps() : first, reference == nullptr ? nullptr : reference + lane * taps()};
  }
  /// Tap m as loaded, minus the reference's tap.
  template <bool kReference>
  __device__ __forceinline__ Complex<Real> tap(const Row& row, std::int64_t m) const {
    Complex<Real> z = read_pair<Real, T>(frame, __ldg(row.first + m), __ldg(row.second + m));
    if (kReference) {
      const Complex<Real> known = row.reference[m];
      z.re -= known.re;
      z.im -= known.im;
    }
    return z;
  }
  template <bool kReference>
  __device__ __forceinline__ Complex<Real> fold(const Row& row, int i) const {
    Complex<Real> sum{0, 0};
#pragma unroll 4
    for (int a = 0; a < plan.folds; ++a) {
      const std::int64_t m = i + static_cast<std::int64_t>(a) * plan.fft.points;
      const Complex<Real> z = tap<kReference>(row, m);
      const Real weight = __ldg(plan.window + m);
      sum.re += weight * z.re;
      sum.im += weight * z.im;
    }
    return sum;
  }
  __device__ __forceinline__ Complex<Real> fetch(const Row& row, int i) const {
    return row.reference == nullptr ? fold<false>(row, i) : fold<true>(row, i);
  }
  __device__ __forceinline__ void settle(const Row&, int, Complex<Real>&) const {}
};

/// Calls `use(T{})` with the C++ type of an element type.
template <class Use>
inline void with_element(Element type, const Use& use) {
  switch (type) {
    case Element::u8:
      return use(static_cast<std::uint8_t>(0));
    case Element::u16:
      return use(static_cast<std::uint16_t>(0));
    case Element::f32:
      return use(0.0F);
    case Element::f64:
      return use(0.0);
    case Element::c64:
      return use(Complex<float>{});
    case Element::c128:
      return use(Complex<double>{});
  }
}

}  // namespace sfft::detail::cuda
