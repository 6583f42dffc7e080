// What tests that need a GPU do where there is none.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kernels/cuda/runtime.hpp"

namespace sfft::test {

inline bool gpu_required() {
  const char* value = std::getenv("SFFT_REQUIRE_GPU");
  return value != nullptr && std::string(value) == "1";
}

/// A fixture whose tests skip, with the reason, where no GPU is usable; with SFFT_REQUIRE_GPU=1 they fail.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string problem = detail::cuda::unavailable();
    if (problem.empty()) return;
    if (gpu_required()) FAIL() << "SFFT_REQUIRE_GPU is set: " << problem;
    GTEST_SKIP() << problem;
  }
};

}  // namespace sfft::test
