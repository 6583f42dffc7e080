// SPDX-License-Identifier: Apache-2.0
// Formulas with fitted constants: latencies of the memory level that holds the frame, the flops of the FFT,
// and work per coefficient; then their counterparts for a GPU.
#include "template/planning/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::detail {

double predict_comb_us(const CombCost& cost) noexcept {
  const double frame_bytes = static_cast<double>(cost.points) * (cost.real ? 1 : 8);
  // Cost of a cache line from the L2 cache, the L3 cache or memory.
  const double line_ns = frame_bytes < 0.75e6 ? 0.1 : frame_bytes < 16e6 ? 2 : 8;
  const double lanes = static_cast<double>(cost.real ? cost.delays / 2 : cost.delays);
  const double points = static_cast<double>(cost.buckets);
  const double flops = 5 * points * std::log2(std::max(points, 2.0)) * lanes;
  const double flops_per_ns = points * lanes * 16 < 0.5e6 ? 90 : 45;
  const double gather_ns =
      static_cast<double>(cost.samples) * 0.3 + static_cast<double>(cost.lines) * line_ns;
  const double recover_ns = static_cast<double>(cost.k) * (2 + 0.4 * static_cast<double>(cost.delays));
  const double tail_ns = 0.05 * points * lanes;
  return 1e-3 * (100 + gather_ns + flops / flops_per_ns + recover_ns + tail_ns);
}

double predict_witness_us(std::int64_t blocks, std::int64_t k) noexcept {
  // 256 bytes of single-precision columns per coefficient: from the L2 cache, or from further away.
  const auto products = static_cast<double>(blocks) * static_cast<double>(k);
  return 1e-3 * (static_cast<double>(blocks) * 80 + products * (products < 4000 ? 3 : 8));
}

double predict_direct_us(std::int64_t points, std::int64_t k, bool real) noexcept {
  const double products = static_cast<double>(points) * static_cast<double>(k);
  return 1e-3 * (60 + products * (real ? 0.3 : 0.35));
}

double predict_dense_us(const Shape& shape, bool real) noexcept {
  const double points = static_cast<double>(shape.points());
  const double flops = 5 * points * std::log2(std::max(points, 2.0)) * (real ? 0.5 : 1);
  const double bytes = points * (real ? 4 : 8);
  const double flops_per_ns = bytes < 64e3 ? 90 : bytes < 2e6 ? 60 : bytes < 16e6 ? 45 : 22;
  return 1e-3 * (100 + flops / flops_per_ns);
}

namespace {

/// Largest number of buckets per lane (one delay, or a pair of delays of a real signal) that two
/// shared-memory buffers of a multiprocessor hold; with more, kernels are staged.
constexpr double kLargestFused = 13000;

/// The work of a comb on a GPU.
struct DeviceWork {
  double points, lanes, k;
  bool real;
  /// Distinct pieces of memory that hold its samples.
  double pieces;

  /// Time of a multiprocessor that processes `own` lanes: latencies first, then throughput.
  double block_us(double own) const {
    const double gather = 0.6 + 0.0006 * own / lanes * pieces;
    const double fft = 0.35 + 5 * own * points * std::log2(std::max(points, 2.0)) / 1.4e5;
    const double recover = 0.3 + k * own * (real ? 16 : 8) / 6e4;
    return gather + fft + recover + 0.4 + 0.0004 * k;
  }
  /// Time of a frame if few frames are concurrent: passes then wait for each other more than they compute.
  double latency_us(double own, double side) const {
    const double passes = std::log(std::max(side, 8.0)) / std::log(6.5);
    return 2.9 + 0.5 * passes + own * (side * 1e-3 + k * 5e-4);
  }
};

/// How SparseExecutor spreads a frame over `idle` multiprocessors: the number of lanes of each, and the
/// points of a lane. With no lanes, one block processes the frame.
struct Spread {
  double own, side;
};
Spread spread(const CombCost& cost, const DeviceWork& work, int idle) {
  constexpr int kLargestCluster = 16;
  const int max = std::min(kLargestCluster, idle);
  // With fewer points one block is at least as fast: it was 0.9 us faster for 256 x 5.
  if (max < 2 || work.points * work.lanes < 1024) return {0, 0};
  if (cost.real && cost.buckets % 2 == 0 && cost.delays <= max) return {1, work.points / 2};
  const double own = std::ceil(work.lanes / max);
  return own * work.points > kLargestFused || work.lanes < 2 ? Spread{0, 0} : Spread{own, work.points};
}

}  // namespace

