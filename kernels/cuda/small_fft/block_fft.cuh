// SPDX-License-Identifier: Apache-2.0
// The FFT that one block computes: passes over lanes of a small grid in shared memory
// (kernels/cuda/small_fft/fft_pass.hpp).
#pragma once

#include "kernels/base/radix/butterfly.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/small_fft/fft_pass.hpp"

namespace sfft::detail::cuda {

/// Padding by one element every 128 bytes keeps the passes' power-of-two strides off the same banks.
template <class Real>
__host__ __device__ constexpr int padded(int i) {
  return i + (i >> (sizeof(Real) == 4 ? 4 : 3));
}

/// The pitch of lanes in elements, chosen so that lanes written together start in different banks.
template <class Real>
inline int lane_pitch(int points, int lanes) {
  constexpr int kBanks = sizeof(Real) == 4 ? 16 : 8;
  const int step = lanes < kBanks ? kBanks / lanes : 1;
  int pitch = padded<Real>(points - 1) + 1;
  while (pitch % kBanks != step % kBanks) ++pitch;
  return pitch;
}

extern __shared__ __align__(16) unsigned char shared_bytes[];

template <class T>
__device__ __forceinline__ T* shared_at(int offset) {
  return reinterpret_cast<T*>(shared_bytes + offset);
}

__device__ __forceinline__ Complex<float> load_constant(const Complex<float>* at) {
  const float2 z = __ldg(reinterpret_cast<const float2*>(at));
  return {z.x, z.y};
}
__device__ __forceinline__ Complex<double> load_constant(const Complex<double>* at) {
  const double2 z = __ldg(reinterpret_cast<const double2*>(at));
  return {z.x, z.y};
}

/// The twiddles of a butterfly. kConstant: the table is in global memory and never written.
template <int R, class Real>
struct Twiddles {
  Complex<Real> w[R];  ///< [0] is unused

