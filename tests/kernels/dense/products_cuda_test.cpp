// SPDX-License-Identifier: Apache-2.0
// Tests lines of f16 that a GPU transforms as products on tensor cores: both directions against plans in
// double, non-finite values that spoil only their own lines, arrays aligned only to values, and the choice of
// products by the rules.
#include <cmath>
#include <limits>

#include "kernels/base/radix/radices.hpp"
#include "kernels/base/storage/half.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "tests/support/compact.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::products_cuda_test {
namespace {

using dense::Storage;
using detail::Direction;
using detail::F16;

class ProductsCuda : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && detail::cuda::device_info(0).major < 8)
      GTEST_SKIP() << "tensor cores before compute capability 8.0 lack the product";
  }
};

struct Lines {
  std::int64_t points, batch;
  int threads = 2, lines_of_block = 192;
  std::size_t values() const { return static_cast<std::size_t>(points * batch); }
  std::string kernel() const {
    const std::string own =
        threads == 1 ? "" : " threads_per_transform=" + std::to_string(threads);  // as printed
    return "radices=" + std::to_string(points) + own +
           " transforms_per_block=" + std::to_string(lines_of_block) + " tensor_cores=1";
  }
};

std::vector<F16> rounded(const std::vector<double>& parts) {
  std::vector<F16> all;
  for (const double part : parts) all.push_back(detail::to_f16(static_cast<float>(part)));
  return all;
}
std::vector<double> widened(const std::vector<F16>& parts) {
  std::vector<double> all;
  for (const F16 part : parts) all.push_back(to_float(part));
  return all;
}

