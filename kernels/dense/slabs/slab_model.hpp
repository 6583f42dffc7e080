// SPDX-License-Identifier: Apache-2.0
// Predicts the time of a transform in slabs from the bytes that each device moves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/dense/slabs/slab_fft.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// How devices are connected.
enum class SlabLink { memory, nvlink, bus, staged };

struct SlabRates {
  double memory_rate = 4e12;  ///< bytes per second, read and written, of the slowest device
  SlabLink link = SlabLink::nvlink;
  double sent_fraction = 1;  ///< bytes sent per byte of data; less than 1 if packed
};

struct SlabTimes {
  double planes_us = 0, exchange_us = 0, columns_us = 0;
  double total_us = 0;
};

/// Bytes per second that each of `devices` sends to the others while it receives at the same rate.
double exchange_rate(SlabLink link, int devices) noexcept;

/// Bytes that the device with the largest slabs needs for signal, spectrum and workspace.
double slab_memory_bytes(const Shape& shape, bool real, std::size_t value_bytes, int devices);

/// How to cut a transform. Does not set rows_together.
SlabCuts slab_cuts(const Shape& shape, bool real, std::size_t value_bytes, int devices);

/// Small planes of a chunk are transformed in groups that fit the L2 cache, so that each pass finds the
/// results of the previous one there. Groups alternate between several streams, because one group does not
/// fill a GPU.
struct PlaneGroups {
  std::int64_t planes = 1;  ///< per group
  int streams = 1;
};
/// The groups of a chunk of `planes` planes: one group, or several that alternate between streams.
PlaneGroups plane_groups(std::size_t plane_bytes, std::int64_t planes);

/// Predicts a transform in `devices` slabs, cut by slab_cuts(), or the transform in the memory of one device.
SlabTimes predict_slabs(const Shape& shape, bool real, std::size_t value_bytes, int devices,
                        const SlabRates& rates);

/// The times of one device whose total was measured. It may need fewer passes than this model counts.
SlabTimes measured_alone(double us) noexcept;

/// The planner's result for one number of devices.
struct SlabChoice {
  int devices = 1;
  bool fits = true;  ///< in the memory of each device
  SlabTimes times;
};
/// The fastest of those that fit, or nullptr if none does.
const SlabChoice* fastest_choice(const std::vector<SlabChoice>& choices) noexcept;

}  // namespace sfft::detail
