// SPDX-License-Identifier: Apache-2.0
// Chooses a plan's check samples.
#pragma once

#include <cstdint>

#include "kernels/base/tables/witness_data.hpp"
#include "template/data/support_set.hpp"

namespace sfft::detail {

namespace cpu {
class ThreadPool;
}

/// Scatters samples over the frame. Each dimension is cut into as many equal intervals as there are samples,
/// and each interval gets one sample, in a random order along each dimension. Residues modulo the number of
/// samples, a power of two, and modulo its divisors are covered equally evenly if the extents are long
/// enough. Therefore neither a burst nor a period that divides the extent hits all of the samples or none.
/// These samples form one block. The samples of further blocks are drawn independently, one from each of as
/// many intervals of the frame. The probability that all of these miss a share q of the frame is at most (1 −
/// q)^(their number).
WitnessData make_witness(const SupportSet& support, bool trimmed, std::uint64_t seed,
                         cpu::ThreadPool* pool = nullptr, std::int64_t blocks = 1);
/// The same without the columns.
WitnessData place_witness(const SupportSet& support, bool trimmed, std::uint64_t seed,
                          std::int64_t blocks = 1);
/// Adds the columns of a witness that place_witness() made.
void add_columns(const SupportSet& support, WitnessData& data, cpu::ThreadPool* pool = nullptr);

}  // namespace sfft::detail
