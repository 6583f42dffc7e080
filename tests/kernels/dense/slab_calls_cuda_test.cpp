// SPDX-License-Identifier: Apache-2.0
// Tests what plans over several GPUs refuse, and that failed allocations leave nothing behind.
#include <gtest/gtest.h>

#include "kernels/dense/request/several/cuda_slabs.hpp"
#include "sfft/dense_slabs.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/slab_memory.hpp"

namespace sfft::test::slab_calls_cuda_test {
namespace {

using dense::Options;
using dense::Plan;
using dense::SlabPlan;

class SlabCallsCuda : public GpuTest {};

TEST_F(SlabCallsCuda, RefusesWhatItCannotDo) {
  const int absent = detail::cuda::device_count();
  const auto plan_code = [](const Shape& shape, const Options& options) {
    return code_of([&] { SlabPlan<float>(shape, Domain::complex, options); });
  };
  EXPECT_EQ(plan_code({8, 8}, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan_code({8, 8}, {.device = Device::gpus({0, absent})}), ErrorCode::backend_unavailable);
  EXPECT_EQ(plan_code({8, 8}, {.device = Device::gpus({0, -1})}), ErrorCode::invalid_argument);
  EXPECT_EQ(plan_code(Shape{64}, {.device = Device::gpus(kTwo)}), ErrorCode::backend_unavailable);
  EXPECT_EQ(plan_code({8, 8}, {.engine = dense::Engine::built_in, .device = Device::gpus(kTwo)}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(plan_code({8, 8}, {.device = Device::gpus(kTwo), .device_memory = 1000}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(plan_code({8, 8}, {.device = Device::gpus(kTwo), .signal_strides = {{16, 2, 0}, 0}}),
            ErrorCode::backend_unavailable);
  EXPECT_EQ(plan_code({1 << 16, 1 << 12, 1 << 10}, {.device = Device::gpus(kTwo)}), ErrorCode::out_of_memory);
  // Some extents are smaller than the list of devices.
  const SlabPlan<float> narrow(Shape{3, 50}, Domain::complex, {.device = Device::gpus(kFour)});
  EXPECT_EQ(narrow.signal_slabs().size(), 3u);
  EXPECT_NE(narrow.explain().find("3 of 4 devices"), std::string::npos) << narrow.explain();
  EXPECT_NE(narrow.explain().find("share 1 GPU"), std::string::npos) << narrow.explain();
  const std::vector<sfft::Workspace> made = narrow.make_workspaces();
  ASSERT_EQ(made.size(), 3u);
  for (std::size_t s = 0; s < made.size(); ++s)
    EXPECT_EQ(made[s].device_bytes(), narrow.device_workspace_bytes(s));
  // Calls.
  SlabMemory<float, std::complex<float>> memory(
      narrow.signal_slabs(), narrow.spectrum_slabs(),
      [&](std::size_t s) { return narrow.device_workspace_bytes(s); });
  const auto inputs = memory.inputs();
  const auto forward = [&](std::span<const void* const> signals, ElementType type,
                           std::span<const std::span<std::byte>> workspaces) {
    return code_of(
        [&] { narrow.enqueue_forward(signals, type, memory.spectra(), workspaces, memory.streams()); });
  };
  EXPECT_EQ(forward(std::span(inputs).first(2), ElementType::c64, memory.workspaces()),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(forward(inputs, static_cast<ElementType>(99), memory.workspaces()), ErrorCode::invalid_argument);
  const std::vector<std::span<std::byte>> none(3);
  EXPECT_EQ(forward(inputs, ElementType::c64, none), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { static_cast<void>(narrow.device_workspace_bytes(3)); }),
            ErrorCode::invalid_argument);
  const auto spectra = memory.spectra();
  const std::vector<const void*> same(spectra.begin(), spectra.end());
  EXPECT_EQ(forward(same, ElementType::c64, memory.workspaces()), ErrorCode::invalid_argument);
  std::vector<const void*> off(inputs.begin(), inputs.end());
  off.back() = static_cast<const std::byte*>(off.back()) + 4;
  EXPECT_EQ(forward(off, ElementType::c64, memory.workspaces()), ErrorCode::invalid_argument);
  const Plan<float> host(Shape{8, 8}, Domain::complex, {.device = Device::gpus(kTwo)});
  EXPECT_EQ(code_of([&] { host.enqueue_inverse(memory.spectra()[0], memory.signals()[0], {}, nullptr); }),
            ErrorCode::backend_unavailable);
}

TEST_F(SlabCallsCuda, PlanningSurvivesEveryAllocationFailure) {
  const std::int64_t before = detail::cuda::allocated_bytes();
  for (int n = 1; n <= 12; ++n) {
    detail::cuda::fail_allocation(n);
    const auto code = code_of([&] {
      const detail::DenseRequest request =
          detail::make_request({24, 32}, true,
                               {.planning = dense::Options::Planning::estimate,  // others go on
                                .device = Device::gpus(kThree)});
      const detail::CudaSlabs<float> slabs(request, detail::choose_devices<float>(request), {.staged = true});
    });
    if (detail::cuda::fail_allocation(0) == 0) {
      EXPECT_EQ(code, ErrorCode::out_of_memory);
    } else {
      EXPECT_EQ(code, std::nullopt);
    }
    EXPECT_EQ(detail::cuda::allocated_bytes(), before);
  }
}

TEST_F(SlabCallsCuda, FailedAllocationsLeaveTheArraysAlone) {
  const Shape shape{24, 32};
  const auto signal = as_samples<std::complex<float>>(random_signal(768, 87));
  const std::int64_t before = detail::cuda::allocated_bytes();
  for (int n = 1; n <= 7; ++n) {
    const Plan<float> plan(shape, Domain::complex, {.device = Device::gpus(kTwo)});
    std::vector<std::complex<float>> result(768, 7);
    detail::cuda::fail_allocation(n);
    const auto code = code_of([&] { plan.forward(signal.data(), ElementType::c64, result); });
    if (detail::cuda::fail_allocation(0) == 0) {
      EXPECT_EQ(code, ErrorCode::out_of_memory);
      EXPECT_EQ(result, std::vector<std::complex<float>>(768, 7));
      plan.forward(signal.data(), ElementType::c64, result);
    }
    EXPECT_LE(relative_l2(result, expected_spectra(signal, shape, false)), 4 * fft_bound<float>(768));
  }
  EXPECT_EQ(detail::cuda::allocated_bytes(), before);
}

}  // namespace
}  // namespace sfft::test::slab_calls_cuda_test
