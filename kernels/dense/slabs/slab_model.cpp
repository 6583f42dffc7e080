// SPDX-License-Identifier: Apache-2.0
// Every pass reads and writes the data once. Data that are sent are read once and written once. Link rates
// were measured between H200s: copy engines reach 389 GB/s over NVLink in both directions at once. One bus
// reaches 51 GB/s, and four buses 82 GB/s together.
#include "kernels/dense/slabs/slab_model.hpp"

#include <algorithm>

#include "kernels/dense/slabs/slab_grid.hpp"

namespace sfft::detail {

namespace {

constexpr double kNvlinkRate = 389e9, kBusRate = 51e9, kAllBusesRate = 82e9;
/// Rate at which one device packs floats into the memory of another, which unpacks them, while FFTs run
/// (512³, 1024³, two H200s).
constexpr double kPackingRate = 190e9;
constexpr double kQueueUs = 2.5;    // host time to enqueue one kernel, event or wait
constexpr double kTogetherUs = 30;  // several devices wait for each other (256³ on two H200s)
constexpr double kAnswerUs = 10;    // from the first launch until the host knows that all work is done
// Measured with two H200s.
constexpr double kChunkBytes = 32e6, kPartBytes = 60e6;
constexpr int kMaxChunks = 16, kMaxParts = 8;
constexpr double kFirstPart = 0.65;  ///< fraction of the rows
constexpr std::size_t kGroupBytes = 16 << 20;
constexpr int kTurnStreams = 2;
constexpr std::int64_t kMinGroupPlanes = 8;  ///< planes per group; fewer do not fill a GPU

double slab_bytes(const Shape& shape, bool real, std::size_t value_bytes, int devices) {
  const Shape spectrum = spectrum_shape(shape, real);
  return static_cast<double>(spectrum.points()) * static_cast<double>(value_bytes) / devices;
}

}  // namespace

double exchange_rate(SlabLink link, int devices) noexcept {
  switch (link) {
    case SlabLink::memory:
      break;
    case SlabLink::nvlink:
      return kNvlinkRate;
    case SlabLink::bus:
      return kBusRate;
    case SlabLink::staged:
      return std::min(kBusRate, kAllBusesRate / devices);
  }
  return 1e15;  // the pieces are on the same device: only reading and writing them counts
}

double slab_memory_bytes(const Shape& shape, bool real, std::size_t value_bytes, int devices) {
  const SlabGrid grid(shape, real, devices);
  const auto value = static_cast<double>(value_bytes);
  const double signal = static_cast<double>(grid.planes_of(0).count * (shape.points() / grid.planes)) *
                        (real ? value / 2 : value);
  const double planes = static_cast<double>(grid.planes_values(0)) * value;
  const double spectrum = static_cast<double>(grid.spectrum_values(0)) * value;
  // An inverse transform keeps transformed rows, and a real one also keeps planes.
  return signal + spectrum + (real ? planes + spectrum : std::max(planes, spectrum));
}

/// While planes are transformed, the links carry the first part, which takes about as long. The other parts
/// follow.
SlabCuts slab_cuts(const Shape& shape, bool real, std::size_t value_bytes, int devices) {
  const double bytes = slab_bytes(shape, real, value_bytes, devices);
  const auto planes = static_cast<int>(std::min<std::int64_t>(kMaxChunks, shape[0] / devices));
  SlabCuts cuts;
  cuts.chunks = std::clamp(static_cast<int>(bytes / kChunkBytes), 1, std::max(1, planes));
  if (cuts.chunks == 1) return cuts;
  cuts.parts = 1 + std::clamp(static_cast<int>((1 - kFirstPart) * bytes / kPartBytes), 1, kMaxParts - 1);
  cuts.first_part = kFirstPart;
  return cuts;
}

PlaneGroups plane_groups(std::size_t plane_bytes, std::int64_t planes) {
  const auto fitting = static_cast<std::int64_t>(kGroupBytes / plane_bytes);
  if (fitting < kMinGroupPlanes || fitting >= planes) return {planes, 1};
  const std::int64_t groups = (planes + fitting - 1) / fitting;
  return {(planes + groups - 1) / groups, kTurnStreams};
}

SlabTimes predict_slabs(const Shape& shape, bool real, std::size_t value_bytes, int devices,
                        const SlabRates& rates) {
  const double bytes = slab_bytes(shape, real, value_bytes, devices);
  const double pass_us = 1e6 * 2 * bytes / rates.memory_rate;
  SlabTimes times;
  times.planes_us = pass_us * (shape.rank() - 1);
  times.columns_us = pass_us;
  if (devices == 1) {
    times.total_us = kAnswerUs + times.planes_us + times.columns_us;
    return times;
  }
  const SlabCuts cuts = slab_cuts(shape, real, value_bytes, devices);
  const double sent = bytes * (devices - 1) / devices;
  const bool packed = rates.sent_fraction < 1;
  // Data are read here and written there; packed data are read and written there once more.
  const double passes = packed ? 2 + 2 * rates.sent_fraction : 2;
  const double through_memory_us = 1e6 * passes * sent / rates.memory_rate;
  times.exchange_us =
      std::max({through_memory_us, 1e6 * rates.sent_fraction * sent / exchange_rate(rates.link, devices),
                packed ? 1e6 * sent / kPackingRate : 0});
  const double first_us = times.planes_us / cuts.chunks;
  const double last_us = times.columns_us * (cuts.parts > 1 ? (1 - cuts.first_part) / (cuts.parts - 1) : 1);
  const double links_us = first_us + times.exchange_us + last_us;
  const double memory_us = times.planes_us + through_memory_us + times.columns_us;
  const double queue_us =
      kQueueUs * devices *
      (2 * devices + cuts.chunks * (4 + 2.0 * (devices - 1)) + cuts.parts * (4.0 + devices));
  times.total_us = kAnswerUs + kTogetherUs + std::max({queue_us, links_us, memory_us});
  return times;
}

SlabTimes measured_alone(double us) noexcept {
  SlabTimes times;
  times.total_us = kAnswerUs + us;
  return times;
}

const SlabChoice* fastest_choice(const std::vector<SlabChoice>& choices) noexcept {
  const SlabChoice* best = nullptr;
  for (const SlabChoice& choice : choices)
    if (choice.fits && (best == nullptr || choice.times.total_us < best->times.total_us)) best = &choice;
  return best;
}

}  // namespace sfft::detail
