// SPDX-License-Identifier: Apache-2.0
// Tests that luma planes in a GPU's memory become frames as on the CPU, bit for bit, and that plans read them
// where they are.
#include "sfft/plan/device_pictures.hpp"

#include <random>
#include <vector>

#include "bench/known_signals.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/luma_range.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::device_pictures_cuda_test {
namespace {

class DevicePicturesCuda : public test::GpuTest {};

template <class Sample>
void expect_stored(DevicePlane plane) {
  constexpr auto kSample = static_cast<std::int64_t>(sizeof(Sample));
  const std::int64_t pitch = plane.pitch_bytes / kSample;
  std::mt19937 random(static_cast<unsigned>(plane.width));
  std::vector<Sample> rows(static_cast<std::size_t>(pitch * plane.height));
  for (Sample& sample : rows) sample = static_cast<Sample>(random());
  const detail::cuda::DeviceBuffer there = detail::cuda::upload(rows);
  plane.data = there.data();
  const std::size_t bytes = static_cast<std::size_t>(plane.width * plane.height * kSample);
  const DevicePictures pictures(2 * bytes + 64);
  std::fill_n(pictures.data(), pictures.bytes(), std::byte{7});
  pictures.store(plane, bytes);
  const auto* const stored = reinterpret_cast<const Sample*>(pictures.data() + bytes);
  for (std::int64_t y = 0; y < plane.height; ++y) {
    for (std::int64_t x = 0; x < plane.width; ++x) {
      Sample expected = rows[static_cast<std::size_t>(y * pitch + x)];
      if constexpr (sizeof(Sample) == 2) {
        expected = static_cast<Sample>((expected >> plane.shift) & ((1 << plane.bits) - 1));
        if (plane.limited_range) expected = detail::FullRange(plane.bits)(expected);
      } else if (plane.limited_range) {
        expected = detail::full_range(expected);
      }
      ASSERT_EQ(stored[y * plane.width + x], expected) << x << ", " << y;
    }
  }
  for (const std::size_t outside : {bytes - 1, 2 * bytes}) EXPECT_EQ(pictures.data()[outside], std::byte{7});
}

TEST_F(DevicePicturesCuda, HoldPlanesAsTheCpuReadsThem) {
  for (const bool limited : {false, true}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {257, 3}, {768, 432}, {1920, 1080}, {3, 2000}}) {
      DevicePlane plane;
      plane.width = width;
      plane.height = height;
      plane.limited_range = limited;
      plane.pitch_bytes = (width + 511) / 512 * 512;
      expect_stored<std::uint8_t>(plane);
      plane.pitch_bytes *= 2;
      plane.bits = 10;
      plane.shift = 6;
      expect_stored<std::uint16_t>(plane);
      plane.bits = 16;
      plane.shift = 0;
      expect_stored<std::uint16_t>(plane);
    }
  }
}

TEST_F(DevicePicturesCuda, RefuseWhatDoesNotFit) {
  const DevicePictures pictures(100);
  const detail::cuda::DeviceBuffer there(4096);
  DevicePlane plane;
  plane.data = there.data();
  plane.width = 10;
  plane.height = 10;
  plane.pitch_bytes = 16;
  pictures.store(plane, 0);
  const auto refused = [&](const DevicePlane& bad, std::size_t offset) {
    EXPECT_EQ(test::code_of([&] { pictures.store(bad, offset); }), ErrorCode::invalid_argument);
  };
  refused(plane, 1);
  DevicePlane bad = plane;
  bad.height = 11;
  refused(bad, 0);
  bad = plane;
  bad.pitch_bytes = 9;
  refused(bad, 0);
  bad = plane;
  bad.data = nullptr;
  refused(bad, 0);
  bad = plane;
  bad.bits = 12;
  bad.shift = 6;
  refused(bad, 0);
  EXPECT_EQ(test::code_of([] { DevicePictures(16, 99); }), ErrorCode::backend_unavailable);
}

TEST_F(DevicePicturesCuda, PlansTakeTheFramesWhereTheyAre) {
  constexpr std::int64_t kRows = 120, kColumns = 160;
  const Shape shape{kRows, kColumns};
  constexpr std::size_t kBytes = kRows * kColumns;
  constexpr int kFrames = 12;
  const DevicePictures pictures(kFrames * kBytes);
  std::vector<std::vector<std::uint8_t>> film;
  std::vector<SignalView> here, there;
  for (int t = 0; t < kFrames; ++t) {
    const auto frame = test::film_frame(kRows, kColumns, t, 1);
    film.emplace_back(frame.begin(), frame.end());
    const detail::cuda::DeviceBuffer plane = detail::cuda::upload(film.back());
    pictures.store({.data = plane.data(), .width = kColumns, .height = kRows, .pitch_bytes = kColumns},
                   static_cast<std::size_t>(t) * kBytes);
  }
  for (int t = 0; t < kFrames; ++t) {
    here.emplace_back(film[static_cast<std::size_t>(t)], shape);
    there.emplace_back(pictures.data() + static_cast<std::size_t>(t) * kBytes, kBytes, ElementType::u8,
                       shape);
  }
  for (const bool reference : {false, true}) {
    const Template tmpl = learn(here[0], {.keep = Largest{100}, .reference = reference});
    for (const Path path : {Path::comb, Path::dense}) {
      TrackerOptions options;
      options.plan.device = Device::gpu();
      options.plan.path = path;
      options.plan.batch = 8;
      Tracker<float> from_host(tmpl, options), from_pictures(tmpl, options);
      const auto expected = from_host.push(here);
      const auto found = from_pictures.push(there);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].action, expected[i].action);
        EXPECT_LE(test::relative_l2(found[i].spectrum.values, expected[i].spectrum.values),
                  test::plan_bound<float>(shape));
        if (path == Path::comb && found[i].action == TrackedFrame::Action::sparse) {
          EXPECT_EQ(found[i].spectrum.transferred_bytes, 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sfft::device_pictures_cuda_test
