// SPDX-License-Identifier: Apache-2.0
// Split-half Fourier transforms on tensor cores: launches of a pass.
#pragma once

#include "kernels/base/tensor/passes.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Whether the kernels were compiled for a GPU that has the instructions. Code for an older GPU lacks them,
/// although newer GPUs also run it.
bool have_tensor_kernels();
/// Lets kernels use the shared memory that their tiles need, on the current device. Returns how many blocks a
/// multiprocessor runs at the same time.
int prepare_tensor_pass(const tensor::TileChoice& choice);
/// All arrays are in device memory. `overlap`: the device can start a kernel before the stream's previous one
/// ends. Stream-ordered, allocates nothing.
void launch_tensor_pass(const tensor::TileChoice& choice, const tensor::Pass& pass, bool overlap,
                        Stream stream);

/// For tests: splits points into registers and joins them again.
void launch_tensor_split(const tensor::Point* from, tensor::SplitPoint* to, std::int64_t count,
                         Stream stream);
/// root_of() for every exponent below 2^log_order that is a multiple of `step`.
void launch_tensor_roots(int log_order, unsigned step, float sign, tensor::Point* to, std::int64_t count,
                         Stream stream);

}  // namespace sfft::detail::cuda
