// SPDX-License-Identifier: Apache-2.0
// Tests selection and cell sums on the GPU against plain loops on the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "kernels/cuda/spectrum/cell_sums.hpp"
#include "kernels/cuda/spectrum/largest.hpp"
#include "kernels/cuda/spectrum/shape_extents.hpp"
#include "kernels/cuda/spectrum/spectrum_power.hpp"
#include "template/data/envelope.hpp"
#include "template/data/template_data.hpp"
#include "template/learning/learning_spectrum.hpp"
#include "tests/support/gpu.hpp"

namespace sfft::detail::cuda::select_cuda_test {
namespace {

class SelectGpu : public test::GpuTest {};

std::vector<std::int64_t> to_host(const DeviceBuffer& indices) {
  std::vector<std::int64_t> host(indices.bytes() / sizeof(std::int64_t));
  copy_to_host(host.data(), indices.data(), indices.bytes(), nullptr);
  synchronize(nullptr);
  return host;
}

/// Indices in [first, size) whose powers are not negative, strongest first; among equal powers the smaller
/// index comes first.
std::vector<std::int64_t> ranking(const std::vector<double>& power, std::int64_t first) {
  std::vector<std::int64_t> order;
  for (auto i = first; i < static_cast<std::int64_t>(power.size()); ++i) {
    if (power[static_cast<std::size_t>(i)] >= 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return power[static_cast<std::size_t>(a)] > power[static_cast<std::size_t>(b)];
  });
  return order;
}

std::vector<std::int64_t> ranks_to_try(std::int64_t count) {
  std::vector<std::int64_t> ranks{1, 2, 7, count / 3, count / 2, count - 1, count};
  std::erase_if(ranks, [&](std::int64_t rank) { return rank < 1 || rank > count; });
  return ranks;
}

void check_selection(const std::vector<double>& power) {
  const DeviceBuffer device = upload(power);
  const auto size = static_cast<std::int64_t>(power.size());
  for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1}}) {
    const Candidates candidates{device.as<double>(), first, size};
    const std::vector<std::int64_t> order = ranking(power, first);
    for (const std::int64_t rank : ranks_to_try(static_cast<std::int64_t>(order.size()))) {
      SCOPED_TRACE("size " + std::to_string(size) + " rank " + std::to_string(rank));
      EXPECT_EQ(power_at_rank(candidates, rank, nullptr),
                power[static_cast<std::size_t>(order[static_cast<std::size_t>(rank - 1)])]);
      const Cut cut = cut_at_rank(candidates, rank, nullptr);
      EXPECT_EQ(count_taken(candidates, cut, nullptr), rank);
      std::vector<std::int64_t> expected(order.begin(), order.begin() + rank);
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(to_host(take(candidates, cut, rank, nullptr)), expected);
    }
  }
}

TEST_F(SelectGpu, EqualsASort) {
  std::mt19937 random(1);
  std::exponential_distribution<double> exponential;
  for (const std::size_t size : {1, 2, 31, 257, 5000, 100003, 1 << 21}) {
    std::vector<double> power(size);
    for (double& p : power) p = random() % 5 == 0 ? kExcluded : exponential(random);
    power[0] = 0.5;
    check_selection(power);
    for (double& p : power) p = p < 0 ? p : std::exp(400 * p - 600);  // all exponents, denormals, infinity
    check_selection(power);
  }
}

TEST_F(SelectGpu, TiesGoToTheSmallerIndex) {
  std::mt19937 random(2);
  for (const std::size_t size : {1, 64, 3000, 1 << 20}) {
    check_selection(std::vector<double>(size, 0.0));
    check_selection(std::vector<double>(size, 2.5));
    std::vector<double> power(size);
    for (double& p : power) p = static_cast<double>(random() % 5) - 1;
    power[0] = 3;
    check_selection(power);
  }
}

TEST_F(SelectGpu, TakesMoreThanOnePieceOfElements) {
  constexpr std::int64_t kSize = (std::int64_t{1} << 30) + 12345;
  if (device_info(0).memory_bytes < std::size_t{16} << 30) GTEST_SKIP() << "needs 16 GiB of GPU memory";
  const DeviceBuffer power(static_cast<std::size_t>(kSize) * sizeof(double));
  set_zero(power.as<double>(), kSize, nullptr);
  const std::vector<std::int64_t> strong{0, 77, (std::int64_t{1} << 30) - 1, std::int64_t{1} << 30,
                                         kSize - 1};
  for (const std::int64_t i : strong) {
    const double value = 1;
    copy_to_device(power.as<double>() + i, &value, sizeof value, nullptr);
    synchronize(nullptr);
  }
  const Candidates candidates{power.as<double>(), 0, kSize};
  EXPECT_EQ(to_host(take(candidates, cut_at_rank(candidates, 5, nullptr), 5, nullptr)), strong);
  const Cut seven = cut_at_rank(candidates, 7, nullptr);  // needs two of the zeros: the first two
  EXPECT_EQ(seven.last_tie, 2);
  EXPECT_EQ(count_taken(candidates, seven, nullptr), 7);
}

