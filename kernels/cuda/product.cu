#include "kernels/cuda/product.hpp"

#include <cooperative_groups.h>

#include <algorithm>

#include "kernels/cuda/finish.cuh"
#include "kernels/cuda/gather.cuh"
#include "kernels/cuda/launch.cuh"

namespace sfft::detail::cuda {

namespace {

/// Registers allow so many.
template <class Real>
constexpr int kMaxThreads = sizeof(Real) == 4 ? 768 : 512;

/// Rows of a block at most: those of the smallest pitch.
constexpr int kMostSlice = kMostProductBytes / 512 / kProductBlocks;

template <class Real>
struct ProductArguments {
  Product<Real> plan;
  Batch<Real> batch;
  int slice;  ///< rows of a block
};

/// 16 bytes of a row: two complex floats or one complex double.
template <class Real>
struct alignas(16) Packet {
  static constexpr int kCount = 16 / sizeof(Complex<Real>);
  Complex<Real> z[kCount];
};

template <class Real>
__device__ __forceinline__ void multiply_add(const Packet<Real>& weights, const Packet<Real>& y,
                                             Complex<Real>& sum) {
#pragma unroll
  for (int i = 0; i < Packet<Real>::kCount; ++i) {
    sum.re += weights.z[i].re * y.z[i].re - weights.z[i].im * y.z[i].im;
    sum.im += weights.z[i].re * y.z[i].im + weights.z[i].im * y.z[i].re;
  }
}

template <class Real, class T>
__global__ void __launch_bounds__(kMaxThreads<Real>)
    product_kernel(const __grid_constant__ ProductArguments<Real> a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  constexpr bool kReal = !IsComplex<T>::value;
  constexpr int kAhead = 4;  // 16-byte loads of a row that a thread has under way before the samples arrive
  __shared__ __align__(16) Complex<Real> y[kMostProductSamples];
  __shared__ Sums scratch[32];
  __shared__ Sums exchanged[kProductBlocks];
  __shared__ Real gain[kMostSlice], bias[kMostSlice];
  __shared__ std::uint8_t flags[kMostSlice];
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  allow_next_kernel();
  const Product<Real>& plan = a.plan;
  const int rank = static_cast<int>(blockIdx.x) % kProductBlocks;
  const std::int64_t frame = blockIdx.x / kProductBlocks;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int first = rank * a.slice;
  const int last = min(first + a.slice, plan.rows);

  // What the plan holds is on its way before the samples are asked for.
  const int packets = plan.pitch / (32 * Packet<Real>::kCount);
  const auto* matrix = reinterpret_cast<const Packet<Real>*>(plan.matrix);
  const int row_packets = plan.pitch / Packet<Real>::kCount;
  const bool busy = first + warp < last;
  Packet<Real> ahead[kAhead];
  const Packet<Real>* row = matrix + static_cast<std::int64_t>(first + warp) * row_packets + lane;
#pragma unroll
  for (int j = 0; j < kAhead; ++j) {
    if (busy && j < packets) ahead[j] = row[32 * j];
  }
  for (int i = first + static_cast<int>(threadIdx.x); i < min(last, plan.k);
       i += static_cast<int>(blockDim.x)) {
    gain[i - first] = plan.gain[i];
    bias[i - first] = plan.bias[i];
    flags[i - first] = plan.flags[i];
  }
  const auto place = [&](int s) {
    return s >= plan.samples ? 0 : plan.indices != nullptr ? __ldg(plan.indices + s) : s;
  };
  std::int64_t at = place(static_cast<int>(threadIdx.x));
  await_previous_kernel();
  const T* samples = static_cast<const T*>(a.batch.frames) + frame * a.batch.frame_pitch;
  for (int s = threadIdx.x; s < plan.pitch; s += blockDim.x, at = place(s)) {
    Complex<Real> z{0, 0};
    if (s < plan.samples) {
      z = read_pair<Real, T>(samples, at, at);
      if (kReal) z.im = 0;
      if (a.batch.reference_samples != nullptr) {
        const int stream = s / plan.taps;
        const Complex<Real> known =
            a.batch.reference_samples[(kReal ? stream / 2 : stream) * plan.taps + s - stream * plan.taps];
        z.re -= kReal && stream % 2 == 1 ? known.im : known.re;
        if (!kReal) z.im -= known.im;
      }
    }
    y[s] = z;
  }
  __syncthreads();

  const ErrorTables<Real> tables{gain, bias, flags, first};
  const auto* packed = reinterpret_cast<const Packet<Real>*>(y) + lane;
  Sums sums;
  for (int i = first + warp; i < last; i += warps, row += static_cast<std::int64_t>(warps) * row_packets) {
    Complex<Real> z{0, 0};
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (j >= packets) break;
      if (i != first + warp) ahead[j] = row[32 * j];
      multiply_add(ahead[j], packed[32 * j], z);
    }
    for (int j = kAhead; j < packets; ++j) multiply_add(row[32 * j], packed[32 * j], z);
    z.re = warp_sum(z.re);
    z.im = warp_sum(z.im);
    if (lane == 0) finish_row(plan.k, tables, a.batch, frame, i, z, sums);
  }
  if (lane == 0) scratch[warp] = sums;  // the others' are 0
  const auto whole = cooperative_groups::this_cluster();
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  __syncthreads();
  if (warp == 0) {
    Sums own = lane < warps ? scratch[lane] : Sums{};
    own.over_warp();
    if (lane < kProductBlocks) whole.map_shared_rank(exchanged, lane)[rank] = own;
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  Sums all;
#pragma unroll
  for (int c = 0; c < kProductBlocks; ++c) {
    all.power += exchanged[c].power;
    all.norm += exchanged[c].norm;
    all.held += exchanged[c].held;
  }
  const double scale = all.power * plan.power_unit;
  for (int i = first + static_cast<int>(threadIdx.x); i < min(last, plan.k);
       i += static_cast<int>(blockDim.x))
    write_error(plan.k, tables, a.batch, frame, i, scale);
  if (rank == 0) write_account(plan, a.batch, frame, scale, all);
#else
  static_cast<void>(a);
#endif
}

}  // namespace

template <class Real>
void launch_product(const Product<Real>& plan, const Batch<Real>& batch, Stream stream) {
  ProductArguments<Real> arguments{plan, batch, (plan.rows + kProductBlocks - 1) / kProductBlocks};
  const int threads = arguments.slice * 32;
  with_element(batch.type, [&](auto element) {
    LaunchShape shape;
    shape.blocks = static_cast<std::int64_t>(batch.count) * kProductBlocks;
    shape.threads = std::clamp(threads, 128, kMaxThreads<Real>);
    shape.cluster = kProductBlocks;
    shape.overlap = true;
    launch(product_kernel<Real, decltype(element)>, shape, arguments, stream, "launching the product kernel");
  });
}

template void launch_product<float>(const Product<float>&, const Batch<float>&, Stream);
template void launch_product<double>(const Product<double>&, const Batch<double>&, Stream);

}  // namespace sfft::detail::cuda
