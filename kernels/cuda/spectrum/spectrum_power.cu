// SPDX-License-Identifier: Apache-2.0
// Each operation is one strided kernel. Powers round as in keep.cuh, so that equal powers stay ties.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/spectrum/excluded.cuh"
#include "kernels/cuda/spectrum/keep.cuh"
#include "kernels/cuda/spectrum/spectrum_power.hpp"

namespace sfft::detail::cuda {

namespace {

__device__ std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t thread_count() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

template <class T>
__global__ void to_double_kernel(const T* samples, std::int64_t count, double* out, int stride) {
  for (std::int64_t i = thread_index(); i < count; i += thread_count())
    out[i * stride] = static_cast<double>(samples[i]);
}

__global__ void first_power_kernel(const double2* spectrum, std::int64_t count, double* power) {
  for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
    const double2 x = spectrum[i];
    power[i] = device::power_of(x.x, x.y);
  }
}

__global__ void add_power_kernel(const double2* spectrum, const double2* first, std::int64_t count,
                                 double* power, double* change) {
  for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
    const double2 x = spectrum[i];
    const double2 x0 = first[i];
    power[i] += device::power_of(x.x, x.y);
    change[i] += device::power_of(x.x - x0.x, x.y - x0.y);
  }
}

__global__ void divide_kernel(double* values, std::int64_t count, double divisor) {
  for (std::int64_t i = thread_index(); i < count; i += thread_count()) values[i] /= divisor;
}

__global__ void exclude_conjugates_kernel(double* power, SpectrumExtents extents) {
  const std::int64_t rows = extents.rows();
  const std::int64_t last = extents.n[2];
  for (std::int64_t row = thread_index(); row < rows; row += thread_count()) {
    if (!mirrors_earlier_row(extents, row)) continue;
    power[row * extents.row_points()] = kExcluded;
    if (last % 2 == 0) power[row * extents.row_points() + last / 2] = kExcluded;
  }
}

__global__ void exclude_kernel(double* power, const std::int64_t* indices, std::int64_t count) {
  for (std::int64_t i = thread_index(); i < count; i += thread_count()) power[indices[i]] = kExcluded;
}

template <class T>
__global__ void gather_kernel(const T* values, const std::int64_t* indices, std::int64_t count, T* out) {
  for (std::int64_t i = thread_index(); i < count; i += thread_count()) out[i] = values[indices[i]];
}

const double2* as_pairs(const std::complex<double>* values) {
  return reinterpret_cast<const double2*>(values);
}

}  // namespace

template <class T>
void to_double(const T* samples, std::int64_t count, double* out, int stride, Stream stream) {
  to_double_kernel<<<strided_blocks(count), kThreads, 0, stream>>>(samples, count, out, stride);
  check_launch("to_double");
}
template void to_double(const std::uint8_t*, std::int64_t, double*, int, Stream);
template void to_double(const std::uint16_t*, std::int64_t, double*, int, Stream);
template void to_double(const float*, std::int64_t, double*, int, Stream);
template void to_double(const double*, std::int64_t, double*, int, Stream);

void first_power(const std::complex<double>* spectrum, std::int64_t count, double* power, Stream stream) {
  first_power_kernel<<<strided_blocks(count), kThreads, 0, stream>>>(as_pairs(spectrum), count, power);
  check_launch("first_power");
}

void add_power(const std::complex<double>* spectrum, const std::complex<double>* first, std::int64_t count,
               double* power, double* change, Stream stream) {
  add_power_kernel<<<strided_blocks(count), kThreads, 0, stream>>>(as_pairs(spectrum), as_pairs(first), count,
                                                                   power, change);
  check_launch("add_power");
}

void set_zero(double* values, std::int64_t count, Stream stream) {
  check(cudaMemsetAsync(values, 0, static_cast<std::size_t>(count) * sizeof(double), stream),
        "clearing GPU memory");
}

void divide(double* values, std::int64_t count, double divisor, Stream stream) {
  divide_kernel<<<strided_blocks(count), kThreads, 0, stream>>>(values, count, divisor);
  check_launch("divide");
}

void exclude_conjugates(double* power, const SpectrumExtents& extents, Stream stream) {
  if (!extents.half) return;
  exclude_conjugates_kernel<<<strided_blocks(extents.rows()), kThreads, 0, stream>>>(power, extents);
  check_launch("exclude_conjugates");
}

void exclude(double* power, const std::int64_t* indices, std::int64_t count, Stream stream) {
  if (count == 0) return;
  exclude_kernel<<<strided_blocks(count), kThreads, 0, stream>>>(power, indices, count);
  check_launch("exclude");
}

void gather(const double* values, const std::int64_t* indices, std::int64_t count, double* out,
            Stream stream) {
  if (count == 0) return;
  gather_kernel<<<strided_blocks(count), kThreads, 0, stream>>>(values, indices, count, out);
  check_launch("gather");
}

void gather(const std::complex<double>* values, const std::int64_t* indices, std::int64_t count,
            std::complex<double>* out, Stream stream) {
  if (count == 0) return;
  gather_kernel<<<strided_blocks(count), kThreads, 0, stream>>>(as_pairs(values), indices, count,
                                                                reinterpret_cast<double2*>(out));
  check_launch("gather");
}

}  // namespace sfft::detail::cuda
