// SPDX-License-Identifier: Apache-2.0
// Predicts what a transform in slabs takes, from the bytes that each device moves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/base/types.hpp"
#include "kernels/dense/slabs/slab_fft.hpp"

namespace sfft::detail {

/// How devices are joined.
enum class SlabLink { memory, nvlink, bus, staged };

struct SlabRates {
  double memory_rate = 4e12;  ///< bytes per second, read and written, of the slowest device
  SlabLink link = SlabLink::nvlink;
  double sent_share = 1;  ///< bytes that are sent for a byte of the data: less than 1 if they are packed
};

struct SlabTimes {
  double planes_us = 0, exchange_us = 0, columns_us = 0;
  double total_us = 0;
};

/// Bytes per second that each of `devices` sends to the others while it receives as much.
double exchange_rate(SlabLink link, int devices) noexcept;

/// Memory of the device with the largest slabs: signal, spectrum and workspace.
double slab_memory_bytes(const Shape& shape, bool real, std::size_t value_bytes, int devices);

/// How a transform is cut, but for the rows that belong together.
SlabCuts slab_cuts(const Shape& shape, bool real, std::size_t value_bytes, int devices);

/// Small planes of a chunk are transformed in groups that the L2 cache holds: what one pass stores the next
/// one finds there. Groups go to several streams in turns, since one does not fill a GPU.
struct SlabTurns {
  std::int64_t planes = 1;  ///< of a group
  int streams = 1;
};
/// For chunks of `planes` planes: all of them, or groups for several streams.
SlabTurns slab_turns(std::size_t plane_bytes, std::int64_t planes);

/// `devices` slabs of one transform, cut so; one device: the transform in its memory.
SlabTimes predict_slabs(const Shape& shape, bool real, std::size_t value_bytes, int devices,
                        const SlabRates& rates);

/// One device whose time was measured: it may need fewer passes than this model counts.
SlabTimes measured_alone(double us) noexcept;

/// What the planner found out about one number of devices.
struct SlabChoice {
  int devices = 1;
  bool fits = true;  ///< in the memory of each
  SlabTimes times;
};
/// The fastest of those that fit; nullptr: none does.
const SlabChoice* fastest_choice(const std::vector<SlabChoice>& choices) noexcept;

}  // namespace sfft::detail
