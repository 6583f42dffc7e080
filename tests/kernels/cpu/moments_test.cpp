// SPDX-License-Identifier: Apache-2.0
// Tests the sums of samples and of their squares against sums of integers.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/cpu/stages/layout.hpp"

namespace sfft::detail::cpu::moments_test {
namespace {

template <class Sample>
void compare(std::size_t type, const std::vector<Sample>& samples) {
  std::int64_t values = 0, powers = 0;
  for (const Sample sample : samples) {
    values += sample;
    powers += std::int64_t{sample} * sample;
  }
  double sum = 3, squares = 5;  // add_moments() adds to them
  layout_kernels<float>().add_moments[type](samples.data(), static_cast<std::int64_t>(samples.size()), &sum,
                                            &squares);
  EXPECT_EQ(sum, 3 + static_cast<double>(values)) << samples.size() << " samples of type " << type;
  EXPECT_EQ(squares, 5 + static_cast<double>(powers)) << samples.size() << " samples of type " << type;
}

TEST(Moments, AreExactForIntegersOfAnyCount) {
  std::mt19937_64 random(7);
  constexpr std::size_t kCounts[] = {0, 1, 2, 15, 16, 17, 63, 65, 1000, 32767, 32768, 32769, 65535, 200003};
  for (const std::size_t count : kCounts) {
    std::vector<std::uint8_t> bytes(count, 255);  // the largest sums
    compare(0, bytes);
    for (auto& value : bytes) value = static_cast<std::uint8_t>(random());
    compare(0, bytes);
    std::vector<std::uint16_t> words(count, 65535);
    compare(1, words);
    for (auto& value : words) value = static_cast<std::uint16_t>(random());
    compare(1, words);
    std::vector<std::int8_t> small(count, -128);
    compare(4, small);
    for (auto& value : small) value = static_cast<std::int8_t>(random());
    compare(4, small);
    std::vector<std::int16_t> audio(count, -32768);
    compare(5, audio);
    for (auto& value : audio) value = static_cast<std::int16_t>(random());
    compare(5, audio);
  }
}

}  // namespace
}  // namespace sfft::detail::cpu::moments_test
