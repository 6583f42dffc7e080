// SPDX-License-Identifier: Apache-2.0
// The library on a GPU, used through its public interface: its name, and buffers for results of plans.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "bench/cuda/device_memory.hpp"
#include "sfft/sfft.hpp"

namespace sfft::bench {

inline std::string gpu_name() {
  cudaDeviceProp properties{};
  gpu(cudaGetDeviceProperties(&properties, 0));
  return properties.name;
}

/// Buffers for a plan's results of `count` frames of k coefficients, in one block of memory.
class SpectrumBuffers {
 public:
  SpectrumBuffers(std::int64_t k, std::int64_t count)
      : k_(static_cast<std::size_t>(k)),
        errors_at_(aligned(static_cast<std::size_t>(k * count) * sizeof(std::complex<float>))),
        estimates_at_(errors_at_ + aligned(static_cast<std::size_t>(k * count) * sizeof(float))),
        memory_(estimates_at_ + static_cast<std::size_t>(count) * sizeof(Quality)) {}

  Plan<float>::DeviceSpectra view() const { return {values(), errors(), estimates()}; }
  std::vector<std::complex<double>> values(std::size_t frame) const {
    const auto got = download(values() + frame * k_, k_);
    return {got.begin(), got.end()};
  }
  Quality estimate(std::size_t frame) const { return download(estimates() + frame, 1).front(); }

 private:
  static constexpr std::size_t aligned(std::size_t bytes) noexcept { return (bytes + 255) / 256 * 256; }
  std::complex<float>* values() const { return memory_.as<std::complex<float>>(); }
  float* errors() const { return reinterpret_cast<float*>(memory_.data() + errors_at_); }
  Quality* estimates() const { return reinterpret_cast<Quality*>(memory_.data() + estimates_at_); }

  std::size_t k_, errors_at_, estimates_at_;
  DeviceBuffer memory_;
};

}  // namespace sfft::bench
