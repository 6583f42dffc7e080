// SPDX-License-Identifier: Apache-2.0
// Chooses a plan's check samples.
#pragma once

#include <cstdint>

#include "kernels/base/witness_data.hpp"
#include "template/data/support_set.hpp"

namespace sfft::detail {

namespace cpu {
class ThreadPool;
}

/// Samples scattered over the frame: one in each of as many equal intervals of every dimension, in a random
/// order along each, and as evenly over the residues modulo a power of two, so that neither a burst nor a
/// period that divides the extent hits all of them or none.
WitnessData make_witness(const SupportSet& support, bool trimmed, std::uint64_t seed,
                         cpu::ThreadPool* pool = nullptr);
/// The same without the rows.
WitnessData place_witness(const SupportSet& support, bool trimmed, std::uint64_t seed);

}  // namespace sfft::detail
