// SPDX-License-Identifier: Apache-2.0
// Tests folded lines of the engine tensor on a GPU: every length against double, and bits against the
// emulation if sums are exact. Covers many lines, in-place calls, unaligned arrays, scales, and special
// values.
#include <random>

#include "kernels/cuda/tensor/tensor_transform.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/folded_emulation.hpp"
#include "tests/support/tensor_checks.hpp"

namespace sfft::test::tensor_folded_cuda_test {
namespace {

using dense::Engine;

class TensorFoldedCuda : public GpuTest {};

dense::Options options(Engine engine, std::size_t batch) {
  return {.engine = engine,
          .normalization = dense::Options::Normalization::none,
          .device = Device::gpu(),
          .batch = static_cast<std::int64_t>(batch)};
}
dense::Plan<float> folded_plan(int points, std::size_t batch) {
  return dense::Plan<float>(Shape{points}, Domain::complex, options(Engine::tensor, batch));
}

TEST_F(TensorFoldedCuda, EveryLengthAgainstDouble) {
  for (int points = tensor::kMinFolded; points <= tensor::kMaxFolded; ++points) {
    if (!tensor::is_folded(points)) continue;
    const Values x = uniform_noise(static_cast<std::size_t>(37 * points), static_cast<unsigned>(points));
    EXPECT_LE(relative_l2(forward_on_device(folded_plan(points, 37), x), exact_spectra(x, Shape{points})),
              kTensorBound)
        << points;
  }
}

/// For an impulse every sum has one non-zero addend.
TEST_F(TensorFoldedCuda, ImpulsesHaveTheBitsOfTheEmulation) {
  for (const int points : {47, 59, 83, 107, 149, 163, 191, 223, 227}) {
    constexpr std::size_t kLines = 100;
    const auto n = static_cast<std::size_t>(points);
    Values x(kLines * n);
    std::mt19937 random(7);
    for (std::size_t line = 0; line < kLines; ++line)
      x[line * n + random() % n] = {static_cast<float>(random() % 2000) - 1000, 1};
    EXPECT_TRUE(same_bits(forward_on_device(folded_plan(points, kLines), x), emulated_folded_fft(x, points)))
        << points;
  }
}

/// Blocks process several tiles, and the last tile is not full.
TEST_F(TensorFoldedCuda, ManyLines) {
  for (const int points : {47, 83, 107, 149, 191, 223, 227}) {
    const std::size_t lines = 1 + (std::size_t{1} << 20) / static_cast<std::size_t>(points);
    const Values x = uniform_noise(lines * static_cast<std::size_t>(points), 3);
    EXPECT_LE(relative_l2(forward_on_device(folded_plan(points, lines), x), exact_spectra(x, Shape{points})),
              kTensorBound)
        << points;
  }
}

TEST_F(TensorFoldedCuda, InversesAndNormalization) {
  for (const int points : {47, 61, 131, 211}) {
    dense::Options asked = options(Engine::tensor, 20);
    asked.normalization = dense::Options::Normalization::unitary;
    const dense::Plan<float> plan(Shape{points}, Domain::complex, asked);
    const Values x = uniform_noise(static_cast<std::size_t>(20 * points), 3),
                 there = forward_on_device(plan, x);
    EXPECT_LE(relative_l2(inverse_on_device<std::complex<float>, float>(plan, there, Values(x.size())), x),
              2 * kTensorBound)
        << points;
  }
}

TEST_F(TensorFoldedCuda, InPlaceAndUnaligned) {
  for (const int points : {53, 101, 149, 167, 223}) {
    const std::size_t lines = 10001;
    const Values x = uniform_noise(lines * static_cast<std::size_t>(points), 8);
    const dense::Plan<float> plan = folded_plan(points, lines);
    const Values expected = forward_on_device(plan, x);
    Values shifted(1);
    shifted.insert(shifted.end(), x.begin(), x.end());
    const OnDevice<std::complex<float>> memory(shifted);
    const Workspace workspace(plan.device_workspace_bytes());
    plan.enqueue_forward(memory.get() + 1, ElementType::c64, memory.get() + 1, workspace.get(), nullptr);
    const Values got = memory.read();
    EXPECT_EQ(got[0], shifted[0]);
    EXPECT_TRUE(same_bits(Values(got.begin() + 1, got.end()), expected)) << points;
  }
}

TEST_F(TensorFoldedCuda, EveryLineHasItsScale) {
  for (const int points : {59, 107, 223}) {
    expect_scales_of_lines(points, [&](const Values& x) {
      return forward_on_device(folded_plan(points, x.size() / static_cast<std::size_t>(points)), x);
    });
  }
}

TEST_F(TensorFoldedCuda, NanAndInfinityStayInTheirLine) {
  expect_others_without_trouble(
      47, [](const Values& x) { return forward_on_device(folded_plan(47, x.size() / 47), x); });
}

}  // namespace
}  // namespace sfft::test::tensor_folded_cuda_test
