// SPDX-License-Identifier: Apache-2.0
// Compares the planner's predictions for transforms in slabs with times computed by hand from bytes, and
// tests which lists of devices requests accept.
#include "kernels/dense/slabs/slab_model.hpp"

#include <gtest/gtest.h>

#include "kernels/dense/request/request.hpp"
#include "sfft/dense_compact.hpp"
#include "sfft/dense_selective.hpp"
#include "sfft/dense_slabs.hpp"
#include "tests/support/throws.hpp"

namespace sfft::test::slab_model_test {
namespace {

using detail::SlabChoice;
using detail::SlabLink;
using detail::SlabRates;
using detail::SlabTimes;

constexpr std::size_t kFloat = 8, kDouble = 16;
const Shape kCube{1024, 1024, 1024};

SlabTimes predict(const Shape& shape, int devices, SlabLink link) {
  return detail::predict_slabs(shape, false, kFloat, devices, {.link = link});
}

TEST(SlabModel, FollowsFromBytes) {
  // The array has 8.59 GB. A quarter is read and written in 1074 us, and three quarters of that quarter are
  // sent at 389 GB/s.
  const SlabTimes times = predict(kCube, 4, SlabLink::nvlink);
  EXPECT_NEAR(times.planes_us, 2 * 1073.7, 2);
  EXPECT_NEAR(times.columns_us, 1073.7, 1);
  EXPECT_NEAR(times.exchange_us, 4140.4, 2);
  const detail::SlabCuts cuts = detail::slab_cuts(kCube, false, kFloat, 4);
  EXPECT_NEAR(times.total_us,
              10 + 30 + 2147.5 / cuts.chunks + 4140.4 + 1073.7 * (1 - cuts.first_part) / (cuts.parts - 1), 4);
  // Two devices: three passes of 2147 us; in addition, half of each slab is read for the link and as much is
  // written.
  EXPECT_NEAR(predict(kCube, 2, SlabLink::nvlink).total_us, 10 + 30 + 3 * 2147.5 + 1073.7, 4);
  EXPECT_NEAR(predict(kCube, 1, SlabLink::nvlink).total_us, 10 + 3 * 4295, 4);
}

TEST(SlabModel, SlowerLinksTakeLonger) {
  const double nvlink = predict(kCube, 4, SlabLink::nvlink).total_us;
  const double bus = predict(kCube, 4, SlabLink::bus).total_us;
  const double staged = predict(kCube, 4, SlabLink::staged).total_us;
  EXPECT_LT(predict(kCube, 4, SlabLink::memory).total_us, nvlink);
  EXPECT_LT(nvlink, bus);
  EXPECT_LT(bus, staged);
}

TEST(SlabModel, PackedValuesAreSentFasterAndPassThroughMemoryOnceMore) {
  SlabRates rates{.link = SlabLink::bus};
  const SlabTimes whole = detail::predict_slabs(kCube, false, kFloat, 2, rates);
  rates.sent_fraction = 0.5;
  const SlabTimes packed = detail::predict_slabs(kCube, false, kFloat, 2, rates);
  EXPECT_NEAR(packed.exchange_us, whole.exchange_us / 2, 1);
  EXPECT_LT(packed.total_us, 0.6 * whole.total_us);
  rates.link = SlabLink::nvlink;  // over NVLink, memory limits two devices
  EXPECT_GT(detail::predict_slabs(kCube, false, kFloat, 2, rates).total_us,
            predict(kCube, 2, SlabLink::nvlink).total_us);
}

TEST(SlabModel, RealAndDoubleCountTheirBytes) {
  const SlabRates rates;
  const double complex = detail::predict_slabs(kCube, false, kFloat, 2, rates).exchange_us;
  EXPECT_NEAR(detail::predict_slabs(kCube, true, kFloat, 2, rates).exchange_us, complex * 513 / 1024, 1);
  EXPECT_NEAR(detail::predict_slabs(kCube, false, kDouble, 2, rates).exchange_us, 2 * complex, 1);
}

/// Returns the choices for one to four devices.
std::vector<SlabChoice> choices(const Shape& shape, SlabLink link) {
  std::vector<SlabChoice> all;
  for (int devices = 1; devices <= 4; ++devices)
    all.push_back({devices, true, predict(shape, devices, link)});
  return all;
}

TEST(SlabModel, SmallTransformsStayOnOneDevice) {
  EXPECT_EQ(detail::fastest_choice(choices({64, 64, 64}, SlabLink::nvlink))->devices, 1);
  EXPECT_EQ(detail::fastest_choice(choices({1024, 1024, 1024}, SlabLink::nvlink))->devices, 4);
  EXPECT_EQ(detail::fastest_choice(choices({1024, 1024, 1024}, SlabLink::staged))->devices, 1);
}

/// A volume whose planes fit into a block takes two passes on one GPU, but three in slabs.
TEST(SlabModel, OneDeviceIsTakenWhereItIsKnownToBeFaster) {
  std::vector<SlabChoice> all = choices({256, 256, 256}, SlabLink::nvlink);
  all[0].times = detail::measured_alone(1);
  EXPECT_EQ(detail::fastest_choice(all)->devices, 1);
  all[0].times = detail::measured_alone(1e6);
  EXPECT_GT(detail::fastest_choice(all)->devices, 1);
}

TEST(SlabModel, GroupsOfPlanesFitTheCache) {
  const detail::PlaneGroups turns = detail::plane_groups(2 << 20, 32);
  EXPECT_GT(turns.planes, 1);
  EXPECT_LE(turns.planes * turns.streams * (2 << 20), 48 << 20);
  // A small chunk, or one with large planes, is a single group.
  for (const auto& [bytes, planes] : {std::pair<std::size_t, int>{2 << 20, 1}, {1 << 30, 32}, {8, 3}}) {
    EXPECT_EQ(detail::plane_groups(bytes, planes).planes, planes);
    EXPECT_EQ(detail::plane_groups(bytes, planes).streams, 1);
  }
}

TEST(SlabModel, MemoryMayAskForMore) {
  std::vector<SlabChoice> all = choices({1024, 1024, 1024}, SlabLink::staged);
  all[0].fits = all[1].fits = false;
  EXPECT_GE(detail::fastest_choice(all)->devices, 3);
  for (SlabChoice& choice : all) choice.fits = false;
  EXPECT_EQ(detail::fastest_choice(all), nullptr);
}

TEST(SlabModel, ChunksAreWorthALaunch) {
  EXPECT_EQ(detail::slab_cuts({64, 64, 64}, false, kFloat, 4).chunks, 1);
  EXPECT_EQ(detail::slab_cuts({64, 64, 64}, false, kFloat, 4).parts, 1);
  EXPECT_EQ(detail::slab_cuts(kCube, false, kFloat, 4).chunks, 16);
  EXPECT_GT(detail::slab_cuts(kCube, false, kFloat, 4).parts, 1);
  EXPECT_EQ(detail::slab_cuts({4, 1 << 14, 1 << 14}, false, kFloat, 4).chunks,
            1);  // one plane for each device
}

/// Computed by hand: signal, spectrum and workspace of the device with the largest slabs.
TEST(SlabModel, TheLargestSlabsNeedMemory) {
  EXPECT_EQ(detail::slab_memory_bytes({4, 6, 5}, false, 8, 2), 8 * (60 + 60 + 60));
  EXPECT_EQ(detail::slab_memory_bytes({5, 6, 4}, false, 8, 2), 8 * (3 * 24 + 3 * 20 + 3 * 24))
      << "three planes";
  // Half spectra of 6 samples have 4 values.
  EXPECT_EQ(detail::slab_memory_bytes({4, 8, 6}, true, 8, 2), 8 * (48 + 64 + 64 + 64));
  EXPECT_GT(detail::slab_memory_bytes({2, 64, 64}, false, 8, 2),
            detail::slab_memory_bytes({8, 64, 64}, false, 8, 16));
}

TEST(DeviceLists, OneDeviceIsThatDevice) {
  const detail::DenseRequest request = detail::make_request({8, 8}, false, {.device = Device::gpus({3})});
  EXPECT_FALSE(request.options.device.several());
  EXPECT_EQ(request.problem.device, 3);
  EXPECT_TRUE(detail::for_gpu(request.options));
}

TEST(DeviceLists, AreOfGpus) {
  const auto code = [](const dense::Options& options) {
    return code_of([&] { static_cast<void>(detail::make_request({8, 8}, false, options)); });
  };
  EXPECT_EQ(code({.device = Device::gpus({0, 1})}), std::nullopt);
  EXPECT_EQ(code({.device = Device::gpus({0, -1})}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.engine = dense::Engine::built_in, .device = Device::gpus({0, 1})}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code({.device = Device::gpus({0, 1}), .device_memory = 1000}), std::nullopt)
      << "an array goes through both";
  EXPECT_EQ(code({.device = Device::gpus({0, 1}), .host_share = 0.5}), std::nullopt);
}

TEST(DeviceLists, ExchangeFloatsOrBlocks) {
  for (const auto& [exchange, expected] : {std::pair(dense::Storage::f32, std::optional<ErrorCode>()),
                                           {dense::Storage::block16, {}},
                                           {dense::Storage::f16, ErrorCode::invalid_argument},
                                           {dense::Storage::bf16, ErrorCode::invalid_argument}}) {
    const dense::Options options{.device = Device::gpus({0, 1}), .exchange = exchange};
    EXPECT_EQ(code_of([&] { static_cast<void>(detail::make_request({8, 8}, false, options)); }), expected);
  }
}

TEST(DeviceLists, AreRefusedWherePlansRunOnOne) {
  const dense::Options options{.device = Device::gpus({0, 1})};
  EXPECT_EQ(code_of([&] { dense::CompactPlan(Shape{64}, Domain::complex, options); }),
            ErrorCode::backend_unavailable);
  EXPECT_EQ(code_of([&] { dense::SelectivePlan<float>::above(Shape{64}, Domain::complex, options); }),
            ErrorCode::backend_unavailable);
  EXPECT_EQ(code_of([&] {
              dense::SlabPlan<float>(Shape{8, 8}, Domain::complex, {});
            }),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sfft::test::slab_model_test
