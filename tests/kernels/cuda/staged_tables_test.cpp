// SPDX-License-Identifier: Apache-2.0
// Tests how tables are laid out on the host, in memory that was used before.
#include "kernels/cuda/runtime/staged_tables.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace sfft::test::staged_tables_test {
namespace {

TEST(StagedTables, WhatLiesBetweenIsZero) {
  detail::cuda::StagedTables tables;
  std::vector<std::vector<std::uint8_t>> values;
  for (const std::size_t bytes : {5, 16, 0, 33, 1}) {
    values.emplace_back(bytes);
    std::iota(values.back().begin(), values.back().end(), std::uint8_t{1});
  }
  std::vector<std::size_t> places;
  for (const auto& table : values) places.push_back(tables.add(table));
  // A reserved place is filled later, in two parts and in any order.
  const std::size_t later = tables.add(100);
  tables.put(later + 48, values[3].data(), values[3].size());
  tables.put(later, values[0].data(), values[0].size());
  std::vector<std::byte> host(tables.host_bytes(), std::byte{0xee});
  std::vector<std::byte> expected(host.size(), std::byte{0});
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].empty()) std::memcpy(expected.data() + places[i], values[i].data(), values[i].size());
  }
  std::memcpy(expected.data() + later + 48, values[3].data(), values[3].size());
  std::memcpy(expected.data() + later, values[0].data(), values[0].size());
  tables.gather(host.data());
  EXPECT_EQ(host, expected);
}

}  // namespace
}  // namespace sfft::test::staged_tables_test
