// SPDX-License-Identifier: Apache-2.0
// Compares the solver of buckets with textbook formulas that use dense inverses, and instruction sets with
// each other.
#include "kernels/cpu/stages/bucket_systems.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <random>
#include <vector>

#include "kernels/cpu/platform/isa.hpp"

namespace sfft::detail::cpu {

#define SFFT_DECLARE(isa)                                    \
  namespace isa {                                            \
  const BucketSystemKernels& bucket_system_table() noexcept; \
  }
SFFT_FOR_EVERY_ISA(SFFT_DECLARE)
#undef SFFT_DECLARE

namespace bucket_systems_test {
namespace {

using Complex = std::complex<double>;
using Matrix = Eigen::MatrixXcd;

/// Eight random buckets, both as matrices and in SIMD lanes.
struct Scene {
  int delays, members;
  bool coloured, least_squares;
  std::vector<int> count;          ///< members of each lane
  std::vector<Matrix> response;    ///< delays × members
  std::vector<Matrix> covariance;  ///< covariance of the tail
  std::vector<Eigen::VectorXd> power;
  std::vector<double> responses, tails, tail_power, inverse_power, present;
  std::vector<int> response_at, tail_at;

  Scene(int r, int c, bool colour, bool squares, std::mt19937_64& random)
      : delays(r), members(c), coloured(colour), least_squares(squares) {
    std::uniform_real_distribution<double> turn(0, 6.283185307179586), level(-2, 2);
    responses.assign(static_cast<std::size_t>(r * c * kPair), 0);
    tails.assign(static_cast<std::size_t>(r * r * kPair), 0);
    tail_power.assign(kSystemLanes, 1);
    inverse_power.assign(static_cast<std::size_t>(c * kSystemLanes), 0);
    present.assign(static_cast<std::size_t>(c * kSystemLanes), 0);
    for (int j = 0; j < r; ++j) response_at.push_back(j);
    for (int i = 0, n = 0; i < r; ++i)
      for (int j = 0; j < i; ++j) tail_at.push_back(n++);
    for (int l = 0; l < kSystemLanes; ++l) {
      const int own = 1 + static_cast<int>(random() % static_cast<unsigned>(c));
      count.push_back(own);
      Matrix a(r, own);
      Eigen::VectorXd p(own);
      for (int m = 0; m < own; ++m) {
        p(m) = std::pow(10.0, level(random));
        present[at(m, l)] = 1;
        if (!squares) inverse_power[at(m, l)] = 1 / p(m);
        for (int j = 0; j < r; ++j) {
          a(j, m) = std::polar(1.0, turn(random));
          responses[pair(j * c + m, l)] = a(j, m).real();
          responses[pair(j * c + m, l) + kSystemLanes] = a(j, m).imag();
        }
      }
      const double far = squares ? 1 : std::pow(10.0, level(random));
      Matrix cov = Matrix::Identity(r, r) * far;
      for (int n = 0; colour && n < 5; ++n) {  // aliases with their phases
        const double strength = std::pow(10.0, level(random));
        Eigen::VectorXcd v(r);
        for (int j = 0; j < r; ++j) v(j) = std::polar(1.0, turn(random));
        cov += strength * v * v.adjoint();
      }
      tail_power[static_cast<std::size_t>(l)] = cov(0, 0).real();
      for (int i = 0; i < r; ++i) {
        for (int j = 0; j < i; ++j) {
          const std::size_t to = pair(tail_at[static_cast<std::size_t>(i * (i - 1) / 2 + j)], l);
          tails[to] = cov(i, j).real();
          tails[to + kSystemLanes] = cov(i, j).imag();
        }
      }
      response.push_back(a);
      covariance.push_back(cov);
      power.push_back(p);
    }
  }
  static std::size_t at(int m, int l) { return static_cast<std::size_t>(m * kSystemLanes + l); }
  static std::size_t pair(int n, int l) { return static_cast<std::size_t>(n * kPair + l); }

