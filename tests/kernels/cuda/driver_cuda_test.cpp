// SPDX-License-Identifier: Apache-2.0
// Tests compilation at run time, which needs NVRTC but no GPU, and its message when something is missing.
#include "kernels/cuda/runtime/driver.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "sfft/error.hpp"

namespace sfft::detail::cuda::driver_cuda_test {
namespace {

/// Returns the message of the error, and expects this code.
std::string message_of(const std::string& source, const std::string& architecture,
                       ErrorCode code = ErrorCode::backend_unavailable) {
  try {
    compile(source, {}, {}, architecture);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "it compiled";
  return "";
}

class NvrtcTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_nvrtc().why_missing.empty()) GTEST_SKIP() << find_nvrtc().why_missing;
  }
};

TEST_F(NvrtcTest, CompilesWithHeadersAndOptions) {
  const SourceHeader header{"twice.hpp", "__device__ inline float twice(float x) { return kFactor * x; }"};
  const std::string options[] = {"--std=c++17", "-DkFactor=2"};
  const std::vector<char> image =
      compile("#include \"twice.hpp\"\nextern \"C\" __global__ void run(float* x) { *x = twice(*x); }",
              {&header, 1}, options, "sm_90");
  ASSERT_GT(image.size(), 4u);
  EXPECT_EQ(std::memcmp(image.data(), "\177ELF", 4), 0);
}

TEST_F(NvrtcTest, ErrorsShowTheLog) {
  EXPECT_NE(message_of("__global__ void run() { undeclared = 1; }", "sm_90").find("undeclared"),
            std::string::npos);
  EXPECT_NE(message_of("", "sm_10").find("sm_10"), std::string::npos);
  EXPECT_NE(message_of("", "compute_90", ErrorCode::invalid_argument).find("virtual"), std::string::npos);
}

/// Runs in a separate process, because NVRTC is looked for only once.
void compile_without_nvrtc() {
  setenv("SFFT_NVRTC", "/nonexistent/libnvrtc.so", 1);
  const std::string message = message_of("", "sm_90");
  std::exit(message.find("/nonexistent/libnvrtc.so") != std::string::npos &&
                    message.find("SFFT_NVRTC") != std::string::npos
                ? 0
                : 1);
}

TEST(NvrtcMissing, IsAnErrorThatNamesTheFile) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(compile_without_nvrtc(), testing::ExitedWithCode(0), "");
}

TEST(DriverTest, IsThereOrSaysWhy) {
  const Driver& api = find_driver();
  EXPECT_EQ(api.why_missing.empty(), api.cuModuleLoadData != nullptr && api.cuLaunchKernelEx != nullptr);
  if (!api.why_missing.empty()) {
    EXPECT_THROW(driver(), Error);
  }
}

}  // namespace
}  // namespace sfft::detail::cuda::driver_cuda_test
