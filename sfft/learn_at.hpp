// SPDX-License-Identifier: Apache-2.0
// Templates at frequencies that the caller chooses, with the amplitudes of a frame.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/base/export.hpp"
#include "kernels/base/types.hpp"
#include "sfft/template.hpp"

namespace sfft {

/// A template that holds exactly the given frequencies, and what a dense transform of the frame says about
/// their amplitudes and about the power outside them. Plans for it know what aliases, unlike those of
/// Template::from_support(), which take the signal for exactly sparse. `support` holds distinct flat
/// row-major indices in [0, N), in any order; of a real signal's conjugate pairs at most one, either. The
/// template's support is ascending and names each pair by the frequency that learn() would keep. `threads`: 0
/// for one per core. Throws invalid_support, and invalid_argument for a frame with NaN or infinities.
SFFT_EXPORT Template learn_at(const SignalView& frame, std::span<const std::int64_t> support,
                              int threads = 1);

}  // namespace sfft
