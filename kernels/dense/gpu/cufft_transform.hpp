// SPDX-License-Identifier: Apache-2.0
// A cuFFT plan in the advanced data layout, and cuFFT's names for both precisions.
#pragma once

#include <cufft.h>

#include <array>
#include <cstdint>
#include <mutex>

#include "kernels/cuda/runtime/cufft_handle.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail {

/// A batch in cuFFT's advanced data layout: (i1, i2, i3) of signal b is at b·distance + ((i1·embed[1] +
/// i2)·embed[2] + i3)·stride. Without embedding: contiguous.
struct CufftLayout {
  std::array<long long, 3> embed{1, 1, 1};
  long long stride = 1, distance = 1;
};

struct CufftRequest {
  int rank = 1;
  std::array<long long, 3> extents{1, 1, 1};
  CufftLayout in, out;
  cufftType type = CUFFT_C2C;
  std::int64_t batch = 1;
  bool plain = false;  ///< contiguous on both sides, so cuFFT can ignore the layouts
};

/// A cuFFT plan. Stream and work area are part of its state, so concurrent calls run one after another.
class CufftTransform {
 public:
  /// `compiled`: with kernels compiled for the problem, if this cuFFT supports that.
  explicit CufftTransform(CufftRequest request, bool compiled = false) {
    if (compiled) compiled_ = handle_.compile_kernels();
    cuda::check_cufft(
        cufftMakePlanMany64(handle_.get(), request.rank, request.extents.data(),
                            request.plain ? nullptr : request.in.embed.data(), request.in.stride,
                            request.in.distance, request.plain ? nullptr : request.out.embed.data(),
                            request.out.stride, request.out.distance, request.type, request.batch,
                            &work_bytes_),
        "planning an FFT with cuFFT");
  }

  std::size_t work_bytes() const noexcept { return work_bytes_; }
  bool compiled() const noexcept { return compiled_; }

  template <class Execute>
  void run(std::byte* work, cuda::Stream stream, const Execute& execute) const {
    const std::lock_guard lock(mutex_);
    cuda::check_cufft(cufftSetStream(handle_.get(), stream), "setting the stream of an FFT");
    if (work_bytes_ > 0)
      cuda::check_cufft(cufftSetWorkArea(handle_.get(), work), "giving an FFT its work area");
    cuda::check_cufft(execute(handle_.get()), "enqueueing an FFT with cuFFT");
  }

 private:
  mutable std::mutex mutex_;
  cuda::CufftHandle handle_;
  std::size_t work_bytes_ = 0;
  bool compiled_ = false;
};

/// cuFFT's types and functions for one precision.
template <class Real>
struct CufftApi;
template <>
struct CufftApi<float> {
  using Complex = cufftComplex;
  static constexpr cufftType kComplex = CUFFT_C2C, kForward = CUFFT_R2C, kInverse = CUFFT_C2R;
  static constexpr auto complex = cufftExecC2C;
  static constexpr auto forward = cufftExecR2C;
  static constexpr auto inverse = cufftExecC2R;
};
template <>
struct CufftApi<double> {
  using Complex = cufftDoubleComplex;
  static constexpr cufftType kComplex = CUFFT_Z2Z, kForward = CUFFT_D2Z, kInverse = CUFFT_Z2D;
  static constexpr auto complex = cufftExecZ2Z;
  static constexpr auto forward = cufftExecD2Z;
  static constexpr auto inverse = cufftExecZ2D;
};

}  // namespace sfft::detail
