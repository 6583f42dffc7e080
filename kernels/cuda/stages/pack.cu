// SPDX-License-Identifier: Apache-2.0
// Joins axes that are contiguous on both sides, then copies and converts in one strided loop.
#include "kernels/base/math/fast_divisor.hpp"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/gather.cuh"
#include "kernels/cuda/stages/pack.hpp"

namespace sfft::detail::cuda {

namespace {

/// The grid with contiguous axes joined, so that most copies need no division.
struct Axes {
  int count = 0;
  std::int64_t total = 1;
  std::int64_t extents[CopyGrid::kAxes], from[CopyGrid::kAxes], to[CopyGrid::kAxes];  ///< fastest axis first
  FastDivisor by[CopyGrid::kAxes];
};

Axes join(const CopyGrid& grid) {
  Axes axes;
  for (int a = CopyGrid::kAxes - 1; a >= 0; --a) {
    const std::int64_t extent = grid.extents[a];
    if (extent == 1) continue;
    axes.total *= extent;
    const int last = axes.count - 1;
    if (last >= 0 && grid.from[a] == axes.from[last] * axes.extents[last] &&
        grid.to[a] == axes.to[last] * axes.extents[last]) {
      axes.extents[last] *= extent;
      continue;
    }
    axes.extents[axes.count] = extent;
    axes.from[axes.count] = grid.from[a];
    axes.to[axes.count] = grid.to[a];
    ++axes.count;
  }
  for (int a = 0; a < axes.count; ++a) {
    if (axes.extents[a] < (std::int64_t{1} << 31))
      axes.by[a] = FastDivisor(static_cast<std::uint32_t>(axes.extents[a]));
  }
  return axes;
}

/// The address of the i-th element. kSmall: there are fewer than 2^31 elements.
template <bool kSmall>
__device__ __forceinline__ void locate(const Axes& axes, std::int64_t i, std::int64_t& from,
                                       std::int64_t& to) {
  from = to = 0;
#pragma unroll
  for (int a = 0; a < CopyGrid::kAxes; ++a) {
    if (a >= axes.count) break;
    std::int64_t at = i;
    if (a + 1 < axes.count) {
      if (kSmall) {
        i = axes.by[a].divide(static_cast<std::uint32_t>(i));
      } else {
        i /= axes.extents[a];
      }
      at -= i * axes.extents[a];
    }
    from += at * axes.from[a];
    to += at * axes.to[a];
  }
}

/// Multiplies a number by the factor and converts it to the output type.
template <class To>
struct Written {
  template <class From>
  __device__ static To of(From value, double factor) {
    return static_cast<To>(value) * static_cast<To>(factor);
  }
};
template <class Real>
struct Written<Complex<Real>> {
  template <class From>
  __device__ static Complex<Real> of(From value, double factor) {
    if constexpr (IsComplex<From>::value) {
      return {Written<Real>::of(value.re, factor), Written<Real>::of(value.im, factor)};
    } else {
      return {Written<Real>::of(value, factor), Real(0)};
    }
  }
};

template <bool kSmall, class From, class To>
__global__ void copy_kernel(const __grid_constant__ Axes axes, const From* from, To* to, double factor) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < axes.total;
       i += step) {
    std::int64_t read, written;
    locate<kSmall>(axes, i, read, written);
    to[written] = Written<To>::of(from[read], factor);
  }
}

template <class From, class To>
void launch(const Axes& axes, const void* from, void* to, double factor, Stream stream) {
  const unsigned blocks = strided_blocks(axes.total);
  const auto* source = static_cast<const From*>(from);
  auto* target = static_cast<To*>(to);
  if (axes.total < (std::int64_t{1} << 31)) {
    copy_kernel<true><<<blocks, kThreads, 0, stream>>>(axes, source, target, factor);
  } else {
    copy_kernel<false><<<blocks, kThreads, 0, stream>>>(axes, source, target, factor);
  }
}

}  // namespace

void launch_copy(const CopyGrid& grid, const void* from, Element from_type, void* to, Element to_type,
                 double factor, Stream stream) {
  const Axes axes = join(grid);
  with_element(to_type, [&](auto written) {
    using To = decltype(written);
    if constexpr (IsComplex<To>::value || std::is_floating_point_v<To>) {
      with_element(from_type, [&](auto read) {
        using From = decltype(read);
        if constexpr (IsComplex<To>::value || !IsComplex<From>::value)
          launch<From, To>(axes, from, to, factor, stream);
      });
    }
  });
  check_launch("copy");
}

}  // namespace sfft::detail::cuda
