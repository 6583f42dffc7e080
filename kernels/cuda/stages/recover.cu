// SPDX-License-Identifier: Apache-2.0
// Takes two launches. Blocks first sum rows, powers and witness predictions; then every block adds up these
// parts and writes its share of the errors.
#include "kernels/cuda/stages/stages.hpp"

#include "kernels/cuda/stages/finish.cuh"

namespace sfft::detail::cuda {

namespace {

constexpr int kThreads = 256;  // the launch bounds of recover() assume this block size

template <bool kReal, class Real>
__device__ __forceinline__ Complex<Real> row_sum(const Binning<Real>& plan, const Complex<Real>* z, int i) {
  Complex<Real> sum{0, 0};
  for (int q = 0; q < plan.row_buckets; ++q) {
    const BucketPair pair = plan.bucket[q * plan.rows + i];
    for (int l = 0; l < plan.lanes; ++l) {
      const unsigned char* weights = plan.alpha + static_cast<std::int64_t>(l) * plan.lane_bytes;
      const auto* alpha = reinterpret_cast<const Complex<Real>*>(weights) + q * plan.rows;
      const Complex<Real>* lane = z + static_cast<std::int64_t>(l) * plan.fft.points;
      const Complex<Real> w = alpha[i], y = lane[pair.at];
      sum.re += w.re * y.re - w.im * y.im;
      sum.im += w.re * y.im + w.im * y.re;
      if constexpr (kReal) {
        const auto* beta = reinterpret_cast<const Complex<Real>*>(weights + plan.lane_beta) + q * plan.rows;
        const Complex<Real> v = beta[i], c = lane[pair.mirror];
        sum.re += v.re * c.re + v.im * c.im;
        sum.im += v.im * c.re - v.re * c.im;
      }
    }
  }
  return sum;
}

/// Adds coefficient i's prediction (of the difference) to every real number of the witness.
template <bool kReal, class Real>
__device__ __forceinline__ void add_prediction(const Binning<Real>& plan, int i, const Complex<Real>& z,
                                               Real (&predicted)[kWitnessReals]) {
  constexpr int kSamples = kReal ? kWitnessReals : kWitnessReals / 2;
#pragma unroll
  for (int s = 0; s < kSamples; ++s) {
    const Complex<Real> w = plan.witness.rows[static_cast<std::int64_t>(s) * plan.witness.pitch + i];
    predicted[s] += w.re * z.re + w.im * z.im;
    if (!kReal) predicted[s + kWitnessReals - kSamples] += w.re * z.im - w.im * z.re;
  }
}

/// Three blocks per multiprocessor for float and two for double, because threads keep one number for every
/// row of the witness in registers.
template <bool kReal, class Real>
__global__ void __launch_bounds__(kThreads, sizeof(Real) == 4 ? 3 : 2)
    recover_kernel(const __grid_constant__ Binning<Real> plan, const __grid_constant__ Batch<Real> batch,
                   const Complex<Real>* all, RecoverPartial* partials) {
  __shared__ Sums scratch[32];
  __shared__ Real warp_predictions[kThreads / 32][kWitnessReals];
  const bool witness = plan.witness.count > 0;
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (std::int64_t frame = blockIdx.y; frame < batch.count; frame += gridDim.y) {
    const Complex<Real>* z = all + frame * plan.lanes * plan.fft.points;
    Sums sums;
    Real predicted[kWitnessReals] = {};
    for (int i = first; i < plan.rows; i += step) {
      const Complex<Real> difference =
          finish_row(plan.k, error_tables(plan), batch, i, row_sum<kReal>(plan, z, i),
                     known_value(plan.k, batch, i), sums, store_at(plan.k, batch, frame, i));
      if (witness && i < plan.k) add_prediction<kReal>(plan, i, difference, predicted);
    }
    if (plan.power_weight != nullptr) {
      for (int b = first; b < plan.fft.points; b += step) {
        Real square = 0;
        for (int l = 0; l < plan.lanes; ++l) {
          const Complex<Real> y = z[static_cast<std::int64_t>(l) * plan.fft.points + b];
          square += y.re * y.re + y.im * y.im;
        }
        sums.power += static_cast<double>(plan.power_weight[b] * square);
      }
    }
    for (int t = first; t < plan.tail_terms; t += step) {
      sums.power += static_cast<double>(tail_term(plan.tail[t], plan.lanes, [&](int l, int b) {
        return z[static_cast<std::int64_t>(l) * plan.fft.points + b];
      }));
    }
    if (witness) warp_predictions[threadIdx.x / 32][threadIdx.x % 32] = transposed_sum(predicted);
    sums.over_block(scratch);
    RecoverPartial& out = partials[frame * kMaxRecoverBlocks + blockIdx.x];
    if (threadIdx.x == 0) {
      out.power = sums.power;
      out.held = sums.held;
      out.norm = sums.norm;
      out.fit = sums.fit;
    }
    if (witness && threadIdx.x < kWitnessReals) {
      double sum = 0;
      for (const auto& warp : warp_predictions) sum += static_cast<double>(warp[threadIdx.x]);
      out.predicted[threadIdx.x] = sum;
    }
    __syncthreads();
  }
}

/// Compares the witness's samples beyond the first block. One block serves a frame, and each warp compares
/// one sample at a time. The values are those that recover_kernel() wrote.
template <bool kReal, class Real, class T>
__global__ void __launch_bounds__(kThreads)
    witness_kernel(const __grid_constant__ Binning<Real> plan, const __grid_constant__ Batch<Real> batch,
                   WitnessSums* more) {
  using Part = typename PartOf<T>::type;
  constexpr int kFirst = kWitnessSamples<kReal>, kParts = kReal ? 1 : 2;
  __shared__ WitnessSums warp_sums[kThreads / 32];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (std::int64_t frame = blockIdx.x; frame < batch.count; frame += gridDim.x) {
    const auto* const samples =
        reinterpret_cast<const Part*>(static_cast<const T*>(batch.frames) + frame * batch.frame_pitch);
    WitnessSums sums;
    for (int s = kFirst + warp; s < plan.witness.count; s += kThreads / 32) {
      const Complex<Real>* const row = plan.witness.rows + static_cast<std::int64_t>(s) * plan.witness.pitch;
      double predicted[2] = {0, 0};
      for (int i = lane; i < plan.k; i += 32) {
        Complex<Real> v = batch.values[frame * plan.k + i];
        if (batch.reference_values != nullptr) {
          v.re -= batch.reference_values[i].re;
          v.im -= batch.reference_values[i].im;
        }
        const Complex<Real> w = row[i];
        predicted[0] += static_cast<double>(w.re * v.re + w.im * v.im);
        if (!kReal) predicted[1] += static_cast<double>(w.re * v.im - w.im * v.re);
      }
      for (int part = 0; part < kParts; ++part) {
        double x = static_cast<double>(static_cast<Real>(samples[kParts * plan.witness.samples[s] + part]));
        if (batch.reference_witness != nullptr)
          x -= static_cast<double>(batch.reference_witness[kWitnessReals + kParts * (s - kFirst) + part]);
        const double residue = x - warp_sum(predicted[part]);
        sums.residue += residue * residue;
        sums.samples += x * x;
      }
    }
    if (lane == 0) warp_sums[warp] = sums;  // the same in every lane
    __syncthreads();
    if (threadIdx.x == 0) {
      WitnessSums total;
      for (const WitnessSums& one : warp_sums) {
        total.residue += one.residue;
        total.samples += one.samples;
      }
      more[frame] = total;
    }
    __syncthreads();
  }
}

/// `more`: the results of witness_kernel(), or nullptr.
template <bool kReal, class Real>
__global__ void finish_kernel(const __grid_constant__ Binning<Real> plan,
                              const __grid_constant__ Batch<Real> batch, const Real* witness,
                              const RecoverPartial* partials, const WitnessSums* more) {
  __shared__ Sums scratch[32];
  __shared__ double warp_predictions[kThreads / 32][kWitnessReals];
  __shared__ FinishMemory<Real> memory;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int blocks = static_cast<int>(gridDim.x);
  for (std::int64_t frame = blockIdx.y; frame < batch.count; frame += gridDim.y) {
    const RecoverPartial* own = partials + frame * kMaxRecoverBlocks;
    if (plan.witness.count > 0) {
      double sum = 0;
      for (int b = warp; b < blocks; b += kThreads / 32) sum += own[b].predicted[lane];
      warp_predictions[warp][lane] = sum;
    }
    Sums sums;
    if (static_cast<int>(threadIdx.x) < blocks) {
      const RecoverPartial& one = own[threadIdx.x];
      sums = {one.power, one.held, one.norm, one.fit};
    }
    sums.over_block(scratch);
    Ratios ratios{};
    if (warp == 0) {
      Real sample = 0;
      double predicted = 0;
      if (plan.witness.count > 0) {
        sample = witness[frame * kWitnessReals + lane];
        for (const auto& part : warp_predictions) predicted += part[lane];
      }
      ratios = settle_frame<kReal>(plan, batch.reference_error, sums, sample, static_cast<Real>(predicted),
                                   more == nullptr ? nullptr : more + frame, memory);
    }
    __syncthreads();
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < plan.k;
         i += static_cast<int>(gridDim.x * blockDim.x)) {
      write_error(plan.k, error_tables(plan), batch, frame, i, memory.scales);
    }
    if (blockIdx.x == 0 && warp == 0) write_errors<Real>(batch, frame, ratios);
    __syncthreads();
  }
}

}  // namespace

