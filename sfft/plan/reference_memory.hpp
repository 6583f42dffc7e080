// SPDX-License-Identifier: Apache-2.0
// GPU memory for a reference, which is subtracted from frames and added to their spectra.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/base/witness_reals.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/stream_buffer.hpp"
#include "sfft/plan/device_plan.hpp"

namespace sfft::detail {

/// The samples of a reference, its witness samples and its coefficients, in one block of memory.
template <class Real>
class ReferenceMemory final : public DeviceReference {
 public:
  /// `witness` real numbers, `error` as ErrorSums::reference_error.
  ReferenceMemory(std::int64_t points, std::int64_t witness, std::int64_t k, double error)
      : witness_(cuda::aligned(static_cast<std::size_t>(points) * sizeof(cuda::Complex<Real>))),
        values_(witness_ + cuda::aligned(static_cast<std::size_t>(witness) * sizeof(Real))),
        error_(error),
        memory_(values_ + static_cast<std::size_t>(k) * sizeof(cuda::Complex<Real>)) {}

  cuda::Complex<Real>* samples() const noexcept { return at<cuda::Complex<Real>>(0); }
  double error() const noexcept { return error_; }
  Real* witness() const noexcept { return at<Real>(witness_); }
  cuda::Complex<Real>* values() const noexcept { return at<cuda::Complex<Real>>(values_); }

 private:
  template <class T>
  T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(memory_.data() + offset);
  }
  std::size_t witness_, values_;  ///< offsets
  double error_;
  cuda::PooledBuffer memory_;
};

}  // namespace sfft::detail
