// SPDX-License-Identifier: Apache-2.0
// The model is cheap, so the best share is found by trying every share of a grid.
#include "kernels/dense/out_of_core/load_model.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::detail {

namespace {

constexpr int kPiecesPerStream = 4;
constexpr int kSteps = 400;  ///< grid of the host's share

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The time of a device's first piece, whose three steps run one after another, and the time of its other
/// pieces, which overlap.
struct DeviceTimes {
  double first, others;
};

DeviceTimes device_times(const RoundProfile& profile, const PieceLimits& limits, const Partition& partition) {
  const auto units = static_cast<double>(partition.device_units) / limits.devices;
  const double piece = static_cast<double>(partition.device_units) / static_cast<double>(partition.pieces);
  const double chain = profile.in_us + profile.kernel_us + profile.out_us;
  // The slowest step is always busy. A single slot fills while it empties, and then waits for its kernels.
  // Both directions of a bus together are slower than the sum of each alone, and two buses that share the
  // host's memory are slower still: 97 of 2·55 GB/s, and 160 of 2·106 GB/s (H200).
  const double both = limits.devices == 1 ? 0.57 : 0.66;
  const double copies = std::max({profile.in_us, profile.out_us, both * (profile.in_us + profile.out_us)});
  const double step = limits.streams > 1 ? std::max(copies, profile.kernel_us) : copies + profile.kernel_us;
  return {piece * chain, std::max(0.0, units - piece) * step};
}

/// Threads take whole parts, so some threads may be idle during the last ones.
double host_us_of(const RoundProfile& profile, const PieceLimits& limits, std::int64_t units) {
  const std::int64_t parts = ceil_div(units, limits.host_part),
                     of_one = std::min(units, ceil_div(parts, limits.threads) * limits.host_part);
  return static_cast<double>(std::max(units, of_one * limits.threads)) * profile.host_us;
}

}  // namespace

std::pair<std::int64_t, std::int64_t> Partition::units_of(std::int64_t device) const noexcept {
  const auto [first, end] = pieces_of(device);
  return {std::min(device_units, first * piece_units), std::min(device_units, end * piece_units)};
}

Partition make_partition(const PieceLimits& limits, double host_share) {
  Partition partition;
  partition.devices = limits.devices;
  const std::int64_t streams = static_cast<std::int64_t>(limits.streams) * limits.devices;
  const std::int64_t grains = ceil_div(limits.units, limits.grain);
  const auto of_device =
      static_cast<std::int64_t>(std::llround(static_cast<double>(grains) * (1 - host_share)));
  partition.device_units = std::min(limits.units, of_device * limits.grain);
  if (partition.device_units == 0) return partition;
  const std::int64_t wanted = std::clamp<std::int64_t>(
      partition.device_units / std::max<std::int64_t>(1, limits.min), 1, kPiecesPerStream * streams);
  const std::int64_t pieces = std::max(wanted, ceil_div(partition.device_units, limits.max));
  // Two pieces per stream gain more than piece sizes that copy faster.
  std::int64_t step = std::max(limits.good, limits.grain);
  while (step > limits.grain && (step > limits.max || 2 * streams * step > partition.device_units))
    step = step / 2 % limits.grain == 0 ? step / 2 : limits.grain;
  const std::int64_t max = limits.max / step * step;
  partition.piece_units = std::min(max, ceil_div(ceil_div(partition.device_units, pieces), step) * step);
  partition.pieces = ceil_div(partition.device_units, partition.piece_units);
  return partition;
}

RoundTimes predict(const RoundProfile& profile, const PieceLimits& limits, double host_share) {
  const Partition partition = make_partition(limits, host_share);
  RoundTimes times;
  if (partition.pieces > 0) {
    const DeviceTimes device = device_times(profile, limits, partition);
    times.device_us = device.first + device.others * profile.overlap;
  }
  const double copied_us = static_cast<double>(partition.device_units) * profile.copied_us;
  times.host_us = host_us_of(profile, limits, limits.units - partition.device_units);
  // The processor that ends first has worked concurrently with the other all the time.
  if (times.device_us / (1 - profile.device_loss) < times.host_us / (1 - profile.host_loss)) {
    times.device_us /= 1 - profile.device_loss;
    times.host_us += profile.host_loss * times.device_us;
  } else {
    times.host_us /= 1 - profile.host_loss;
    times.device_us += profile.device_loss * times.host_us;
  }
  if (copied_us > 0) times.device_us = std::max(times.device_us, times.host_us + copied_us);
  times.us = std::max(times.device_us, times.host_us);
  return times;
}

double overlap_of(const RoundProfile& profile, const PieceLimits& limits, double device_us) {
  const Partition partition = make_partition(limits, 0);
  const DeviceTimes device = device_times(profile, limits, partition);
  if (device.others == 0) return 1;
  return std::max(0.5, (device_us - device.first) / device.others);
}

double best_host_share(const RoundProfile& profile, const PieceLimits& limits) {
  double best = 0, best_us = kMinGain * predict(profile, limits, 0).us;
  for (int step = 1; step <= kSteps; ++step) {
    const double share = static_cast<double>(step) / kSteps;
    const double us = predict(profile, limits, share).us;
    if (us < best_us) {
      best = share;
      best_us = us;
    }
  }
  return best;
}

}  // namespace sfft::detail