template <bool kReal, class Real>
void launch_witness(const Binning<Real>& plan, const Batch<Real>& batch, WitnessSums* more, Stream stream) {
  const auto blocks = static_cast<unsigned>(batch.count < 65535 ? batch.count : 65535);
  with_element(batch.type, [&](auto element) {
    using T = decltype(element);
    if constexpr (IsComplex<T>::value != kReal)
      witness_kernel<kReal, Real, T><<<blocks, kThreads, 0, stream>>>(plan, batch, more);
  });
  check_launch("witness");
}

template <class Real>
void launch_recover(const Binning<Real>& plan, const Batch<Real>& batch, const Complex<Real>* z,
                    const Real* witness, RecoverPartial* partials, WitnessSums* more, Stream stream) {
  const int work = plan.rows > plan.points() / 4 ? plan.rows : plan.points() / 4;
  const int wanted = (work + kThreads - 1) / kThreads;
  const int blocks = wanted < 1 ? 1 : wanted > kMaxRecoverBlocks ? kMaxRecoverBlocks : wanted;
  const dim3 grid(static_cast<unsigned>(blocks),
                  static_cast<unsigned>(batch.count < 65535 ? batch.count : 65535));
  const auto start = [&](auto recover, auto compare, auto finish) {
    recover<<<grid, kThreads, 0, stream>>>(plan, batch, z, partials);
    check_launch("recover");
    if (more != nullptr) compare(plan, batch, more, stream);
    finish<<<grid, kThreads, 0, stream>>>(plan, batch, witness, partials, more);
    check_launch("recover (errors)");
  };
  if (plan.real) {
    start(recover_kernel<true, Real>, launch_witness<true, Real>, finish_kernel<true, Real>);
  } else {
    start(recover_kernel<false, Real>, launch_witness<false, Real>, finish_kernel<false, Real>);
  }
}

#define SFFT_INSTANTIATE(Real)                                                                       \
  template void launch_recover<Real>(const Binning<Real>&, const Batch<Real>&, const Complex<Real>*, \
                                     const Real*, RecoverPartial*, WitnessSums*, Stream);
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)

}  // namespace sfft::detail::cuda
