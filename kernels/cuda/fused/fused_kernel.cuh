// SPDX-License-Identifier: Apache-2.0
// The fused kernel, which runs every stage of a sparse plan. The build and run-time compilation both use it.
#pragma once

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_recover.cuh"
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

/// The fused kernel. kSpread: see is_spread(). kKnown: the plan's members of `a` are compile-time constants,
/// and `given` are the arguments as passed; otherwise `given` equals `a`.
template <class Real, class T, template <class, class> class Source, bool kSpread, bool kKnown>
__device__ __forceinline__ void transform_frame(const FusedArguments<Real>& a,
                                                const FusedArguments<Real>& given) {
  constexpr bool kReal = !IsComplex<T>::value;
  allow_next_kernel();
  touch_parameters(given);
  const Binning<Real>& plan = a.plan;
  const int cluster = a.policy.cluster;
  const int rank = cluster == 1 ? 0 : static_cast<int>(blockIdx.x) % cluster;
  const std::int64_t frame = cluster == 1 ? blockIdx.x : blockIdx.x / cluster;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (cluster > 1) {
    if (threadIdx.x == 0) open_inboxes(a, rank);
    announce_block();
  }
#endif
  const int own_lane = rank * a.policy.lanes_per_group;
  copy_ahead(a.layout.head, plan.blob, a.layout.head_bytes);
  if (a.layout.lanes_bytes > 0) {
    const int bytes = min(a.policy.lanes_per_group, plan.lanes - own_lane) * plan.lane_bytes;
    copy_ahead(a.layout.lanes, plan.blob + plan.lanes_at + own_lane * plan.lane_bytes, bytes);
  }
  copy_witness(a, rank * a.layout.slice, plan.k - rank * a.layout.slice);

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  // Every block has started, so its memory may be written from here on.
  if (cluster > 1) await_blocks();
#endif

  const auto source = [&] {
    const T* const start = static_cast<const T*>(a.batch.frames) + frame * a.batch.frame_pitch;
    if constexpr (Source<Real, T>::kComb) {
      // A lane's offsets stay in a variable; as constants they would occupy local memory.
      return Source<Real, T>{plan, start, a.batch.reference_samples, given.plan.offsets};
    } else {
      return Source<Real, T>{plan, start, a.batch.reference_samples};
    }
  }();
  WitnessReader<Real, T> reader(plan);
  FinishMemory<Real>* memory = shared_at<FinishMemory<Real>>(a.layout.finish);
  if (a.batch.reference_witness != nullptr && reader.reads(plan))
    copy_async<sizeof(Real)>(memory->reference + threadIdx.x, a.batch.reference_witness + threadIdx.x);
  const auto begin = [&](int group) {
    if (group == 0) reader.load(plan, source.frame);
  };
  Complex<Real>* parts = shared_at<Complex<Real>>(a.layout.parts);
  Real power = 0;
  for (int g = 0; g < a.policy.groups; ++g) {
    const int first_lane = own_lane + g * a.policy.lanes_per_group;
    const int lanes = min(a.policy.lanes_per_group, plan.lanes - first_lane);
    const FusedTables<Real, kSpread> tables(a, first_lane);
    if (!kSpread && g > 0) __syncthreads();
    if constexpr (!Source<Real, T>::kComb) {
      gather_copy<Real>(a, source, first_lane, lanes, [&] { begin(g); });
    } else {
#define SFFT_GATHER(R) gather_pass<R, kSpread, Real>(a, source, first_lane, lanes, [&] { begin(g); });
      SFFT_RADIX_SWITCH(plan.fft.pass[0].radix, SFFT_GATHER,
                        (gather_copy<Real>(a, source, first_lane, lanes, [&] { begin(g); }));)
#undef SFFT_GATHER
    }
    if (g == 0) reader.store(plan, memory->samples);
    await_copies();
    const Complex<Real>* later = tables.later - plan.fft.first_twiddles;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (kSpread) {
      if constexpr (kKnown) {
        run_known_passes<1>(plan.fft, later, a.layout.buffer0, a.layout.buffer1, a.layout.pitch);
      } else {
        run_later_passes<true>(tables.passes, plan.fft.passes, plan.fft.points, later, a.layout.buffer0,
                               a.layout.buffer1, 1, a.layout.pitch);
      }
      return finish_cluster<kReal, true>(a, rank, frame, 1);
    }
#endif
    later_passes(tables.passes, plan.fft.passes, plan.fft.points, later, a.layout.buffer0, a.layout.buffer1,
                 lanes, a.layout.pitch);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (cluster > 1) return finish_cluster<kReal, false>(a, rank, frame, lanes);
#endif
    power += tail_power(a, tables, lanes, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
    if (g + 1 == a.policy.groups) {
      finish_frame<kReal, Real>(
          plan, tables.errors, a.batch, frame, power,
          [&](int i) {
            Complex<Real> z = row_sum<kReal>(a, tables, lanes, i);
            if (g > 0) {
              z.re += parts[i].re;
              z.im += parts[i].im;
            }
            return z;
          },
          {shared_at<Sums>(a.layout.sums), memory, shared_at<Complex<Real>>(a.layout.differences),
           shared_at<Real>(a.layout.predicted), a.layout.segments, witness_rows<false>(a, 0)});
      return;
    }
    // A thread has the same rows in every round, so no barrier is needed.
    for (int i = threadIdx.x; i < plan.rows; i += blockDim.x) {
      Complex<Real> z = row_sum<kReal>(a, tables, lanes, i);
      if (g > 0) {
        z.re += parts[i].re;
        z.im += parts[i].im;
      }
      parts[i] = z;
    }
  }
}

}  // namespace sfft::detail::cuda