TEST_F(SelectGpu, CellSumsEqualALoop) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  const Shape shapes[] = {Shape{1},        Shape{2},       Shape{7},         Shape{100000},
                          Shape{7, 1},     Shape{6, 8},    Shape{9, 15},     Shape{431, 3},
                          Shape{300, 401}, Shape{5, 6, 7}, Shape{16, 20, 64}};
  for (const Shape& shape : shapes) {
    for (const bool real : {false, true}) {
      SCOPED_TRACE(shape.to_string() + (real ? " real" : " complex"));
      const SpectrumLayout layout{shape, real};
      const SpectrumExtents extents = extents_of(shape, real);
      ASSERT_EQ(extents.points(), layout.points());
      std::vector<double> values(static_cast<std::size_t>(layout.points()));
      for (double& value : values) value = uniform(random);
      std::vector<double> power(values.size(), 1.0);
      for (std::size_t i = 0; i < power.size(); i += 1 + random() % 9) power[i] = kExcluded;

      const DeviceBuffer device_values = upload(values);
      const DeviceBuffer device_power = upload(power);
      exclude_conjugates(device_power.as<double>(), extents, nullptr);
      std::vector<double> marked(power.size());
      copy_to_host(marked.data(), device_power.data(), device_power.bytes(), nullptr);
      synchronize(nullptr);
      const CellGrid grid(shape);
      std::vector<double> expected(grid.cells(), 0.0);
      for (std::int64_t i = 0; i < layout.points(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool counts = power[at] >= 0 && layout.representative(i);
        EXPECT_EQ(marked[at] >= 0, counts) << i;
        if (counts)
          expected[grid.cell(coordinates(shape, layout.linear_index(i)))] +=
              layout.multiplicity(i) * values[at];
      }
      const auto run = [&] {
        return cell_sums(device_values.as<double>(), device_power.as<double>(), extents, nullptr);
      };
      const std::vector<double> sums = run();
      ASSERT_EQ(sums.size(), expected.size());
      for (std::size_t c = 0; c < sums.size(); ++c) EXPECT_NEAR(sums[c], expected[c], 1e-12 * expected[c]);
      EXPECT_EQ(run(), sums) << "repeatable to the bit";
    }
  }
}

/// Compares SelectLargest with plain loops. `power` is in the layout of the extents, and negative for
/// excluded elements.
void check_largest(const SpectrumExtents& extents, const Shape& shape, std::vector<double> power) {
  const SpectrumLayout layout{shape, extents.half};
  const auto size = static_cast<std::int64_t>(power.size());
  ASSERT_EQ(size, extents.points());
  std::vector<std::complex<double>> spectrum;
  for (std::int64_t i = 0; i < size; ++i)
    spectrum.emplace_back(static_cast<double>(i), static_cast<double>(-2 * i));
  const DeviceBuffer device_spectrum = upload(spectrum);
  const std::vector<std::int64_t> order = ranking(power, 0);
  for (const std::int64_t k : ranks_to_try(static_cast<std::int64_t>(order.size()))) {
    SCOPED_TRACE(shape.to_string() + " k " + std::to_string(k));
    const DeviceBuffer device_power = upload(power);
    const SelectLargest select(extents, k);
    const DeviceBuffer workspace(select.workspace_bytes());
    std::vector<std::byte> host(select.host_bytes());
    const auto choose = [&](SelectLargest::Digits digits) {
      select.prepare(workspace.data(), host.data(), nullptr);
      select.enqueue(device_spectrum.as<std::complex<double>>(), device_power.as<double>(), workspace.data(),
                     host.data(), digits, nullptr);
      synchronize(nullptr);
      return select.settled(host.data());
    };
    const auto first_digits = [&](std::int64_t i) {
      return std::bit_cast<std::uint64_t>(power[static_cast<std::size_t>(i)]) >> 41;
    };
    const std::uint64_t digits = first_digits(order[static_cast<std::size_t>(k - 1)]);
    const auto alike =
        std::count_if(order.begin(), order.end(), [&](std::int64_t i) { return first_digits(i) == digits; });
    // The path with few digits either selects, if few powers are alike, or leaves all powers unchanged.
    if (!choose(SelectLargest::Digits::few)) {
      EXPECT_GT(alike, 512);
      std::vector<double> after(power.size());
      copy_to_host(after.data(), device_power.data(), device_power.bytes(), nullptr);
      synchronize(nullptr);
      ASSERT_EQ(after, power);
      ASSERT_TRUE(choose(SelectLargest::Digits::all));
    }
    const LargestOfSpectrum result = select.results(host.data());

    std::vector<std::int64_t> expected(order.begin(), order.begin() + k);
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(result.indices, expected);
    std::vector<double> left = power;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto at = static_cast<std::size_t>(expected[i]);
      EXPECT_EQ(result.power[i], power[at]);
      EXPECT_EQ(result.values[i], spectrum[at]);
      left[at] = kExcluded;
    }
    EXPECT_EQ(result.mean, spectrum[0]);
    const auto next = static_cast<std::size_t>(k);
    EXPECT_EQ(result.largest_outside, next < order.size() ? power[static_cast<std::size_t>(order[next])] : 0);
    std::vector<double> marked(power.size());
    copy_to_host(marked.data(), device_power.data(), device_power.bytes(), nullptr);
    synchronize(nullptr);
    EXPECT_EQ(marked, left);

    const CellGrid grid(shape);
    std::vector<double> sums(grid.cells(), 0.0);
    for (std::int64_t i = 0; i < size; ++i) {
      const double p = left[static_cast<std::size_t>(i)];
      if (p >= 0) sums[grid.cell(coordinates(shape, layout.linear_index(i)))] += layout.multiplicity(i) * p;
    }
    ASSERT_EQ(result.sums.size(), sums.size());
    for (std::size_t c = 0; c < sums.size(); ++c)
      EXPECT_LE(std::abs(result.sums[c] - sums[c]), 1e-12 * sums[c]);
  }
}

