// SPDX-License-Identifier: Apache-2.0
// The library on a GPU, seen from outside: its name, and where plans put their results.
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

/// Where a plan puts the results of `count` frames of k coefficients.
class SpectrumBuffers {
 public:
  SpectrumBuffers(std::int64_t k, std::int64_t count)
      : k_(static_cast<std::size_t>(k)),
        values_(k_ * static_cast<std::size_t>(count) * sizeof(std::complex<float>)),
        errors_(k_ * static_cast<std::size_t>(count) * sizeof(float)),
        accounts_(static_cast<std::size_t>(count) * sizeof(FrameAccount)) {}

  DeviceSpectra<float> view() const {
    return {values_.as<std::complex<float>>(), errors_.as<float>(), accounts_.as<FrameAccount>()};
  }
  std::vector<std::complex<double>> values(std::size_t frame) const {
    const auto got = download(values_.as<std::complex<float>>() + frame * k_, k_);
    return {got.begin(), got.end()};
  }
  FrameAccount account(std::size_t frame) const {
    return download(accounts_.as<FrameAccount>() + frame, 1).front();
  }

 private:
  std::size_t k_;
  DeviceBuffer values_, errors_, accounts_;
};

}  // namespace sfft::bench