double predict_comb_device_us(const CombCost& cost, int multiprocessors, int batch, bool compiled) noexcept {
  const double lanes = static_cast<double>(cost.real ? cost.delays / 2 : cost.delays);
  const DeviceWork work{static_cast<double>(cost.buckets), lanes, static_cast<double>(cost.k), cost.real,
                        static_cast<double>(cost.lines)};
  if (work.points > kLargestFused) return 17.0 / batch + 3e-5 * work.points * lanes + 5e-5 * work.k;
  // Reading frames from memory adds to the multiprocessors' compute time.
  const double memory_us = static_cast<double>(cost.sectors) * 32 / 3e6;
  const double throughput_us = work.block_us(lanes) / multiprocessors + memory_us;
  const Spread few = spread(cost, work, multiprocessors / batch);
  if (few.own > 0) {
    const double all_us = 0.8 + work.latency_us(few.own, few.side);
    return std::max(all_us * (compiled && few.own == 1 ? 0.6 : 1) / batch, throughput_us);
  }
  if (batch == 1) {
    const double all_us = work.latency_us(lanes, work.points) + (cost.real ? work.k * lanes * 5e-4 : 0);
    return std::max(all_us, throughput_us);
  }
  // Each round takes as many frames as there are multiprocessors; some are idle in the last round.
  const double rounds = std::ceil(static_cast<double>(batch) / multiprocessors);
  return work.block_us(lanes) * rounds / batch + memory_us;
}

double device_time_weight(int batch) noexcept {
  // Times of combs with equal errors differ more on GPUs, especially if a few frames wait for their passes. A
  // plan of half the samples still loses, because its error is 1.4 times as large.
  constexpr int kFewFrames = 16;  // up to this many leave most of a GPU idle
  return batch <= kFewFrames ? 0.8 : 0.4;
}

double predict_bus_us(std::int64_t bytes) noexcept {
  return static_cast<double>(bytes) / 5e4;
}

double predict_from_host_us(double device_us, std::int64_t bytes, int batch) noexcept {
  constexpr double kHost = 2;        // passing on results, finishing reports
  constexpr double kRoundTrip = 15;  // launches and waits, shared by the frames of a batch
  const double bus_us = predict_bus_us(bytes);
  return kHost + kRoundTrip / batch + (batch == 1 ? device_us + bus_us : std::max(device_us, bus_us));
}

double predict_whole_from_host_us(double device_us, std::int64_t bytes, int batch) noexcept {
  constexpr double kCopy = 10;  // start of a copy
  // Rounds are large, so copies hardly overlap with them.
  return predict_from_host_us(0, 0, batch) + kCopy / batch + predict_bus_us(bytes) + device_us;
}

double predict_witness_device_us(std::int64_t blocks, std::int64_t k) noexcept {
  // Two more launches, and staged kernels instead of a fused one.
  return blocks == 0 ? 0 : 15 + 1e-5 * static_cast<double>(blocks) * static_cast<double>(k);
}

double predict_flat_device_us(std::int64_t taps, std::int64_t rows) noexcept {
  return 3 + 0.002 * static_cast<double>(taps) / 4 + 0.01 * static_cast<double>(rows);
}

double predict_direct_device_us(std::int64_t points, std::int64_t k) noexcept {
  return 2.5 + 1e-4 * static_cast<double>(points) * static_cast<double>(k);
}

double predict_dense_device_us(const Shape& shape, bool real, int batch, bool tuned) noexcept {
  const double megabytes = static_cast<double>(shape.points()) * (real ? 4e-6 : 8e-6);
  // Slower once a signal outgrows the L2 cache.
  const double beyond = std::max(0.0, megabytes - 40);
  if (tuned) return real ? 12.0 / batch + 1.45 * megabytes : 8.0 / batch + megabytes + 0.4 * beyond;
  return 11.0 / batch + (real ? (batch >= 8 ? 3.3 : 4.4) * megabytes : 1.4 * megabytes + 0.6 * beyond);
}

}  // namespace sfft::detail