TEST_F(SelectGpu, TheLargestInOneGo) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const Shape& shape : {Shape{1}, Shape{2}, Shape{257}, Shape{2048}, Shape{100000}, Shape{7, 1},
                             Shape{9, 15}, Shape{300, 401}, Shape{432, 768}, Shape{5, 6, 7}}) {
    for (const bool real : {false, true}) {
      const SpectrumLayout layout{shape, real};
      const SpectrumExtents extents = extents_of(shape, real);
      const auto drawn = [&](const auto& power_of) {
        std::vector<double> power;
        for (std::int64_t i = 0; i < layout.points(); ++i)
          power.push_back(layout.representative(i) ? power_of() : kExcluded);
        return power;
      };
      check_largest(extents, shape, drawn([&] { return uniform(random); }));
      check_largest(extents, shape, drawn([&] { return std::exp(600 * uniform(random) - 300); }));
      // Denormals, and squares near the limits of the range.
      check_largest(extents, shape, drawn([&] { return uniform(random) * 1e-310; }));
      check_largest(extents, shape, drawn([&] { return uniform(random) * 1e300; }));
      check_largest(extents, shape, drawn([] { return 0.0; }));
      check_largest(extents, shape, drawn([] { return 2.5; }));
      check_largest(extents, shape, drawn([&] { return static_cast<double>(random() % 5); }));
      // Powers that differ only in the last digit.
      check_largest(extents, shape, drawn([&] { return 1 + static_cast<double>(random() % 7) * 0x1p-52; }));
    }
  }
}

TEST_F(SelectGpu, NotANumberAndInfinityAreTheLargest) {
  const Shape shape{3000};
  std::vector<double> power(3000, 1.0);
  power[7] = std::nan("");
  power[2999] = -std::nan("");
  power[1500] = std::numeric_limits<double>::infinity();
  const DeviceBuffer spectrum(power.size() * sizeof(std::complex<double>));
  clear(spectrum.data(), spectrum.bytes(), nullptr);
  for (const auto& [k, digits] : {std::pair(std::int64_t{3}, SelectLargest::Digits::few),
                                  std::pair(std::int64_t{3}, SelectLargest::Digits::all),
                                  std::pair(std::int64_t{5}, SelectLargest::Digits::all),
                                  std::pair(std::int64_t{3000}, SelectLargest::Digits::all)}) {
    const DeviceBuffer device_power = upload(power);
    const SelectLargest select(extents_of(shape, false), k);
    const DeviceBuffer workspace(select.workspace_bytes());
    std::vector<std::byte> host(select.host_bytes());
    select.prepare(workspace.data(), host.data(), nullptr);
    select.enqueue(spectrum.as<std::complex<double>>(), device_power.as<double>(), workspace.data(),
                   host.data(), digits, nullptr);
    synchronize(nullptr);
    const LargestOfSpectrum result = select.results(host.data());
    ASSERT_EQ(static_cast<std::int64_t>(result.indices.size()), k);
    for (const std::int64_t i : {7, 1500, 2999})
      EXPECT_TRUE(std::binary_search(result.indices.begin(), result.indices.end(), i)) << i;
    EXPECT_TRUE(std::adjacent_find(result.indices.begin(), result.indices.end(), std::greater_equal<>()) ==
                result.indices.end());
  }
}

}  // namespace
}  // namespace sfft::detail::cuda::select_cuda_test
