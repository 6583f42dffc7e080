// SPDX-License-Identifier: Apache-2.0
// Keeps part of spectra that are already complete in device memory.
#pragma once

#include <complex>
#include <cstdint>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/spectrum/kept_part.cuh"

namespace sfft::detail::cuda {

/// Queues the work in `stream`. There are `total` elements in all, `spectrum` per spectrum. `keep`: above or
/// at; `part.count` must be 0. Throws Error(device).
template <class Real>
void launch_keep(device::Keep keep, const std::complex<Real>* spectra, std::int64_t total,
                 std::int64_t spectrum, const device::KeptPart& part, Stream stream);

}  // namespace sfft::detail::cuda
