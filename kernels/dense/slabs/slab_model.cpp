// SPDX-License-Identifier: Apache-2.0
// Every pass over the data reads and writes it once. Rates of links were measured between H200s, where
// kernels that store into peers reach 350 GB/s over NVLink, and one bus 51 GB/s each way, 82 for four.
#include "kernels/dense/slabs/slab_model.hpp"

#include <algorithm>

#include "kernels/dense/slabs/slab_grid.hpp"

namespace sfft::detail {

namespace {

constexpr double kNvlinkRate = 350e9, kBusRate = 51e9, kAllBusesRate = 82e9;
constexpr double kQueueUs = 2.5;  // the host, for one kernel, event or wait
constexpr double kAnswerUs = 10;  // from the first launch until the host knows that all is done
constexpr double kChunkBytes = 16e6;
constexpr int kMostChunks = 8;

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
  return 1e15;  // the pieces lie on the same device: what counts is reading and writing them
}

int slab_chunks(const Shape& shape, bool real, std::size_t value_bytes, int devices) {
  const double bytes = slab_bytes(shape, real, value_bytes, devices);
  const auto planes = static_cast<int>(std::min<std::int64_t>(kMostChunks, shape[0] / devices));
  return std::clamp(static_cast<int>(bytes / kChunkBytes), 1, std::max(1, planes));
}

SlabCuts slab_cuts(const Shape& shape, bool real, std::size_t value_bytes, int devices) {
  SlabCuts cuts;
  cuts.chunks = slab_chunks(shape, real, value_bytes, devices);
  if (cuts.chunks == 1) return cuts;
  cuts.parts = 4;
  cuts.first_part = 0.55;
  return cuts;
}

SlabTimes predict_slabs(const Shape& shape, bool real, std::size_t value_bytes, int devices, int chunks,
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
  const double sent = bytes * (devices - 1) / devices;
  times.exchange_us = std::max(pass_us, 1e6 * sent / exchange_rate(rates.link, devices));
  const double first = times.planes_us / chunks;
  const double queue_us = kQueueUs * devices * (6 + devices + 6.0 * chunks);
  times.total_us =
      kAnswerUs +
      std::max(queue_us, first + std::max(times.planes_us - first, times.exchange_us) + times.columns_us);
  return times;
}

const SlabChoice* fastest_choice(const std::vector<SlabChoice>& choices) noexcept {
  const SlabChoice* best = nullptr;
  for (const SlabChoice& choice : choices)
    if (choice.fits && (best == nullptr || choice.times.total_us < best->times.total_us)) best = &choice;
  return best;
}

}  // namespace sfft::detail
