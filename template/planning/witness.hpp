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
/// Those are one block. With more, the others are drawn independently, one in each of as many intervals of
/// the frame, so that all of them miss a share q of it with a probability of at most (1 − q)^their number.
WitnessData make_witness(const SupportSet& support, bool trimmed, std::uint64_t seed,
                         cpu::ThreadPool* pool = nullptr, std::int64_t blocks = 1);
/// The same without the columns.
WitnessData place_witness(const SupportSet& support, bool trimmed, std::uint64_t seed,
                          std::int64_t blocks = 1);
/// Makes the columns of a witness that was placed.
void add_columns(const SupportSet& support, WitnessData& data, cpu::ThreadPool* pool = nullptr);

}  // namespace sfft::detail
