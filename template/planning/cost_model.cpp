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

double predict_comb_device_us(const CombCost& cost, int multiprocessors, int batch, bool compiled) noexcept {
  const double points = static_cast<double>(cost.buckets);
  const double lanes = static_cast<double>(cost.real ? cost.delays / 2 : cost.delays);
  const double k = static_cast<double>(cost.k);
  constexpr double kLargestFused = 13000;  // buckets of a lane that two buffers in shared memory hold
  if (points > kLargestFused) {
    const double line_us = static_cast<double>(cost.lines) * 64 / 4e6;
    return 17.0 / batch + line_us + points * lanes * 8 * 6 / 4e6 + k * lanes * 16 / 4e6;
  }
  // One multiprocessor transforming `own` lanes: latencies first, then throughput.
  const auto block_us = [&](double own) {
    const double share = own / lanes;
    const double gather = 0.6 + 0.0006 * share * static_cast<double>(cost.lines);
    const double fft = 0.35 + 5 * own * points * std::log2(std::max(points, 2.0)) / 1.4e5;
    const double recover = 0.3 + k * own * (cost.real ? 16 : 8) / 6e4;
    return gather + fft + recover + 0.4 + 0.0004 * k;
  };
  // Many frames at once: multiprocessors compute, and what frames are read from memory adds to that.
  const double throughput_us =
      block_us(lanes) / multiprocessors + static_cast<double>(cost.sectors) * 32 / 3e6;
  if (batch < multiprocessors / 4) {
    // Few frames at once, each one block's or a cluster's work: passes wait for each other more than they
    // compute.
    const auto latency_us = [&](double own, double side) {
      const double passes = std::log(std::max(side, 8.0)) / std::log(6.5);
      return 2.9 + 0.5 * passes + own * (side * 1e-3 + k * 5e-4);
    };
    double all_us = latency_us(lanes, points) + (cost.real ? k * lanes * 5e-4 : 0);
    if (points * lanes >= 1024) {
      // A cluster, in which real combs are halved. Below 2048 points it is a block, which was 0.9 us slower
      // than this for 256 x 5.
      const bool halves = cost.real && cost.buckets % 2 == 0 && cost.delays <= 16;
      all_us = 0.8 + (halves ? latency_us(1, points / 2) : latency_us(std::ceil(lanes / 16), points));
      if (compiled) all_us *= 0.6;
    }
    return std::max(all_us / batch, throughput_us);
  }
  return throughput_us;
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

double predict_flat_device_us(std::int64_t taps, std::int64_t rows) noexcept {
  return 3 + 0.002 * static_cast<double>(taps) / 4 + 0.001 * static_cast<double>(rows);
}

double predict_direct_device_us(std::int64_t points, std::int64_t k) noexcept {
  return 2.5 + 1e-4 * static_cast<double>(points) * static_cast<double>(k);
}

double predict_dense_device_us(const Shape& shape, bool real, int batch, bool tuned) noexcept {
  const double megabytes = static_cast<double>(shape.points()) * (real ? 4e-6 : 8e-6);
  // Slower once a signal outgrows the L2 cache.
  const double beyond = std::max(0.0, megabytes - 40);
  if (tuned) return 8.0 / batch + megabytes + 0.4 * beyond;
  const bool small_batched = batch >= 8 && megabytes < 3;
  return 11.0 / batch + (real ? (small_batched ? 2.0 : 3.3) * megabytes : 1.4 * megabytes + 0.6 * beyond);
}

}  // namespace sfft::detail
