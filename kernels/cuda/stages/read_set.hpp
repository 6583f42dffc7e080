// SPDX-License-Identifier: Apache-2.0
// Gathers a set of samples of a signal in GPU memory: stage "permute" for patterns that are
// redrawn every time.
#pragma once

#include "kernels/base/sample_set.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Up to this many stream offsets are kernel parameters; more are read through `offsets`.
constexpr int kOffsetsInLaunch = 32;

/// Writes the real and imaginary parts of the set to re[] and im[] as numbers of `Real`. `signal`, `re` and
/// `im` are device addresses (mapped host memory works). So is set.offsets if the set has more than
/// kOffsetsInLaunch streams; otherwise it is a host address.
template <class Real>
void launch_read_set(const void* signal, Element type, const SampleSet& set, Real* re, Real* im,
                     Stream stream);

}  // namespace sfft::detail::cuda
