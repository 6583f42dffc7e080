// SPDX-License-Identifier: Apache-2.0
// Tests each stage of the comb path against its definition.
#include <gtest/gtest.h>

#include <random>

#include "kernels/cpu/stages/hash.hpp"
#include "kernels/cpu/stages/permute.hpp"
#include "kernels/cpu/stages/recover.hpp"

namespace sfft::detail::cpu::hash_permute_recover_test {
namespace {

TEST(Hash, FoldsEveryDimension) {
  const std::array<std::int64_t, 3> buckets{4, 3, 5};
  for (std::int64_t a = 0; a < 12; ++a) {
    for (std::int64_t b = 0; b < 9; ++b) {
      for (std::int64_t c = 0; c < 10; ++c) {
        const std::int64_t bucket = hash({a, b, c}, buckets);
        EXPECT_EQ(bucket, (a % 4) * 15 + (b % 3) * 5 + c % 5);
        EXPECT_EQ(mirror_bucket(bucket, buckets), hash({(12 - a) % 12, (9 - b) % 9, (10 - c) % 10}, buckets));
      }
    }
  }
}

template <class Real, class T>
void check_real_gather(ElementType type) {
  std::vector<T> frame(997);
  for (std::size_t i = 0; i < frame.size(); ++i) frame[i] = static_cast<T>((i * 37) % 251);
  for (std::int64_t lanes = 1; lanes <= 9; ++lanes) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t j = 0; j < 2 * lanes; ++j) offsets.push_back((j * 13) % 40);
    std::vector<Real> re(static_cast<std::size_t>(17 * lanes)), im(re.size());
    permute_kernels<Real>().gather[static_cast<int>(type)](frame.data() + 5, 17, 41, offsets.data(), lanes,
                                                           re.data(), im.data());
    for (std::int64_t m = 0; m < 17; ++m) {
      for (std::int64_t l = 0; l < lanes; ++l) {
        const auto at = static_cast<std::size_t>(m * lanes + l);
        EXPECT_EQ(
            re[at],
            static_cast<Real>(
                frame[static_cast<std::size_t>(5 + m * 41 + offsets[static_cast<std::size_t>(2 * l)])]));
        EXPECT_EQ(
            im[at],
            static_cast<Real>(
                frame[static_cast<std::size_t>(5 + m * 41 + offsets[static_cast<std::size_t>(2 * l + 1)])]));
      }
    }
  }
}

template <class Real, class T>
void check_complex_gather(ElementType type) {
  std::vector<std::complex<T>> frame;
  for (int i = 0; i < 997; ++i) frame.emplace_back(static_cast<T>(i), static_cast<T>(-2 * i));
  for (std::int64_t lanes = 1; lanes <= 9; ++lanes) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t j = 0; j < lanes; ++j) offsets.push_back((j * 11) % 40);
    std::vector<Real> re(static_cast<std::size_t>(17 * lanes)), im(re.size());
    permute_kernels<Real>().gather[static_cast<int>(type)](frame.data() + 5, 17, 41, offsets.data(), lanes,
                                                           re.data(), im.data());
    for (std::int64_t m = 0; m < 17; ++m) {
      for (std::int64_t l = 0; l < lanes; ++l) {
        const auto at = static_cast<std::size_t>(m * lanes + l);
        const std::complex<T> sample =
            frame[static_cast<std::size_t>(5 + m * 41 + offsets[static_cast<std::size_t>(l)])];
        EXPECT_EQ(re[at], static_cast<Real>(sample.real()));
        EXPECT_EQ(im[at], static_cast<Real>(sample.imag()));
      }
    }
  }
}

template <class Real>
class CombStages : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(CombStages, Reals);

TYPED_TEST(CombStages, GathersEveryElementType) {
  check_real_gather<TypeParam, std::uint8_t>(ElementType::u8);
  check_real_gather<TypeParam, std::uint16_t>(ElementType::u16);
  check_real_gather<TypeParam, float>(ElementType::f32);
  check_real_gather<TypeParam, double>(ElementType::f64);
  check_complex_gather<TypeParam, float>(ElementType::c64);
  check_complex_gather<TypeParam, double>(ElementType::c128);
  check_real_gather<TypeParam, std::int8_t>(ElementType::s8);
  check_real_gather<TypeParam, std::int16_t>(ElementType::s16);
  check_real_gather<TypeParam, std::int32_t>(ElementType::s32);
  check_complex_gather<TypeParam, std::int8_t>(ElementType::cs8);
  check_complex_gather<TypeParam, std::int16_t>(ElementType::cs16);
}

