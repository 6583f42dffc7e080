// SPDX-License-Identifier: Apache-2.0
// Grid-stride kernels: counter-based random numbers, conversions, a comparison reduced by atomics, and direct
// sums with one block per slice of an output.
#include <algorithm>

#include "bench/cuda/dense/kernels.hpp"
#include "bench/cuda/device_memory.hpp"

namespace sfft::bench {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 1056;  // eight per multiprocessor of the largest GPUs
constexpr int kSlices = 128;   // blocks of one direct sum

__device__ std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t grid_threads() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

/// The finalizer of SplitMix64: 64 well-mixed bits per index.
__device__ unsigned long long mixed(unsigned long long index) {
  unsigned long long z = (index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}
__device__ void draw(unsigned long long bits, std::uint8_t& out) {
  out = static_cast<std::uint8_t>(bits >> 56);
}
__device__ void draw(unsigned long long bits, float& out) {
  out = static_cast<float>(static_cast<int>(bits >> 40) - (1 << 23)) * 0x1p-23F;
}
__device__ void draw(unsigned long long bits, double& out) {
  out = static_cast<double>(static_cast<long long>(bits >> 11) - (1LL << 52)) * 0x1p-52;
}

template <class T>
__global__ void fill(T* out, std::int64_t count) {
  for (std::int64_t i = first_index(); i < count; i += grid_threads())
    draw(mixed(static_cast<unsigned long long>(i)), out[i]);
}

template <class To, class From>
__global__ void convert_kernel(const From* in, To* out, std::int64_t count, double scale) {
  for (std::int64_t i = first_index(); i < count; i += grid_threads())
    out[i] = static_cast<To>(static_cast<double>(in[i]) * scale);
}

__global__ void copy_kernel(const float4* from, float4* to, std::int64_t count) {
  const std::int64_t i = first_index();
  if (i < count) to[i] = from[i];
}

/// The sum over a warp, in its lane 0.
__device__ double warp_sum(double value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_down_sync(0xFFFFFFFFU, value, lanes);
  return value;
}

template <class Real>
__global__ void compare(const Real* got, std::int64_t pitch, const double* truth, std::int64_t row,
                        std::int64_t rows, Difference* sums) {
  double squares = 0, reference = 0;
  unsigned long long largest = 0;
  for (std::int64_t i = first_index(); i < row * rows; i += grid_threads()) {
    const double want = truth[i];
    const double error = fabs(static_cast<double>(got[i / row * pitch + i % row]) - want);
    squares += error * error;
    reference += want * want;
    largest = max(largest, static_cast<unsigned long long>(__double_as_longlong(error)));
  }
  squares = warp_sum(squares);
  reference = warp_sum(reference);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums->squares, squares);
    atomicAdd(&sums->reference_squares, reference);
  }
  // The bits of non-negative doubles are ordered like their values, with NaN above infinity.
  atomicMax(reinterpret_cast<unsigned long long*>(&sums->largest), largest);
}

/// The grid of a direct sum. The input holds only the first `inputs` of its columns.
struct SumGrid {
  long long extents[3];
  long long inputs, outputs;  ///< columns stored in the input and the output
  int sign;
  bool real_input, half_input;
};

struct Frequency {
  long long at[3];
};

__device__ Frequency coordinates(const SumGrid& grid, long long flat, long long columns) {
  return {{flat / columns / grid.extents[1], flat / columns % grid.extents[1], flat % columns}};
}

/// Block (slice, output) computes one slice's part of one output's sum.
template <class Real>
__global__ void sum_directly(SumGrid grid, const Real* input, const std::int64_t* positions,
                             double2* partial) {
  const long long outputs = grid.extents[0] * grid.extents[1] * grid.outputs;
  const long long inputs = grid.extents[0] * grid.extents[1] * grid.inputs;
  const long long position = positions[blockIdx.y];
  const Frequency f = coordinates(grid, position % outputs, grid.outputs);
  const Real* signal = input + position / outputs * inputs * (grid.real_input ? 1 : 2);
  double2 sum = {0, 0};
  for (std::int64_t i = first_index(); i < inputs; i += grid_threads()) {
    const Frequency t = coordinates(grid, i, grid.inputs);
    double turns = 0;
    for (int d = 0; d < 3; ++d)
      turns +=
          static_cast<double>(f.at[d] * t.at[d] % grid.extents[d]) / static_cast<double>(grid.extents[d]);
    double sine, cosine;
    sincospi(2 * grid.sign * turns, &sine, &cosine);
    double re = static_cast<double>(signal[grid.real_input ? i : 2 * i]);
    double im = grid.real_input ? 0 : static_cast<double>(signal[2 * i + 1]);
    // The other half of a real signal's spectrum is the conjugate, and so are its terms.
    const bool twice = grid.half_input && t.at[2] != 0 && 2 * t.at[2] != grid.extents[2];
    const double weight = twice ? 2 : 1;
    sum.x += weight * (re * cosine - im * sine);
    sum.y += grid.half_input ? 0 : weight * (re * sine + im * cosine);
  }
  sum.x = warp_sum(sum.x);
  sum.y = warp_sum(sum.y);
  __shared__ double2 warps[kThreads / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double2 total = {0, 0};
  for (const double2& warp : warps) total = {total.x + warp.x, total.y + warp.y};
  partial[blockIdx.y * gridDim.x + blockIdx.x] = total;
}

}  // namespace

