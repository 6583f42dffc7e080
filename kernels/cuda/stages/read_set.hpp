// SPDX-License-Identifier: Apache-2.0
// Gathers a set of samples of a signal in GPU memory: stage "permute" for patterns that are drawn anew every
// time.
#pragma once

#include "kernels/base/sample_set.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// The offsets of up to this many streams travel with the launch; more are read from where `offsets` points.
constexpr int kOffsetsInLaunch = 32;

/// Writes the real and imaginary parts of the set to re[] and im[], as numbers of `Real`. `signal`, `re` and
/// `im` are addresses of the device (mapped host memory will do); so is set.offsets if the set has more than
/// kOffsetsInLaunch streams, otherwise it is a host address.
template <class Real>
void launch_read_set(const void* signal, Element type, const SampleSet& set, Real* re, Real* im,
                     Stream stream);

}  // namespace sfft::detail::cuda
