// SPDX-License-Identifier: Apache-2.0
// Templates at frequencies chosen by the caller, with amplitudes from a frame.
#pragma once

#include <cstdint>
#include <span>

#include "sfft/export.hpp"
#include "sfft/template.hpp"
#include "sfft/types.hpp"

namespace sfft {

/// A template of exactly the given frequencies. A dense transform of the frame supplies their amplitudes and
/// the power outside them, so plans can predict aliasing; with Template::from_support() they assume an
/// exactly sparse signal. `support` holds distinct linear (row-major) indices in [0, N), in any order; for a
/// real signal, either frequency of a conjugate pair but not both. The template's support is ascending and
/// names each pair by the frequency that learn() would keep. `threads`: of the CPU, or kAllCores. Throws
/// invalid_support, and invalid_argument for a frame with NaN or infinities.
SFFT_EXPORT Template learn_at(const SignalView& frame, std::span<const std::int64_t> support,
                              int threads = 1);

}  // namespace sfft