  template <bool kConstant>
  static __device__ __forceinline__ Twiddles load(const FftPass& pass, const Complex<Real>* table, int p) {
    Twiddles out{};
    if (pass.twiddles < 0) return out;
    const Complex<Real>* const twiddles = table + pass.twiddles + p;
#pragma unroll
    for (int r = 1; r < R; ++r) {
      const Complex<Real>* const at = twiddles + (r - 1) * pass.m;
      out.w[r] = kConstant ? load_constant(at) : *at;
    }
    return out;
  }
};

template <int R, class Real>
struct Radix {
  /// Calls load(j, re, im) for j < R, computes the butterfly, calls twiddles() and store(r, re, im).
  template <class Load, class Turn, class Store>
  static __device__ __forceinline__ void run(const FftPass& pass, const Load& load, const Turn& twiddles,
                                             const Store& store) {
    // Load all twiddles before the first store. The compiler cannot tell that a store leaves the table alone,
    // and would otherwise load them one after the other.
    Real re[R], im[R];
    Butterfly<R>::template stream<Real, Real>(load, [&](int r, Real a, Real b) {
      re[r] = a;
      im[r] = b;
    });
    if (pass.twiddles >= 0) {
      const Twiddles<R, Real> turn = twiddles();
#pragma unroll
      for (int r = 1; r < R; ++r) multiply(re[r], im[r], turn.w[r].re, turn.w[r].im);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) store(r, re[r], im[r]);
  }
};

template <class Real>
struct Radix<1, Real> {
  template <class Load, class Turn, class Store>
  static __device__ __forceinline__ void run(const FftPass&, const Load& load, const Turn&,
                                             const Store& store) {
    Real re, im;
    load(0, re, im);
    store(0, re, im);
  }
};

/// The position of a lane's u-th butterfly.
struct Place {
  int outer, column, p;
};

__device__ __forceinline__ Place place_of(const FftPass& pass, int u) {
  Place at;
  at.outer = static_cast<int>(pass.by_columns.divide(u));
  at.column = u - at.outer * pass.columns;
  at.p = static_cast<int>(pass.by_stride.divide(at.column));
  return at;
}

/// One pass within shared memory. kOne: there is a single lane. kWait: waits at a barrier for the data; the
/// table is already there and is read before the barrier.
template <int R, bool kOne, bool kWait, class Real>
__device__ __forceinline__ void butterfly_pass(const FftPass& pass, int points, const Complex<Real>* table,
                                               int from, int to, int lanes, int pitch) {
  const int butterflies = points / R, total = (kOne ? 1 : lanes) * butterflies;
  const auto lane_of = [&](int t) { return kOne ? 0 : static_cast<int>(pass.by_butterflies.divide(t)); };
  const auto butterfly = [&](int lane, const Place& at, const auto& twiddles) {
    const int base = at.outer * pass.columns * R + at.column;
    const int first = base + at.p * pass.stride * (R - 1);
    const Complex<Real>* in = shared_at<Complex<Real>>(from) + lane * pitch;
    Complex<Real>* out = shared_at<Complex<Real>>(to) + lane * pitch;
    Radix<R, Real>::run(
        pass,
        [&](int j, Real& re, Real& im) {
          const Complex<Real> z = in[padded<Real>(base + j * pass.columns)];
          re = z.re;
          im = z.im;
        },
        twiddles,
        [&](int r, Real re, Real im) {
          const int i = first + r * pass.stride;
          out[padded<Real>(i)] = {re, im};
        });
  };
  const auto load = [&](const Place& at) {
    return Twiddles<R, Real>::template load<false>(pass, table, at.p);
  };
  if constexpr (kWait) {
    int t = threadIdx.x, lane = 0;
    Place at{};
    Twiddles<R, Real> ahead;
    const auto prepare = [&] {
      if (t >= total) return;
      lane = lane_of(t);
      at = place_of(pass, t - lane * butterflies);
      ahead = load(at);
    };
    prepare();
    __syncthreads();
    for (; t < total; t += blockDim.x, prepare()) butterfly(lane, at, [&] { return ahead; });
  } else {
    // Values of the next round are not prefetched: that would take registers.
    for (int t = threadIdx.x; t < total; t += blockDim.x) {
      const int lane = lane_of(t);
      const Place at = place_of(pass, t - lane * butterflies);
      butterfly(lane, at, [&] { return load(at); });
    }
  }
}

/// A pass whose radix has no butterfly: every output is a sum of R terms.
template <class Real>
__device__ __forceinline__ void summed_pass(const FftPass& pass, int points, const Complex<Real>* table,
                                            int from, int to, int lanes, int pitch) {
  const int radix = pass.radix;
  for (int t = threadIdx.x; t < lanes * points; t += blockDim.x) {
    const int output = t / lanes;
    const int lane = t - output * lanes;
    const int r = output / (points / radix);
    const Place at = place_of(pass, output - r * (points / radix));
    const int base = at.outer * pass.columns * radix + at.column;
    const Complex<Real>* in = shared_at<Complex<Real>>(from) + lane * pitch;
    Complex<Real> sum{0, 0};
    for (int j = 0, turn = 0; j < radix; ++j) {
      const Complex<Real> w = table[pass.roots + turn];
      const Complex<Real> z = in[padded<Real>(base + j * pass.columns)];
      sum.re += z.re * w.re - z.im * w.im;
      sum.im += z.re * w.im + z.im * w.re;
      turn += r;
      if (turn >= radix) turn -= radix;
    }
    if (pass.twiddles >= 0 && r > 0) {
      const Complex<Real> w = table[pass.twiddles + (r - 1) * pass.m + at.p];
      multiply(sum.re, sum.im, w.re, w.im);
    }
    const int i = base + at.p * pass.stride * (radix - 1) + r * pass.stride;
    (shared_at<Complex<Real>>(to) + lane * pitch)[padded<Real>(i)] = sum;
  }
}

/// Radices with a case in the switch below: the `block` radices of kRadices, as small_fft.cu checks.
constexpr int kSwitchedRadices[] = {2, 3, 4, 5, 6, 7, 8, 9};

#define SFFT_RADIX_SWITCH(radix, CALL, OTHERWISE) \
  switch (radix) {                                \
    case 2:                                       \
      CALL(2) break;                              \
    case 3:                                       \
      CALL(3) break;                              \
    case 4:                                       \
      CALL(4) break;                              \
    case 5:                                       \
      CALL(5) break;                              \
    case 6:                                       \
      CALL(6) break;                              \
    case 7:                                       \
      CALL(7) break;                              \
    case 8:                                       \
      CALL(8) break;                              \
    case 9:                                       \
      CALL(9) break;                              \
    default:                                      \
      OTHERWISE                                   \
  }

/// Pass i > 0; kOne and kWait as for butterfly_pass().
template <bool kOne, bool kWait, class Real>
__device__ __forceinline__ void run_pass(const FftPass& pass, int i, int points, const Complex<Real>* table,
                                         int buffer0, int buffer1, int lanes, int pitch) {
  const int from = i % 2 == 1 ? buffer0 : buffer1;
  const int to = i % 2 == 1 ? buffer1 : buffer0;
#define SFFT_PASS(R) butterfly_pass<R, kOne, kWait>(pass, points, table, from, to, lanes, pitch);
  SFFT_RADIX_SWITCH(pass.radix, SFFT_PASS, {
    if (kWait) __syncthreads();
    summed_pass(pass, points, table, from, to, lanes, pitch);
  })
#undef SFFT_PASS
}

/// later_passes(), inlined. kOne: it has at least one barrier, but none at its end.
template <bool kOne, class Real>
__device__ __forceinline__ void run_later_passes(const FftPass* passes, int count, int points,
                                                 const Complex<Real>* table, int buffer0, int buffer1,
                                                 int lanes, int pitch) {
  if constexpr (kOne) {
    __syncthreads();
    FftPass next = passes[min(1, count - 1)];
    for (int i = 1; i < count; ++i) {
      const FftPass pass = next;
      next = passes[min(i + 1, count - 1)];  // in flight during this one
      run_pass<true, true>(pass, i, points, table, buffer0, buffer1, 1, pitch);
    }
  } else {
    for (int i = 1; i < count; ++i) {
      __syncthreads();
      const FftPass pass = passes[i];
      run_pass<false, false>(pass, i, points, table, buffer0, buffer1, lanes, pitch);
    }
  }
}

/// As above, from pass kFirst on, for one lane and a schedule known at compile time. All indices are
/// constants, so the schedule needs no memory.
template <int kFirst, class Real>
__device__ __forceinline__ void run_known_passes(const FftSchedule& fft, const Complex<Real>* table,
                                                 int buffer0, int buffer1, int pitch) {
  if (kFirst == 1) __syncthreads();
  if constexpr (kFirst < kMaxPasses) {
    if (kFirst < fft.passes) {
      run_pass<true, (kFirst > 1)>(fft.pass[kFirst], kFirst, fft.points, table, buffer0, buffer1, 1, pitch);
      return run_known_passes<kFirst + 1>(fft, table, buffer0, buffer1, pitch);
    }
  }
}

/// Runs all passes but the first, which gathers. The passes alternate between the buffers at shared offsets
/// buffer0 and buffer1; the input is in buffer0. If the number of passes is odd, the result is in buffer0,
/// else in buffer1. Call directly after the first pass, without a barrier; ends with one. `passes` and
/// `table` may be in any memory.
template <class Real>
__device__ __noinline__ void later_passes(const FftPass* passes, int count, int points,
                                          const Complex<Real>* table, int buffer0, int buffer1, int lanes,
                                          int pitch) {
  run_later_passes<false>(passes, count, points, table, buffer0, buffer1, lanes, pitch);
  __syncthreads();
}

}  // namespace sfft::detail::cuda
