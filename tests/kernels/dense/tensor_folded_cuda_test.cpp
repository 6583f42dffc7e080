// SPDX-License-Identifier: Apache-2.0
// Tests folded lines of the engine tensor on a GPU: every length against double, bits against the emulation
// where sums are exact, many lines, in place, unaligned, scales, special values.
#include <bit>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/cuda/tensor/folded_fft.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/folded_emulation.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test {
namespace {

using dense::Engine;
using Values = std::vector<std::complex<float>>;
using Exact = std::vector<std::complex<double>>;

class TensorFoldedCuda : public GpuTest {};

dense::Options options(Engine engine, std::size_t batch) {
  return {.engine = engine,
          .normalization = dense::Normalization::none,
          .backend = Backend::cuda,
          .batch = static_cast<std::int64_t>(batch)};
}
dense::Plan<float> folded_plan(int points, std::size_t batch) {
  return dense::Plan<float>(Shape{points}, false, options(Engine::tensor, batch));
}
Exact exact_spectra(const Values& signals, int points) {
  dense::Options host = options(Engine::built_in, signals.size() / static_cast<std::size_t>(points));
  host.backend = Backend::cpu;
  const dense::Plan<double> plan(Shape{points}, false, host);
  Exact in(signals.begin(), signals.end()), out(in.size());
  plan.forward(in.data(), ElementType::c128, out);
  return out;
}
bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}

TEST_F(TensorFoldedCuda, EveryLengthAgainstDouble) {
  for (int points = tensor::kLeastFolded; points <= tensor::kMostFolded; ++points) {
    if (std::has_single_bit(static_cast<unsigned>(points))) continue;
    const Values x = uniform_noise(static_cast<std::size_t>(37 * points), static_cast<unsigned>(points));
    EXPECT_LE(relative_l2(forward_on_device(folded_plan(points, 37), x), exact_spectra(x, points)),
              kTensorBound)
        << points;
  }
}

/// Of an impulse every sum has one addend besides zeros.
TEST_F(TensorFoldedCuda, ImpulsesHaveTheBitsOfTheEmulation) {
  for (const int points : {3, 31, 33, 60, 95, 127, 150, 191, 223, 254, 255}) {
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

/// Blocks that do several tiles, and the last tile not full.
TEST_F(TensorFoldedCuda, ManyLines) {
  for (const int points : {5, 31, 47, 83, 107, 127, 149, 191, 223, 251}) {
    const std::size_t lines = 1 + (std::size_t{1} << 20) / static_cast<std::size_t>(points);
    const Values x = uniform_noise(lines * static_cast<std::size_t>(points), 3);
    EXPECT_LE(relative_l2(forward_on_device(folded_plan(points, lines), x), exact_spectra(x, points)),
              kTensorBound)
        << points;
  }
}

TEST_F(TensorFoldedCuda, InversesAndNormalization) {
  for (const int points : {3, 24, 61, 130, 250}) {
    dense::Options asked = options(Engine::tensor, 20);
    asked.normalization = dense::Normalization::unitary;
    const dense::Plan<float> plan(Shape{points}, false, asked);
    const Values x = uniform_noise(static_cast<std::size_t>(20 * points), 3),
                 there = forward_on_device(plan, x);
    EXPECT_LE(relative_l2(inverse_on_device<std::complex<float>, float>(plan, there, Values(x.size())), x),
              2 * kTensorBound)
        << points;
  }
}

TEST_F(TensorFoldedCuda, InPlaceAndUnaligned) {
  for (const int points : {7, 63, 100, 167, 254}) {
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
  for (const int points : {17, 100, 251}) {
    const std::vector<float> scales = {1e-30f, 1e30f, 0.0f, 1.0f, 1e-37f, 3e33f};
    const auto n = static_cast<std::size_t>(points);
    Values all;
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const Values one = uniform_noise(n, static_cast<unsigned>(i), scales[i]);
      all.insert(all.end(), one.begin(), one.end());
    }
    const Values got = forward_on_device(folded_plan(points, scales.size()), all);
    const Exact expected = exact_spectra(all, points);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const auto first = static_cast<std::ptrdiff_t>(i * n), last = first + points;
      EXPECT_LE(relative_l2(Values(got.begin() + first, got.begin() + last),
                            Exact(expected.begin() + first, expected.begin() + last)),
                kTensorBound)
          << points << " line " << i;
    }
  }
}

TEST_F(TensorFoldedCuda, NanAndInfinityStayInTheirLine) {
  constexpr int kPoints = 37;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Values x = uniform_noise(3 * kPoints, 9);
    x[kPoints + 5] = {0.5f, bad};
    const Values got = forward_on_device(folded_plan(kPoints, 3), x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool finite = std::isfinite(got[i].real()) && std::isfinite(got[i].imag());
      ASSERT_EQ(finite, i < kPoints || i >= 2 * kPoints) << i;
    }
  }
}

}  // namespace
}  // namespace sfft::test
