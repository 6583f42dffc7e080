// SPDX-License-Identifier: Apache-2.0
// Selects the strongest elements of a power array in device memory. Only counts and single levels are copied
// to the host. Every function blocks. Results do not depend on thread order.
#pragma once

#include <cstdint>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Elements [first, count) that are not negative.
struct Candidates {
  const double* power;
  std::int64_t first, count;
};

/// Takes the elements above a level, and those equal to it up to an index.
struct Cut {
  double level;
  std::int64_t last_tie = -1;
};

/// The rank-th largest power; rank in [1, number of candidates]. Uses radix selection, which reads the array
/// six times, for 11 bits each.
double power_at_rank(const Candidates& candidates, std::int64_t rank, Stream stream);
/// The cut that takes exactly the `rank` largest, ties in ascending order of index.
Cut cut_at_rank(const Candidates& candidates, std::int64_t rank, Stream stream);
/// How many elements a cut takes.
std::int64_t count_taken(const Candidates& candidates, const Cut& cut, Stream stream);
/// The indices of the `taken` elements that a cut takes, ascending, as std::int64_t in device memory.
DeviceBuffer take(const Candidates& candidates, const Cut& cut, std::int64_t taken, Stream stream);

}  // namespace sfft::detail::cuda