/// Transforms lines that begin `offset` values after aligned addresses.
std::vector<F16> transformed(const Lines& lines, Direction direction, const std::vector<F16>& from,
                             double scale, std::size_t offset) {
  detail::DenseProblem problem;
  problem.shape = Shape(lines.points);
  problem = detail::contiguous_problem(problem, lines.batch);
  const auto engine = detail::make_compact_engine(problem, {}, "kernel " + lines.kernel(), false);
  EXPECT_EQ(engine->kernel(), "kernel " + lines.kernel());
  constexpr std::size_t kMargin = 64;
  std::vector<F16> input(2 * offset, F16{0x7fff}),
      margin(2 * (offset + lines.values()) + kMargin, F16{0x1234});
  input.insert(input.end(), from.begin(), from.end());
  const OnDevice<F16> device_input(input), output(margin);
  engine->run(direction, device_input.get() + 2 * offset, output.get() + 2 * offset, scale, nullptr, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::vector<F16> all = output.read();
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(2 * offset),
             end = begin + static_cast<std::ptrdiff_t>(from.size());
  for (auto i = all.begin(); i != all.end(); ++i) {
    if (i == begin) i = end;
    EXPECT_EQ(i->bits, 0x1234) << "outside the results";
  }
  return {begin, end};
}

void expect_right(const Lines& lines, std::size_t offset) {
  SCOPED_TRACE(lines.kernel() + " offset " + std::to_string(offset));
  const auto points = static_cast<double>(lines.points);
  const std::vector<F16> signal = rounded(parts_of(random_signal(lines.values(), 7), false));
  const std::vector<double> exact = widened(signal);
  const dense::Plan<double> plan(
      Shape(lines.points), Domain::complex,
      {.normalization = dense::Options::Normalization::none, .batch = lines.batch});
  ComplexSignal expected(lines.values());
  plan.forward(exact.data(), ElementType::c128, expected);
  const double scale = std::exp2(std::round(std::log2(256 / std::sqrt(points)))), f16 = 2.1e-4,
               bound = 1.25 * f16;
  std::vector<double> wanted = parts_of(expected, false);
  for (double& part : wanted) part *= scale;
  const std::vector<F16> spectrum = transformed(lines, Direction::forward, signal, scale, offset);
  EXPECT_LE(relative_l2(widened(spectrum), wanted), bound);
  const std::vector<F16> back =
      transformed(lines, Direction::inverse, rounded(wanted), 1 / (points * scale), offset);
  EXPECT_LE(relative_l2(widened(back), exact), std::hypot(bound, f16));
}

const Lines kLines[] = {{127, 4001},        {64, 70000, 1, 256}, {128, 3001, 4, 96},
                        {101, 33, 4, 128},  {2, 999, 4, 128},    {17, 70000, 1, 512},
                        {94, 5000, 2, 192}, {60, 7, 2, 256},     {100, 2500, 2, 192}};

TEST_F(ProductsCuda, BothDirections) {
  for (const Lines& lines : kLines) expect_right(lines, 0);
}

TEST_F(ProductsCuda, AlignedToValues) {
  for (const std::size_t offset : {1, 2, 3}) expect_right(kLines[0], offset);
  expect_right(kLines[7], 1);
}

/// An infinity and a NaN spoil only their own lines, and lines of the largest values do not overflow.
TEST_F(ProductsCuda, LinesAreSpoiledByThemselves) {
  for (const Lines& all : {kLines[0], kLines[2], kLines[6]}) {
    SCOPED_TRACE(all.kernel());
    const auto points = static_cast<std::size_t>(all.points);
    std::vector<F16> signal = rounded(parts_of(random_signal(all.values(), 3), false));
    constexpr std::size_t kInfinite = 1, kNumberless = 3, kLargest = 2;
    signal[2 * (kInfinite * points + points / 2)].bits = 0x7c00;
    signal[2 * (kNumberless * points + points - 1) + 1].bits = 0x7e00;
    for (std::size_t i = 0; i < 2 * points; ++i) signal[2 * kLargest * points + i].bits = 0x7bff;
    const double scale = 0.5 / static_cast<double>(points);
    const std::vector<double> found = widened(transformed(all, Direction::forward, signal, scale, 0));
    for (std::size_t i = 0; i < all.values(); ++i) {
      const std::size_t line = i / points;
      const bool spoiled = line == kInfinite || line == kNumberless;
      EXPECT_EQ(std::isfinite(found[2 * i]) && std::isfinite(found[2 * i + 1]), !spoiled) << i;
    }
    EXPECT_NEAR(found[2 * kLargest * points], 65504 / 2, 64);
  }
}

std::unique_ptr<const detail::GpuCompactEngine> by_rules(std::int64_t points, std::int64_t batch,
                                                         const detail::CompactFormats& formats = {},
                                                         const std::string& kernel = "") {
  detail::DenseProblem problem;
  problem.shape = Shape(points);
  return detail::make_compact_engine(detail::contiguous_problem(problem, batch), formats, kernel, false);
}

/// The rules choose products for lines that would be convolutions or are not copied in whole words, and for
/// no others. They do not choose kernels for f16 for other formats.
TEST_F(ProductsCuda, Rules) {
  for (const std::int64_t points : {19, 23, 38, 45, 63, 94, 97, 126, 127}) {
    const auto engine = by_rules(points, 5);
    EXPECT_TRUE(detail::multiplies_f16(engine->kernel())) << engine->kernel();
    EXPECT_NE(engine->note().find("tensor cores"), std::string::npos) << engine->note();
    EXPECT_GT(engine->kernel_error(), 0);
  }
  for (const std::int64_t points : {16, 27, 60, 100, 128, 131, 135, 1021}) {
    const auto engine = by_rules(points, 5);
    EXPECT_FALSE(detail::multiplies_f16(engine->kernel())) << engine->kernel();
    EXPECT_EQ(engine->note(), "");
  }
  const std::string kernel = "kernel " + kLines[0].kernel();
  for (const Storage other : {Storage::bf16, Storage::block16}) {
    const auto engine = by_rules(127, 5, {.signal = other, .spectrum = other}, kernel);
    EXPECT_FALSE(detail::multiplies_f16(engine->kernel())) << engine->kernel();
  }
}

/// Compares a plan with one in double, within the error that follows from the format.
void expect_right_plan(std::int64_t points, std::int64_t batch, Storage storage) {
  SCOPED_TRACE(std::to_string(points) + " " + to_string(storage));
  const dense::Options options{.normalization = dense::Options::Normalization::none,
                               .device = Device::gpu(),
                               .batch = batch,
                               .formats = {.signal = storage, .spectrum = storage, .signal_peak = 65504}};
  const dense::CompactPlan plan(Shape(points), Domain::complex, options);
  EXPECT_EQ(plan.reason().find("products on tensor cores") != std::string::npos, storage == Storage::f16)
      << plan.reason();
  const auto count = static_cast<std::size_t>(batch);
  const std::vector<double> noise =
      parts_of(random_signal(static_cast<std::size_t>(points * batch), 11), false);
  CompactArray signal = stored(noise, count, storage);
  signal.scales.assign(count, {});
  const std::vector<double> exact = loaded(signal, storage);
  const dense::Plan<double> reference(Shape(points), Domain::complex,
                                      {.normalization = dense::Options::Normalization::none, .batch = batch});
  ComplexSignal expected(reference.spectrum_points());
  reference.forward(exact.data(), ElementType::c128, expected);

  const OnDevice<std::byte> input(signal.bytes), output(plan.spectrum_bytes());
  const Workspace workspace(plan.device_workspace_bytes());
  plan.enqueue_forward(input.get(), output.get(), workspace.get(), nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  CompactArray spectrum = room_for_spectra(plan);
  spectrum.bytes = output.read();
  spectrum.scales.assign(count, {plan.forward_info().exponent, 0, true});
  constexpr double kUsual = 1.5;
  EXPECT_LE(relative_l2(complex_of(loaded(spectrum, storage), false), expected),
            kUsual * plan.forward_info().predicted_error);
  EXPECT_LE(plan.forward_info().predicted_error, storage == Storage::bf16 ? 2.5e-3 : 4e-4);
}

/// Checks every length for which the rules choose products, and some of these in other formats.
TEST_F(ProductsCuda, EveryLengthOfTheRules) {
  for (std::int64_t points = 2; points <= 128; ++points) {
    if (detail::has_radices(static_cast<int>(points)) && (points % 4 == 0 || points < 45)) continue;
    expect_right_plan(points, 1 + points % 40, Storage::f16);
    if (points % 8 != 5) continue;
    for (const Storage other : {Storage::bf16, Storage::block16})
      expect_right_plan(points, 1 + points % 40, other);
  }
}

}  // namespace
}  // namespace sfft::test::products_cuda_test
