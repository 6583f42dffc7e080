// SPDX-License-Identifier: Apache-2.0
// Gathers a plan's samples from frames in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/runtime/device_types.hpp"

namespace sfft {
class SignalView;
}

namespace sfft::detail::cuda {

std::size_t element_size(Element type) noexcept;

/// compact[i] = frame[indices[i]] for i < count.
void copy_samples(const SignalView& frame, const std::int64_t* indices, std::size_t count,
                  void* compact) noexcept;

/// The samples of a reference in the form that kernels subtract, [lane][tap]: two streams of a real frame as
/// one complex number, or samples of a complex frame. `indices` lists whole streams of `taps` samples, then
/// the witness's samples.
template <class Real>
std::vector<Complex<Real>> reference_samples(const void* frame, Element type,
                                             const std::vector<std::int64_t>& indices, std::int64_t taps,
                                             std::int64_t witness_samples);

/// The witness's samples, the last `witness_samples` of the indices, in the form that kernels subtract: for a
/// complex frame all real parts, then all imaginary parts. Empty without a witness.
template <class Real>
std::vector<Real> reference_witness(const void* frame, Element type, const std::vector<std::int64_t>& indices,
                                    std::int64_t witness_samples);

}  // namespace sfft::detail::cuda