template <class Real>
std::vector<Real> random_reals(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<Real> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<Real>(normal(generator)));
  return values;
}

TYPED_TEST(CombStages, RecoverIsTheSumItSays) {
  using Real = TypeParam;
  const std::int64_t buckets = 23;
  const std::int64_t k = 31;
  const double bound = 100 * std::numeric_limits<Real>::epsilon();
  for (std::int64_t lanes = 1; lanes <= 10; ++lanes) {
    const auto re = random_reals<Real>(static_cast<std::size_t>(buckets * lanes), 1);
    const auto im = random_reals<Real>(static_cast<std::size_t>(buckets * lanes), 2);
    const auto weights = random_reals<Real>(static_cast<std::size_t>(4 * k * lanes), 3);
    std::vector<std::int32_t> bucket, mirror;
    for (std::int32_t i = 0; i < k; ++i) {
      bucket.push_back(i * 7 % 23);
      mirror.push_back((23 - bucket.back()) % 23);
    }
    const auto z = [&](std::int32_t b, std::int64_t l) {
      const auto at = static_cast<std::size_t>(b * lanes + l);
      return std::complex<double>(re[at], im[at]);
    };
    std::vector<std::complex<Real>> simple(k, {1, 2}), paired(k, {1, 2});
    recover_kernels<Real>().recover_complex(re.data(), im.data(), lanes, bucket.data(), weights.data(), k,
                                            reinterpret_cast<Real*>(simple.data()));
    recover_kernels<Real>().recover_real(re.data(), im.data(), lanes, bucket.data(), mirror.data(),
                                         weights.data(), k, reinterpret_cast<Real*>(paired.data()));
    for (std::int64_t i = 0; i < k; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto w = [&](std::int64_t block, std::int64_t part, std::int64_t l) {
        return static_cast<double>(weights[static_cast<std::size_t>(i * block * lanes + part * lanes + l)]);
      };
      std::complex<double> one = 0.0, two = 0.0;
      for (std::int64_t l = 0; l < lanes; ++l) {
        one += std::complex<double>(w(2, 0, l), w(2, 1, l)) * z(bucket[at], l);
        two += std::complex<double>(w(4, 0, l), w(4, 1, l)) * z(bucket[at], l) +
               std::complex<double>(w(4, 2, l), w(4, 3, l)) * std::conj(z(mirror[at], l));
      }
      EXPECT_LE(std::abs(std::complex<double>(simple[at]) - one), bound);
      EXPECT_LE(std::abs(std::complex<double>(paired[at]) - two), bound);
    }
  }
}

TYPED_TEST(CombStages, WeightedPowerSumsAndSpreadsNaN) {
  using Real = TypeParam;
  for (const std::size_t count : {1u, 5u, 16u, 33u, 257u}) {
    auto re = random_reals<Real>(count, 4);
    const auto im = random_reals<Real>(count, 5);
    auto weight = random_reals<Real>(count, 6);
    for (Real& w : weight) w = w * w;
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i)
      expected += double(weight[i]) * (double(re[i]) * re[i] + double(im[i]) * im[i]);
    const auto n = static_cast<std::int64_t>(count);
    EXPECT_NEAR(recover_kernels<Real>().weighted_power(re.data(), im.data(), weight.data(), n), expected,
                50 * std::numeric_limits<Real>::epsilon() * expected);
    weight[count / 2] = 0;
    re[count / 2] = std::numeric_limits<Real>::quiet_NaN();
    EXPECT_TRUE(std::isnan(recover_kernels<Real>().weighted_power(re.data(), im.data(), weight.data(), n)));
  }
}

}  // namespace
}  // namespace sfft::detail::cpu::hash_permute_recover_test
