// SPDX-License-Identifier: Apache-2.0
// Tests sparse plans that share frames among several GPUs, on one GPU that is named several times. The
// results equal those of a plan on one GPU bit for bit.
#include <gtest/gtest.h>

#include <limits>

#include "bench/known_signals.hpp"
#include "kernels/cuda/runtime/peers.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::plan_devices_cuda_test {
namespace {

class PlanDevicesCuda : public GpuTest {};

const Shape kShape{240, 320};

/// Lists with one GPU, and with two if the build and the machine support them.
std::vector<std::vector<int>> lists_of_three() {
  std::vector<std::vector<int>> lists{{0, 0, 0}};
  const std::vector<int> different{0, 1, 0};
  if (!code_of([&] { detail::cuda::check_several(different); })) lists.push_back(different);
  return lists;
}

std::vector<std::vector<std::uint8_t>> film(int frames) {
  std::vector<std::vector<std::uint8_t>> all;
  for (int t = 0; t < frames; ++t) all.push_back(film_frame(240, 320, t));
  return all;
}

std::vector<SignalView> views_of(const std::vector<std::vector<std::uint8_t>>& frames) {
  std::vector<SignalView> views;
  for (const auto& frame : frames) views.emplace_back(frame, kShape);
  return views;
}

TEST_F(PlanDevicesCuda, SharedFramesHaveTheSameBits) {
  const auto frames = film(23);
  const auto views = views_of(frames);
  const Template tmpl = learn(views[0], {.keep = Largest{150}, .reference = true});
  for (const Path path : {Path::comb, Path::flat_window, Path::dense}) {
    for (const auto& devices : lists_of_three()) {
      const int threads = path == Path::comb ? 4 : 1;
      const Plan<float> one(tmpl, {.device = Device::gpu(), .batch = 8, .path = path, .threads = threads});
      const Plan<float> shared(
          tmpl, {.device = Device::gpus(devices), .batch = 24, .path = path, .threads = threads});
      EXPECT_NE(shared.info().engine.find("share the frames"), std::string::npos) << shared.info().engine;
      EXPECT_EQ(shared.info().backend, Backend::cuda);
      auto workspace = one.make_workspace(), several = shared.make_workspace();
      for (const std::size_t count : {23, 1, 2, 5}) {
        std::vector<Spectrum<float>> expected(count), got(count);
        one.execute(std::span(views).first(count), expected, workspace);
        shared.execute(std::span(views).first(count), got, several);
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(got[i].values, expected[i].values) << to_string(path) << ", frame " << i;
          EXPECT_EQ(got[i].quality.error_l2, expected[i].quality.error_l2)
              << to_string(path) << ", frame " << i;
        }
      }
      if (path == Path::dense) continue;
      const auto renewed = shared.with_reference(views[9], tmpl.values());
      EXPECT_EQ(renewed.execute(views[3]).values,
                one.with_reference(views[9], tmpl.values()).execute(views[3]).values);
    }
  }
}

TEST_F(PlanDevicesCuda, ExactSignalsAreExactOnAllOfThem) {
  const Shape shape{4096};
  const auto signal = SparseSignal::random(shape, false, 40, 5);
  const auto good = signal.as<std::complex<float>>();
  const std::vector<std::complex<float>> bad(good.size(), {std::numeric_limits<float>::quiet_NaN(), 0});
  const Plan<float> plan(Template::from_support(shape, Domain::complex, signal.support),
                         {.device = Device::gpus({0, 0}), .batch = 4});
  const std::vector<SignalView> frames{SignalView::line(good), SignalView::line(bad), SignalView::line(good),
                                       SignalView::line(good)};
  std::vector<Spectrum<float>> spectra(4);
  auto workspace = plan.make_workspace();
  plan.execute(frames, spectra, workspace);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(spectra[i].quality.finite, i != 1);
    if (i != 1) {
      EXPECT_LE(relative_l2(spectra[i].values, signal.values), plan_bound<float>(shape));
    }
  }
}

TEST_F(PlanDevicesCuda, TrackersDecideAlike) {
  std::vector<std::vector<std::uint8_t>> frames;
  for (int t = 0; t < 48; ++t) frames.push_back(film_frame(240, 320, t, t < 30 ? 1 : 2));
  const auto views = views_of(frames);
  const Template tmpl = learn(views[0], {.keep = Largest{150}, .reference = true});
  TrackerOptions alone, shared;
  alone.plan.device = Device::gpu();
  alone.plan.batch = 8;
  shared.plan.device = Device::gpus({0, 0});
  shared.plan.batch = 16;
  Tracker<float> first(tmpl, alone), second(tmpl, shared);
  for (std::size_t at = 0; at < views.size(); at += 16) {
    const auto expected = first.push(std::span(views).subspan(at, 16));
    const auto got = second.push(std::span(views).subspan(at, 16));
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].action, expected[i].action) << at + i;
      EXPECT_EQ(got[i].spectrum.values, expected[i].spectrum.values) << at + i;
    }
  }
  EXPECT_GE(second.relearned(), 1);
}

TEST_F(PlanDevicesCuda, RefusesDevicesThatAreNotThere) {
  const Template tmpl =
      Template::from_support(Shape{4096}, Domain::complex, std::vector<std::int64_t>{3, 77});
  EXPECT_EQ(code_of([&] {
              Plan<float>(tmpl, {.device = Device::gpus({0, detail::cuda::device_count()})});
            }),
            ErrorCode::backend_unavailable);
  EXPECT_EQ(code_of([&] { Plan<float>(tmpl, {.device = Device::gpus({-1})}); }),
            ErrorCode::backend_unavailable);
  EXPECT_EQ(code_of([&] { Plan<float>(tmpl, {.device = Device::gpus({})}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(Plan<float>(tmpl, {.device = Device::gpus({0})}).options().device, Device::gpu(0));
}

}  // namespace
}  // namespace sfft::test::plan_devices_cuda_test