  BucketSystems systems() const {
    return {delays,
            members,
            responses.data(),
            response_at.data(),
            coloured ? tails.data() : nullptr,
            tail_at.data(),
            tail_power.data(),
            inverse_power.data(),
            present.data(),
            least_squares};
  }
};

struct Result {
  bool solvable;
  std::vector<double> variance, weights, noise, bias, response;
};

Result solve(const Scene& scene, const BucketSystemKernels& kernels) {
  const int side = std::max(scene.delays, scene.members);
  std::vector<double> memory(static_cast<std::size_t>(BucketScratch::doubles(side)));
  const BucketScratch scratch(side, memory.data());
  const auto m = static_cast<std::size_t>(scene.members * kSystemLanes);
  Result out{false,
             std::vector<double>(m),
             std::vector<double>(static_cast<std::size_t>(scene.members * scene.delays * kPair)),
             std::vector<double>(m),
             std::vector<double>(m),
             std::vector<double>(m)};
  const BucketSystems systems = scene.systems();
  out.solvable = kernels.variances(systems, scratch, out.variance.data());
  if (out.solvable)
    kernels.rows(systems, scratch, out.weights.data(), out.noise.data(), out.bias.data(),
                 out.response.data());
  return out;
}

Complex weight(const Scene& scene, const Result& result, int lane, int m, int j) {
  const std::size_t at = Scene::pair(m * scene.delays + j, lane);
  return {result.weights[at], result.weights[at + kSystemLanes]};
}

TEST(BucketSystems, AgreeWithTheTextbook) {
  std::mt19937_64 random(3);
  for (const auto& [r, c] : {std::pair{1, 1}, {2, 1}, {4, 2}, {6, 3}, {9, 5}, {16, 7}, {24, 24}, {3, 6}}) {
    for (const bool coloured : {false, true}) {
      const Scene scene(r, c, coloured, false, random);
      const Result result = solve(scene, bucket_system_kernels());
      ASSERT_TRUE(result.solvable);
      for (int l = 0; l < kSystemLanes; ++l) {
        const auto i = static_cast<std::size_t>(l);
        const Matrix prior = Matrix(scene.power[i].cast<Complex>().asDiagonal());
        const Matrix& a = scene.response[i];
        const Matrix& cov = scene.covariance[i];
        // The linear estimate of least mean square error: P Aᴴ (A P Aᴴ + C)⁻¹.
        const Matrix w = prior * a.adjoint() * (a * prior * a.adjoint() + cov).inverse();
        const Matrix leak = w * a;
        for (int m = 0; m < scene.count[i]; ++m) {
          const double noise = (w.row(m) * cov * w.row(m).adjoint())(0, 0).real();
          double bias = 0, kept = 0;
          for (int n = 0; n < scene.count[i]; ++n) {
            bias += scene.power[i](n) * std::norm(leak(m, n) - (m == n ? 1.0 : 0.0));
            kept += scene.power[i](n) * std::norm(leak(m, n));
          }
          const std::size_t at = Scene::at(m, l);
          const double all = noise + bias;
          EXPECT_NEAR(result.variance[at], all, 1e-8 * all);
          EXPECT_NEAR(result.noise[at], noise, 1e-8 * all);
          EXPECT_NEAR(result.bias[at], bias, 1e-8 * all);
          EXPECT_NEAR(result.response[at], kept, 1e-8 * (kept + all));
          for (int j = 0; j < r; ++j)
            EXPECT_LT(std::abs(weight(scene, result, l, m, j) - w(m, j)), 1e-8 * w.row(m).norm());
        }
      }
    }
  }
}

TEST(BucketSystems, LeastSquaresInvertsTheResponses) {
  std::mt19937_64 random(4);
  for (const auto& [r, c] : {std::pair{3, 1}, {4, 2}, {8, 4}, {20, 9}}) {
    const Scene scene(r, c, false, true, random);
    const Result result = solve(scene, bucket_system_kernels());
    ASSERT_TRUE(result.solvable);
    for (int l = 0; l < kSystemLanes; ++l) {
      const auto i = static_cast<std::size_t>(l);
      const Matrix w =
          (scene.response[i].adjoint() * scene.response[i]).inverse() * scene.response[i].adjoint();
      for (int m = 0; m < scene.count[i]; ++m) {
        EXPECT_NEAR(result.variance[Scene::at(m, l)], w.row(m).squaredNorm(), 1e-9 * w.row(m).squaredNorm());
        for (int n = 0; n < scene.count[i]; ++n) {
          Complex sum = 0;
          for (int j = 0; j < r; ++j) sum += weight(scene, result, l, m, j) * scene.response[i](j, n);
          EXPECT_LT(std::abs(sum - (m == n ? 1.0 : 0.0)), 1e-14 * (10 + w.row(m).norm() * r));
        }
      }
    }
  }
}

TEST(BucketSystems, SaysWhenMembersLookAlike) {
  std::mt19937_64 random(5);
  Scene scene(6, 2, false, true, random);
  for (int l = 0; l < kSystemLanes; ++l) scene.present[Scene::at(1, l)] = 1;
  for (int j = 0; j < 6; ++j)
    for (int part = 0; part < kPair; ++part)
      scene.responses[static_cast<std::size_t>((j * 2 + 1) * kPair + part)] =
          scene.responses[static_cast<std::size_t>(j * 2 * kPair + part)];
  EXPECT_FALSE(solve(scene, bucket_system_kernels()).solvable);
  const Scene few(2, 5, false, true, random);
  if (*std::max_element(few.count.begin(), few.count.end()) > 2) {
    EXPECT_FALSE(solve(few, bucket_system_kernels()).solvable) << "more members than delays";
  }
}

#if defined(SFFT_X86)
TEST(BucketSystems, EveryInstructionSetGivesTheSameBits) {
  std::mt19937_64 random(6);
  for (int run = 0; run < 40; ++run) {
    const int r = 1 + static_cast<int>(random() % 12);
    const int c = 1 + static_cast<int>(random() % static_cast<unsigned>(r));
    const Scene scene(r, c, run % 2 == 0, run % 4 == 1, random);
    const Result plain = solve(scene, baseline::bucket_system_table());
    const auto same = [&](const Result& other) {
      return other.solvable == plain.solvable && other.variance == plain.variance &&
             other.weights == plain.weights && other.noise == plain.noise && other.bias == plain.bias;
    };
    if (best_isa() != Isa::baseline) {
      EXPECT_TRUE(same(solve(scene, avx2::bucket_system_table()))) << run;
    }
    if (best_isa() == Isa::avx512) {
      EXPECT_TRUE(same(solve(scene, avx512::bucket_system_table()))) << run;
    }
  }
}
#endif

TEST(BucketSystems, NearAliasesKeepWhatIsAboveTheLevel) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int run = 0; run < 60; ++run) {
    const bool level_is_white = run % 2 == 0;
    const int count = run % 3 == 0 ? 8 : 64;
    // The near aliases are nearly all, a part, little, or nothing of a lane's power; some are absent.
    std::vector<double> near(static_cast<std::size_t>(count * kSystemLanes));
    std::array<double, kSystemLanes> power{}, frequencies{}, sum{};
    for (std::size_t n = 0; n < near.size(); ++n) {
      near[n] = n % kSystemLanes == 7 || random() % 4 == 0 ? 0 : std::exp2(-40 * uniform(random));
      sum[n % kSystemLanes] += near[n];
    }
    for (std::size_t l = 0; l < kSystemLanes; ++l) {
      const double times[] = {1, 1.1, 2, 4, 8, 100, 0.5, 1};
      power[l] = times[(l + static_cast<std::size_t>(run)) % 8] * sum[l];
      frequencies[l] = l == 5 ? count : 100 + 50 * uniform(random);
    }
    auto kept = near;
    auto whole = power;
    const bool any = bucket_system_kernels().separate(kept.data(), count, whole.data(), frequencies.data(),
                                                      level_is_white);
    bool expected_any = false;
    for (std::size_t l = 0; l < kSystemLanes; ++l) {
      double others = frequencies[l], above = 0;
      for (std::size_t q = l; q < near.size(); q += kSystemLanes) others -= near[q] > 0 ? 1 : 0;
      const double level = level_is_white && others > 0 ? std::max(0.0, power[l] - sum[l]) / others : 0;
      for (std::size_t q = l; q < near.size(); q += kSystemLanes) above += std::max(0.0, near[q] - level);
      const bool matters = above > 0 && above >= 0.2 * power[l];
      expected_any = expected_any || matters;
      for (std::size_t q = l; q < near.size(); q += kSystemLanes)
        EXPECT_NEAR(kept[q], matters ? std::max(0.0, near[q] - level) : 0, 1e-12 * sum[l]);
      const double rest = std::max(power[l] - above, 1e-3 * power[l]);
      EXPECT_NEAR(whole[l], matters ? rest + above : power[l], 1e-12 * power[l]) << run << " lane " << l;
    }
    EXPECT_EQ(any, expected_any);
#if defined(SFFT_X86)
    for (const Isa isa : {Isa::avx2, Isa::avx512}) {
      if (best_isa() < isa) continue;
      auto plain = near, wide = near;
      auto plain_whole = power, wide_whole = power;
      baseline::bucket_system_table().separate(plain.data(), count, plain_whole.data(), frequencies.data(),
                                               level_is_white);
      (isa == Isa::avx2 ? avx2::bucket_system_table() : avx512::bucket_system_table())
          .separate(wide.data(), count, wide_whole.data(), frequencies.data(), level_is_white);
      EXPECT_EQ(wide, plain);
      EXPECT_EQ(wide_whole, plain_whole);
    }
#endif
  }
}

TEST(BucketSystems, NearAliasesAddUpWithTheirPhases) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const auto& extents : {std::array{1, 1, 8}, std::array{1, 8, 8}, std::array{4, 4, 4}}) {
    std::vector<double> power(kSystemAliases * kSystemLanes);
    for (double& p : power) p = uniform(random);
    double phases[3][16];
    for (auto& axis : phases)
      for (double& part : axis) part = uniform(random) - 0.5;
    const double* const pointers[3] = {phases[0], phases[1], phases[2]};
    const NearAliases near{power.data(), {extents[0], extents[1], extents[2]}};
    double out[kPair];
    bucket_system_kernels().tail(near, pointers, out);
    for (int l = 0; l < kSystemLanes; ++l) {
      Complex sum = 0;
      std::size_t n = 0;
      for (int a = 0; a < extents[0]; ++a)
        for (int b = 0; b < extents[1]; ++b)
          for (int d = 0; d < extents[2]; ++d, ++n)
            sum += power[n * kSystemLanes + static_cast<std::size_t>(l)] *
                   Complex(phases[0][2 * a], phases[0][2 * a + 1]) *
                   Complex(phases[1][2 * b], phases[1][2 * b + 1]) *
                   Complex(phases[2][2 * d], phases[2][2 * d + 1]);
      EXPECT_LT(std::abs(Complex(out[l], out[l + kSystemLanes]) - sum), 1e-12);
    }
  }
}

}  // namespace
}  // namespace bucket_systems_test
}  // namespace sfft::detail::cpu
