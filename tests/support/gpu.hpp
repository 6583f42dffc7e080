// SPDX-License-Identifier: Apache-2.0
// Fixtures for tests that need a GPU. Without a GPU they are skipped with the reason, or fail if one is
// required.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::test {

/// Whether a missing GPU is a failure: SFFT_REQUIRE_GPU=1 in the environment.
inline bool gpu_required() {
  const char* value = std::getenv("SFFT_REQUIRE_GPU");
  return value != nullptr && std::string(value) == "1";
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string problem = detail::cuda::unavailable();
    if (problem.empty()) return;
    if (gpu_required()) FAIL() << "a GPU is required: " << problem;
    GTEST_SKIP() << problem;
  }
};

/// Fills memory and waits: the streams of the library do not wait for the one that fills.
inline void fill_device(const detail::cuda::DeviceBuffer& buffer, int byte) {
  EXPECT_EQ(cudaMemset(buffer.data(), byte, buffer.bytes()), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

/// An array in device memory.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(std::size_t count) : count_(count), buffer_(count * sizeof(T)) {
    // These bits are a NaN in every floating-point type.
    fill_device(buffer_, 0xff);
  }
  explicit OnDevice(const std::vector<T>& values)
      : count_(values.size()), buffer_(detail::cuda::upload(values)) {}
  T* get() const { return buffer_.template as<T>(); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    EXPECT_EQ(cudaMemcpy(values.data(), get(), count_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  std::size_t count_;
  detail::cuda::DeviceBuffer buffer_;
};

}  // namespace sfft::test
