// SPDX-License-Identifier: Apache-2.0
// Tests plans that compare a few kernels: their results, what they leave to later plans and processes, and
// what they do when something is missing.
#include <gtest/gtest.h>

#include <chrono>
#include <complex>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "kernels/dense/problem/problem.hpp"
#include "kernels/runtime/user_cache.hpp"
#include "sfft/dense.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"

namespace sfft::test::dense_quick_cuda_test {
namespace {

using dense::Engine;
using dense::Options;
using dense::Plan;

class DenseQuickCuda : public GpuTest {
 protected:
  DenseQuickCuda() : before_(detail::UserCache::global()->folder()) {
    folder_ = (std::filesystem::temp_directory_path() / "sfft-quick-XXXXXX").string();
    mkdtemp(folder_.data());
    dense::set_cache_folder(folder_);
    dense::forget_wisdom();
  }
  ~DenseQuickCuda() override {
    dense::set_cache_folder(before_);
    dense::forget_wisdom();
    std::filesystem::remove_all(folder_);
  }
  std::ptrdiff_t files(const char* kind) const {
    const std::filesystem::path folder = std::filesystem::path(folder_) / kind;
    return std::filesystem::exists(folder) ? std::distance(std::filesystem::directory_iterator(folder), {})
                                           : 0;
  }

  std::string before_, folder_;
};

template <class Real>
void expect_right(const Shape& shape, bool real, const Options& options) {
  const Plan<Real> plan(shape, real ? Domain::real : Domain::complex, options);
  SCOPED_TRACE(shape.to_string() + ", " + plan.engine_name() + ", " + plan.reason());
  const auto values = random_signal(static_cast<std::size_t>(plan.signal_points()), 5);
  const double bound = gpu_bound<Real>(plan.engine(), static_cast<double>(shape.points()));
  if (real) {
    const auto x = as_samples<Real>(values);
    EXPECT_LE(relative_l2(forward_on_device(plan, x), expected_spectra(x, shape, true)), bound);
  } else {
    const auto x = as_samples<std::complex<Real>>(values);
    EXPECT_LE(relative_l2(forward_on_device(plan, x), expected_spectra(x, shape, false)), bound);
  }
}

TEST_F(DenseQuickCuda, ResultsAreRight) {
  std::mt19937_64 random(11);
  const auto length = [&](std::int64_t max) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max));
  };
  for (int i = 0; i < 9; ++i) {
    const Shape shape = i % 3 == 0   ? Shape(length(20000))
                        : i % 3 == 1 ? Shape({length(150), length(150)})
                                     : Shape({length(24), length(24), length(24)});
    const Options options{.device = Device::gpu(), .batch = length(9)};
    if (i % 3 < 2) {
      expect_right<float>(shape, i % 2 == 0, options);
    } else {
      expect_right<double>(shape, i % 2 == 0, options);
    }
  }
}

TEST_F(DenseQuickCuda, LaterPlansAndProcessesKnowTheResult) {
  const Shape shape({48, 60});
  const Options options{.device = Device::gpu(), .batch = 7};
  const Plan<float> first(shape, Domain::complex, options);
  EXPECT_EQ(first.reason().find("measured: cufft "), 0u) << first.reason();
  EXPECT_NE(first.reason().find("tuned "), std::string::npos) << first.reason();
  EXPECT_EQ(files("wisdom"), 1);
  EXPECT_GT(files("kernels"), 1);
  const Plan<float> second(shape, Domain::complex, options);
  EXPECT_EQ(second.engine_name(), first.engine_name());
  EXPECT_EQ(second.reason().find("wisdom: fastest in a quick comparison"), 0u) << second.reason();
  dense::forget_wisdom();  // as another process
  const auto kernels = files("kernels");
  const Plan<float> third(shape, Domain::complex, options);
  EXPECT_EQ(third.engine_name(), first.engine_name());
  EXPECT_EQ(third.reason().find("wisdom: fastest in a quick comparison"), 0u) << third.reason();
  EXPECT_EQ(files("kernels"), kernels) << "nothing was compiled";
  Options measuring = options;
  measuring.planning = Options::Planning::measure;
  EXPECT_EQ(Plan<float>(shape, Domain::complex, measuring).reason().find("measured: "), 0u)
      << "a comparison does not replace a search";
  dense::forget_wisdom();
  EXPECT_EQ(Plan<float>(shape, Domain::complex, options).reason().find("wisdom: fastest when measured"), 0u);
}

TEST_F(DenseQuickCuda, EstimatesTimeNothing) {
  const Plan<float> plan(Shape(77), Domain::complex,
                         {.planning = Options::Planning::estimate, .device = Device::gpu()});
  EXPECT_EQ(plan.engine(), Engine::cufft);
  EXPECT_EQ(plan.reason().find("no wisdom"), 0u) << plan.reason();
  EXPECT_EQ(files("wisdom"), 0);
}

TEST_F(DenseQuickCuda, WorksWithoutACache) {
  dense::set_cache_folder("");
  expect_right<float>(Shape(360), false, {.device = Device::gpu(), .batch = 50});
  dense::set_cache_folder("/proc/nothing");
  expect_right<float>(Shape(361), true, {.device = Device::gpu(), .batch = 50});
  EXPECT_EQ(files("wisdom"), 0);
}

TEST_F(DenseQuickCuda, FailedAllocationsLeadToCufft) {
  const std::int64_t before = detail::cuda::allocated_bytes();
  for (int n = 1; n <= 6; ++n) {
    dense::forget_wisdom();
    detail::cuda::fail_allocation(n);
    expect_right<float>(Shape(300), n % 2 == 0, {.device = Device::gpu(), .batch = 4});
    detail::cuda::fail_allocation(0);
    EXPECT_EQ(detail::cuda::allocated_bytes(), before);
  }
}

TEST_F(DenseQuickCuda, DamagedFilesAreMadeAgain) {
  const Options options{.device = Device::gpu(), .batch = 3};
  expect_right<float>(Shape({20, 30}), true, options);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    if (entry.is_regular_file()) std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  }
  dense::forget_wisdom();
  expect_right<float>(Shape({20, 30}), true, options);
}

TEST_F(DenseQuickCuda, LeavesCapturesOfOtherThreadsIntact) {
  // A capture of the relaxed or thread-local kind does not mind what other threads do.
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 1 << 20), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(memory, 1, 1 << 20, stream), cudaSuccess);
  std::thread([] { Plan<float>(Shape(210), Domain::complex, {.device = Device::gpu(), .batch = 5}); }).join();
  EXPECT_EQ(cudaMemsetAsync(memory, 2, 1 << 20, stream), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  cudaFree(memory);
  cudaStreamDestroy(stream);
}

}  // namespace
}  // namespace sfft::test::dense_quick_cuda_test
