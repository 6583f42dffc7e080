// SPDX-License-Identifier: Apache-2.0
// Compares the conversions of arrays bit by bit with those of single numbers: every pattern of f16 and bf16,
// floats between them, and special values at every position of vectors and of their remainder.
#include "kernels/dense/cpu/stored_values.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/base/storage/half.hpp"
#include "sfft/dense.hpp"
#include "tests/support/stored_floats.hpp"

namespace sfft::test::stored_values_test {
namespace {

using dense::Storage;
using Bits = std::vector<unsigned short>;

float widened(unsigned short bits, Storage storage) {
  return storage == Storage::f16 ? to_float(detail::F16{bits}) : to_float(detail::Bf16{bits});
}
unsigned short narrowed(float value, Storage storage) {
  return storage == Storage::f16 ? detail::to_f16(value).bits : detail::to_bf16(value).bits;
}

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<unsigned>(a) == std::bit_cast<unsigned>(b);
}

Bits stored_bits(const std::vector<float>& values, Storage storage) {
  Bits bits(values.size());
  detail::write_stored(values.data(), static_cast<std::int64_t>(values.size()), 0, 0, storage, bits.data());
  return bits;
}

class StoredValues : public testing::TestWithParam<Storage> {};

TEST_P(StoredValues, EveryPatternIsRead) {
  Bits all(65536);
  std::iota(all.begin(), all.end(), static_cast<unsigned short>(0));
  std::vector<float> found(all.size());
  detail::read_stored(all.data(), GetParam(), 65536, 0, found.data());
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_TRUE(same(found[i], widened(all[i], GetParam()))) << i << " " << found[i];
  EXPECT_EQ(detail::census_of(all.data(), GetParam(), 65536).finite, false);
}

TEST_P(StoredValues, FloatsOfEveryExponentAreRounded) {
  std::vector<float> values;
  std::mt19937 random(2);
  for (unsigned exponent = 0; exponent < 256; ++exponent) {
    for (const unsigned fraction : {0u, 1u, 0x7fffffu, 0xfffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u,
                                    0x8001u, 0x18000u, static_cast<unsigned>(random()) % 0x800000u}) {
      for (const unsigned sign : {0u, 1u})
        values.push_back(std::bit_cast<float>(sign << 31 | exponent << 23 | fraction));
    }
  }
  const Bits found = stored_bits(values, GetParam());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(found[i], narrowed(values[i], GetParam())) << std::bit_cast<unsigned>(values[i]);
}

TEST_P(StoredValues, SpecialValuesStayWhereTheyAre) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                  kNan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t count = 1; count <= 70; ++count) {
    for (std::size_t at = 0; at < count; ++at) {
      for (const float special : {kNan, -kNan, kInfinity, -kInfinity, 0x1p-149f, -0.0f}) {
        std::vector<float> values(count, 1.5f);
        values[at] = special;
        std::vector<unsigned char> stored(
            detail::storage_bytes(GetParam(), static_cast<std::int64_t>(count)));
        std::vector<float> back(count);
        const auto size = static_cast<std::int64_t>(count);
        detail::write_stored(values.data(), size, 0, 0, GetParam(), stored.data());
        EXPECT_EQ(detail::census_of(stored.data(), GetParam(), size).finite, std::isfinite(special));
        detail::read_stored(stored.data(), GetParam(), size, 0, back.data());
        for (std::size_t i = 0; i < count; ++i) {
          if (std::isnan(values[i])) {
            ASSERT_TRUE(std::isnan(back[i])) << count << " " << at;
          } else if (std::isinf(values[i]) || i != at) {
            ASSERT_EQ(back[i], values[i]) << count << " " << at << " " << i;
          } else {
            ASSERT_LE(std::abs(back[i] - values[i]), 0x1p-126f) << count << " " << at;
          }
        }
      }
    }
  }
}

TEST(PackedValues, AreThoseThatAreWrittenWithTheirErrors) {
  for (const Storage storage : {Storage::f16, Storage::bf16, Storage::block16}) {
    for (const std::int64_t count : {1, 31, 32, 33, 511, 512, 513, 544, 2000, 40007}) {
      for (const bool finite : {true, false}) {
        const auto values = floats_of_every_size(static_cast<std::size_t>(count), finite);
        std::vector<unsigned char> written(detail::storage_bytes(storage, count)), packed(written.size());
        detail::write_stored(values.data(), count, 0, 0, storage, written.data());
        detail::pack_stored(values.data(), count, storage, packed.data());
        ASSERT_EQ(packed, written) << to_string(storage) << " " << count;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, StoredValues, testing::Values(Storage::f16, Storage::bf16),
                         [](const auto& format) { return std::string(to_string(format.param)); });

}  // namespace
}  // namespace sfft::test::stored_values_test
