// SPDX-License-Identifier: Apache-2.0
// Times work on the GPU: a graph captures many repetitions, and events time its replays.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "bench/cuda/device_memory.hpp"
#include "bench/timing.hpp"

namespace sfft::bench {

/// Median wall clock of `work`, which must return when it is done. A first run is not timed.
template <class F>
double wall_us(const F& work) {
  return 1e6 * median_seconds(7, work);
}

struct Timing {
  double us = 0;
  double noise = 0;  ///< (p90 − p10) / median
};

using Work = std::function<void(cudaStream_t)>;

class Timer {
 public:
  Timer() : flush_(std::size_t{192} << 20) {
    gpu(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    gpu(cudaEventCreate(&start_));
    gpu(cudaEventCreate(&stop_));
  }
  ~Timer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  cudaStream_t stream() const { return stream_; }

  /// Time of one repetition of `work`, with its data in the L2 cache as far as it fits. `before` runs ahead
  /// of every replay and is not timed.
  Timing warm(const Work& work, int repetitions, int replays = 25, const Work& before = nullptr) {
    return scaled(replay(
                      [&] {
                        for (int i = 0; i < repetitions; ++i) work(stream_);
                      },
                      replays, before),
                  repetitions);
  }

  /// The same with data in memory, after writing 192 MiB. The result is the time of flush and work minus that
  /// of the flush.
  Timing cold(const Work& work, int repetitions, int replays = 25) {
    const auto flush = [&] { gpu(cudaMemsetAsync(flush_.data(), 1, flush_.bytes(), stream_)); };
    const Timing alone = replay(
        [&] {
          for (int i = 0; i < repetitions; ++i) flush();
        },
        replays);
    Timing both = replay(
        [&] {
          for (int i = 0; i < repetitions; ++i) {
            flush();
            work(stream_);
          }
        },
        replays);
    both.noise *= both.us;
    both.us -= alone.us;
    both.noise /= std::max(both.us, 1e-9);
    return scaled(both, repetitions);
  }

 private:
  static Timing scaled(Timing timing, int repetitions) {
    timing.us /= repetitions;
    return timing;
  }

  template <class Capture>
  Timing replay(const Capture& capture, int replays, const Work& before = nullptr) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    gpu(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    capture();
    gpu(cudaStreamEndCapture(stream_, &graph));
    gpu(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; ++i) {
      if (before) before(stream_);
      gpu(cudaGraphLaunch(executable, stream_));
    }
    gpu(cudaStreamSynchronize(stream_));
    std::vector<double> times;
    for (int i = 0; i < replays; ++i) {
      if (before) before(stream_);
      gpu(cudaEventRecord(start_, stream_));
      gpu(cudaGraphLaunch(executable, stream_));
      gpu(cudaEventRecord(stop_, stream_));
      gpu(cudaEventSynchronize(stop_));
      float ms = 0;
      gpu(cudaEventElapsedTime(&ms, start_, stop_));
      times.push_back(1e3 * static_cast<double>(ms));
    }
    gpu(cudaGraphExecDestroy(executable));
    gpu(cudaGraphDestroy(graph));
    std::sort(times.begin(), times.end());
    const auto at = [&](double q) {
      return times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))];
    };
    return {at(0.5), (at(0.9) - at(0.1)) / at(0.5)};
  }

  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  DeviceBuffer flush_;
};

}  // namespace sfft::bench