template <class T>
void fill_random(T* out, std::int64_t count) {
  fill<<<kBlocks, kThreads>>>(out, count);
  gpu(cudaGetLastError());
  gpu(cudaDeviceSynchronize());
}

template <class To, class From>
void convert(const From* in, To* out, std::int64_t count, double scale, cudaStream_t stream) {
  convert_kernel<<<kBlocks, kThreads, 0, stream>>>(in, out, count, scale);
  gpu(cudaGetLastError());
}

void copy_by_kernel(const void* from, void* to, std::size_t bytes, cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(bytes / sizeof(float4));
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  copy_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const float4*>(from), static_cast<float4*>(to),
                                               count);
  gpu(cudaGetLastError());
}

template <class Real>
Difference difference(const Real* got, std::int64_t pitch, const double* truth, std::int64_t row,
                      std::int64_t rows) {
  const DeviceBuffer sums(sizeof(Difference));
  gpu(cudaMemset(sums.data(), 0, sums.bytes()));
  compare<<<kBlocks, kThreads>>>(got, pitch, truth, row, rows, sums.as<Difference>());
  gpu(cudaGetLastError());
  return download(sums.as<Difference>(), 1).front();
}

template <class Real>
std::vector<std::complex<double>> direct_sums(const PeerProblem& problem, const Real* input,
                                              const std::vector<std::int64_t>& positions) {
  const long long row = problem.row_points(), half = problem.real ? row / 2 + 1 : row;
  SumGrid grid{{1, 1, 1},
               problem.inverse ? half : row,
               problem.inverse ? row : half,
               problem.inverse ? 1 : -1,
               problem.real && !problem.inverse,
               problem.real && problem.inverse};
  std::copy_backward(problem.extents.begin(), problem.extents.end(), grid.extents + 3);
  const auto count = static_cast<unsigned>(positions.size());
  const DeviceBuffer where = upload(positions), partial(count * kSlices * sizeof(double2));
  sum_directly<<<dim3(kSlices, count), kThreads>>>(grid, input, where.as<std::int64_t>(),
                                                   partial.as<double2>());
  gpu(cudaGetLastError());
  const auto parts = download(partial.as<std::complex<double>>(), positions.size() * kSlices);
  std::vector<std::complex<double>> sums(positions.size());
  for (std::size_t i = 0; i < parts.size(); ++i) sums[i / kSlices] += parts[i];
  return sums;
}

template void fill_random(std::uint8_t*, std::int64_t);
template void fill_random(float*, std::int64_t);
template void fill_random(double*, std::int64_t);
template void convert(const std::uint8_t*, float*, std::int64_t, double, cudaStream_t);
template void convert(const float*, float*, std::int64_t, double, cudaStream_t);
template void convert(const double*, double*, std::int64_t, double, cudaStream_t);
template void convert(const float*, double*, std::int64_t, double, cudaStream_t);
template void convert(const double*, float*, std::int64_t, double, cudaStream_t);
template Difference difference(const float*, std::int64_t, const double*, std::int64_t, std::int64_t);
template Difference difference(const double*, std::int64_t, const double*, std::int64_t, std::int64_t);
template std::vector<std::complex<double>> direct_sums(const PeerProblem&, const float*,
                                                       const std::vector<std::int64_t>&);
template std::vector<std::complex<double>> direct_sums(const PeerProblem&, const double*,
                                                       const std::vector<std::int64_t>&);

}  // namespace sfft::bench
