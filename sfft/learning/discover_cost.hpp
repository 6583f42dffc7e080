// SPDX-License-Identifier: Apache-2.0
// Predicted times that decide how long a discovery may take.
#pragma once

#include <cstdint>

#include "sfft/types.hpp"

namespace sfft::detail {

/// Microseconds of a dense transform of the shape by the built-in engine, large primes included.
double dense_us(const Shape& shape, bool real);
/// The same for a dense transform and learn()'s work on a GPU.
double dense_device_us(const Shape& shape, bool real);
/// Whether a failed trial of discovery takes little time compared with the dense transform that follows.
bool worth_a_trial(const Shape& shape, bool real, std::int64_t wanted);

}  // namespace sfft::detail
