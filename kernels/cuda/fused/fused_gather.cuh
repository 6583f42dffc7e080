// SPDX-License-Identifier: Apache-2.0
// The fused kernel's gather, which is also the first pass of its FFT.
#pragma once

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/runtime/entry.cuh"
#include "kernels/cuda/small_fft/block_fft.cuh"
#include "kernels/cuda/stages/gather.cuh"

namespace sfft::detail::cuda {

/// The gather and the first pass. Adjacent threads take adjacent lanes, so that delays on one cache line
/// share its load. Waits for the stream's previous kernel as late as possible. Calls `begin` once, after
/// issuing the first loads, because the loads in `begin` may have to wait for registers. kOne: the block has
/// one lane.
template <int R, bool kOne, class Real, class Source, class Begin>
__device__ __forceinline__ void gather_pass(const FusedArguments<Real>& a, const Source& source,
                                            int first_lane, int lanes, const Begin& begin) {
  const FftPass& pass = a.plan.fft.pass[0];
  const int side = kOne ? 1 : a.policy.lanes_per_group;
  const int total = side * (a.plan.fft.points / R);
  struct Place {
    int lane, p, first;
    typename Source::Row row;
  };
  const auto place = [&](int t) {
    Place at{};
    const int u = kOne ? t : static_cast<int>(a.by_lanes.divide(t));
    at.lane = t - u * side;
    if (t >= total || (!kOne && at.lane >= lanes)) return at;
    const int outer = static_cast<int>(pass.by_columns.divide(u));
    at.p = u - outer * pass.columns;
    at.first = outer * pass.columns * R + at.p * R;
    at.row = source.row(first_lane + at.lane, outer);
    return at;
  };
  int t = threadIdx.x;
  Place at = place(t);
  // Constant data are loaded before the wait. A thread loads the data of its butterfly; if there are many
  // lanes, it only brings one line into the L1 cache.
  Complex<Real> known[R];
  Twiddles<R, Real> ahead;
  const auto prepare = [&] {
    if constexpr (kOne) {
      if (t >= total) return;
#pragma unroll
      for (int j = 0; j < R; ++j) known[j] = source.known(at.row, at.p + j * pass.columns);
      ahead = Twiddles<R, Real>::template load<true>(pass, a.plan.table, at.p);
    }
  };
  prepare();
  constexpr int kLine = 128 / static_cast<int>(sizeof(Complex<Real>));
  const int touched = !kOne && t * kLine < a.plan.fft.first_twiddles
                          ? static_cast<int>(load_constant(a.plan.table + t * kLine).re)
                          : 0;
  await_previous_kernel();
  bool began = false;
  for (; t < total; t += blockDim.x, at = place(t), prepare()) {
    if (!kOne && at.lane >= lanes) continue;
    Complex<Real> z[R];
#pragma unroll
    for (int j = 0; j < R; ++j) z[j] = source.fetch(at.row, at.p + j * pass.columns);
    if (!began) begin();
    began = true;
#pragma unroll
    for (int j = 0; j < R; ++j) {
      if (kOne) {
        z[j].re -= known[j].re;
        z[j].im -= known[j].im;
      } else {
        source.settle(at.row, at.p + j * pass.columns, z[j]);
      }
    }
    Complex<Real>* out = shared_at<Complex<Real>>(a.layout.buffer0) + at.lane * a.layout.pitch;
    Radix<R, Real>::run(
        pass,
        [&](int j, Real& re, Real& im) {
          re = z[j].re;
          im = z[j].im;
        },
        [&] { return kOne ? ahead : Twiddles<R, Real>::template load<true>(pass, a.plan.table, at.p); },
        [&](int r, Real re, Real im) {
          out[padded<Real>(at.first + r)] = {re, im};
        });
  }
  if (!began) begin();
  asm volatile("" ::"r"(touched));
}

/// The gather alone, for schedules that begin with a radix-1 pass: each thread keeps a few loads in flight.
/// `begin` as above.
template <class Real, class Source, class Begin>
__device__ __forceinline__ void gather_copy(const FusedArguments<Real>& a, const Source& source,
                                            int first_lane, int lanes, const Begin& begin) {
  constexpr int kAhead = 4;
  const int side = a.policy.lanes_per_group;
  const int total = side * a.plan.fft.points;
  const FftPass& pass = a.plan.fft.pass[0];
  await_previous_kernel();
  bool began = false;
  for (int start = threadIdx.x; start < total; start += kAhead * blockDim.x) {
    Complex<Real> z[kAhead];
    int lane[kAhead] = {}, point[kAhead] = {};
    const auto visit = [&](int j, const auto& use) {
      if (lane[j] >= lanes) return;
      const int outer = static_cast<int>(pass.by_columns.divide(point[j]));
      use(source.row(first_lane + lane[j], outer), point[j] - outer * pass.columns);
    };
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int t = start + j * static_cast<int>(blockDim.x);
      point[j] = static_cast<int>(a.by_lanes.divide(t));
      lane[j] = t < total ? t - point[j] * side : lanes;
      visit(j, [&](const auto& row, int i) { z[j] = source.fetch(row, i); });
    }
    if (!began) begin();
    began = true;
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      visit(j, [&](const auto& row, int i) {
        source.settle(row, i, z[j]);
        shared_at<Complex<Real>>(a.layout.buffer0)[lane[j] * a.layout.pitch + padded<Real>(point[j])] = z[j];
      });
    }
  }
  if (!began) begin();
}

}  // namespace sfft::detail::cuda
