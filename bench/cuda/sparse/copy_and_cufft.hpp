// SPDX-License-Identifier: Apache-2.0
// The baseline for plans that read frames from host memory.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <memory>

#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/device_signals.hpp"
#include "bench/cuda/peers.hpp"
#include "sfft/types.hpp"

namespace sfft::bench {

/// Copies whole page-locked frames of bytes and transforms them with cuFFT R2C, in chunks, with two in
/// flight.
class CopyAndCufft {
 public:
  CopyAndCufft(const std::uint8_t* frames, const Shape& shape, std::int64_t chunk)
      : frames_(frames), points_(shape.points()), chunk_(chunk) {
    for (Lane& lane : lanes_) {
      gpu(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking));
      lane.bytes = DeviceBuffer(static_cast<std::size_t>(chunk_ * points_));
      lane.floats = DeviceBuffer(static_cast<std::size_t>(chunk_ * points_) * 4);
      lane.peer = make_cufft({{shape[0], shape[1]}, true, chunk_});
      lane.peer->load(lane.floats.data(), lane.stream);
    }
  }
  ~CopyAndCufft() {
    for (Lane& lane : lanes_) cudaStreamDestroy(lane.stream);
  }
  CopyAndCufft(const CopyAndCufft&) = delete;
  CopyAndCufft& operator=(const CopyAndCufft&) = delete;

  /// Processes frames [first, last), which must be a whole number of chunks. Blocks.
  void run(std::int64_t first, std::int64_t last, bool transform) {
    for (; first < last; first += chunk_) {
      Lane& lane = lanes_[first / chunk_ % 2];
      gpu(cudaMemcpyAsync(lane.bytes.data(), frames_ + first * points_, lane.bytes.bytes(),
                          cudaMemcpyHostToDevice, lane.stream));
      if (!transform) continue;
      widen_samples(lane.bytes.data(), false, lane.floats.as<float>(), chunk_ * points_, lane.stream);
      lane.peer->enqueue(lane.stream);
    }
    for (Lane& lane : lanes_) gpu(cudaStreamSynchronize(lane.stream));
  }

 private:
  struct Lane {
    cudaStream_t stream = nullptr;
    DeviceBuffer bytes, floats;
    std::unique_ptr<Peer> peer;
  };
  const std::uint8_t* frames_;
  std::int64_t points_, chunk_;
  Lane lanes_[2];
};

}  // namespace sfft::bench
