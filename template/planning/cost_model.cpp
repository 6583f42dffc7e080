// SPDX-License-Identifier: Apache-2.0
// Formulas with fitted constants: latencies of the memory level that holds the frame, the flops of the FFT,
// and work per coefficient; then their counterparts for a GPU.
#include "template/planning/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::detail {

double predict_comb_us(const CombCost& cost) noexcept {
  const double frame_bytes = static_cast<double>(cost.points) * (cost.real ? 1 : 8);
  // Cost of a cache line from the second-level cache, the third-level cache or memory.
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

/// Buckets of a lane that two buffers in a multiprocessor's shared memory hold; with more, kernels are
/// staged.
constexpr double kLargestFused = 13000;
/// Points of a frame for which clusters of blocks are worth it.
constexpr double kWorthCluster = 1024;

/// What a comb asks of a GPU. Fitted to 115 combs drawn at random on an H200 (bench_cuda_sparse --costs).
struct DeviceWork {
  double points, lanes, k;

  static double passes(double side) { return std::log(std::max(side, 8.0)) / std::log(6.5); }
  static double flops(double side) { return side * std::log2(std::max(side, 2.0)); }
  /// A block that has a frame to itself: latencies first, then throughput. Within 7 % (RMS).
  double block_us() const {
    return 4.06 + 0.51 * passes(points) + 1.5e-4 * lanes * flops(points) + 0.0016 * k;
  }
  /// A cluster whose blocks have `own` lanes of `side` points each; one lane that few rows read has kernels
  /// of its own. Within 13 %.
  double cluster_us(double own, double side) const {
    constexpr double kLaneAlone = 4096, kFewRows = 1024;
    if (own == 1 && side <= kLaneAlone && k <= kFewRows)
      return 4.7 + 0.41 * passes(side) + 5.2e-5 * flops(side);
    return 6.06 + 1.3e-4 * own * flops(side) + 0.0013 * k * own;
  }
};

/// How SparseExecutor spreads each of some frames over multiprocessors: the lanes of a block, and their
/// points; how many turns clusters take. No lanes: a block works on a frame.
struct Spread {
  double own = 0, side = 0;
  int turns = 1;
};
Spread spread(const CombCost& cost, const DeviceWork& work, int multiprocessors, int frames) {
  constexpr int kLargestCluster = 16;
  constexpr int kPart = 18;  // multiprocessors of a GPU that a cluster has to find room in
  const int most = std::min(kLargestCluster, multiprocessors / frames);
  if (work.points * work.lanes < kWorthCluster) return {};
  const bool halved = cost.real && cost.buckets % 2 == 0 && cost.delays <= most;
  const double lanes = halved ? 2 * work.lanes : work.lanes, side = halved ? work.points / 2 : work.points;
  Spread best;
  double least = lanes + 1;
  for (int cluster = std::min(most, static_cast<int>(lanes)); cluster > 1; --cluster) {
    const double own = std::ceil(lanes / cluster);
    if (own * side > kLargestFused) break;
    const int at_once = std::max(1, multiprocessors / kPart * (kPart / cluster));
    const int turns = (frames + at_once - 1) / at_once;
    if (turns * (own + 1) < least) {
      least = turns * (own + 1);
      best = {own, side, turns};
    }
    if (turns == 1) break;
  }
  return best;
}

}  // namespace

double predict_comb_device_us(const CombCost& cost, int multiprocessors, int batch, bool compiled) noexcept {
  const double lanes = static_cast<double>(cost.real ? cost.delays / 2 : cost.delays);
  const DeviceWork work{static_cast<double>(cost.buckets), lanes, static_cast<double>(cost.k)};
  const Spread few = spread(cost, work, multiprocessors, batch);
  if (few.own == 0 && work.points > kLargestFused) {
    const double us =
        cost.real ? 17.0 / batch + 3e-5 * work.points * lanes : 19.0 / batch + 4e-5 * work.points * lanes;
    return us + 5e-5 * work.k;
  }
  // What frames are read from memory adds to what multiprocessors compute. Rows of samples come faster than
  // samples by themselves.
  const bool alone = cost.sectors >= cost.samples;
  const double memory_us = static_cast<double>(cost.sectors) * (alone ? 7e-6 : 3.3e-6);
  // As many frames at a time as there are multiprocessors; of a last round some have none.
  const double rounds = std::ceil(static_cast<double>(batch) / multiprocessors);
  double block_us = work.block_us();
  // More points never cost less, also where clusters begin.
  if (work.points * work.lanes < kWorthCluster)
    block_us = std::min(block_us, work.cluster_us(1, cost.real ? work.points / 2 : work.points));
  block_us *= rounds / batch;
  if (few.own == 0) return block_us + memory_us;
  const double all_us =
      few.turns * work.cluster_us(few.own, few.side) * (compiled && few.own == 1 ? 0.68 : 1);
  return (work.points > kLargestFused ? all_us / batch : std::min(block_us, all_us / batch)) + memory_us;
}

double device_time_weight(int batch) noexcept {
  // Times of combs with equal errors differ more on GPUs, most where a few frames wait for their passes. A
  // plan of half the samples still loses, as its error is 1.4 times as large.
  constexpr int kFewFrames = 16;  // leave most of a GPU idle
  return batch <= kFewFrames ? 0.8 : 0.4;
}

double predict_bus_us(std::int64_t bytes) noexcept {
  return static_cast<double>(bytes) / 5e4;
}

double predict_from_host_us(double device_us, std::int64_t bytes, int batch) noexcept {
  constexpr double kHost = 2;        // results handed over, reports settled
  constexpr double kRoundTrip = 15;  // launches and waits, which the frames of a batch share
  const double bus_us = predict_bus_us(bytes);
  return kHost + kRoundTrip / batch + (batch == 1 ? device_us + bus_us : std::max(device_us, bus_us));
}

double predict_whole_from_host_us(double device_us, std::int64_t bytes, int batch) noexcept {
  constexpr double kCopy = 10;  // begins late
  // Rounds are large, so that copies hardly overlap with them.
  return predict_from_host_us(0, 0, batch) + kCopy / batch + predict_bus_us(bytes) + device_us;
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
