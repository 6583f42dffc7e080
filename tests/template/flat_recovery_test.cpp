// SPDX-License-Identifier: Apache-2.0
// Tests the rows of a flat-window plan on buckets computed by definition (kernels/base/tables/flat_data.hpp).
#include "template/flat/flat_recovery.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace sfft::detail::flat_recovery_test {
namespace {

using Complex = std::complex<double>;

Complex turn(double turns) {
  return std::polar(1.0, 2 * std::numbers::pi * turns);
}

/// z_j[b] of the signal with X[f] = 1 and nothing else: Σ_m g[m] x[t_j(m)] exp(−2πi b m/B), with samples by
/// definition.
Complex bucket(const Shape& shape, const FlatRecovery& recovery, std::size_t j, std::int64_t b,
               const std::array<std::int64_t, 3>& f) {
  const FlatLines& lines = recovery.lines();
  Complex sum = 0;
  for (std::int64_t m = 0; m < lines.taps; ++m) {
    double turns = -static_cast<double>(b * m % lines.buckets) / static_cast<double>(lines.buckets);
    for (int d = 0; d < shape.rank(); ++d) {
      const auto i = static_cast<std::size_t>(d);
      const std::int64_t t = (lines.delays[j][i] + m * lines.sigma[i]) % shape[d];
      turns += static_cast<double>(f[i] * t % shape[d]) / static_cast<double>(shape[d]);
    }
    sum += recovery.window()[static_cast<std::size_t>(m)] * turn(turns);
  }
  return sum / static_cast<double>(shape.points());
}

/// The response of row i of `data` to the signal with X[f] = 1.
Complex response(const Shape& shape, const FlatRecovery& recovery, const FlatPlanData& data, std::size_t i,
                 const std::array<std::int64_t, 3>& f) {
  const FlatLines& lines = recovery.lines();
  const std::size_t r = lines.delays.size();
  Complex sum = 0;
  for (std::int64_t q = 0; q < lines.row_buckets; ++q) {
    const std::int64_t b = (data.first_bucket[i] + q) % lines.buckets;
    for (std::size_t j = 0; j < r; ++j)
      sum +=
          data.weights[(i * static_cast<std::size_t>(lines.row_buckets) + static_cast<std::size_t>(q)) * r +
                       j] *
          bucket(shape, recovery, j, b, f);
  }
  return sum;
}

struct Setting {
  Shape shape;
  std::int64_t buckets, taps, row_buckets, delays;
  bool full_period;
};

std::vector<Setting> settings() {
  return {{Shape{1021}, 32, 256, 4, 3, false},
          {Shape{2000}, 25, 200, 5, 2, false},
          {Shape{37, 41}, 64, 256, 4, 3, false},
          {Shape{16, 16}, 16, 16, 1, 4, true},
          {Shape{5, 7, 9}, 32, 128, 4, 3, false}};
}

std::vector<FlatMember> random_members(const Shape& shape, std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::set<std::int64_t> chosen;
  while (static_cast<std::int64_t>(chosen.size()) < count)
    chosen.insert(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape.points())));
  std::vector<FlatMember> members;
  for (const std::int64_t flat : chosen) {
    FlatMember member{{0, 0, 0}, static_cast<std::int64_t>(members.size())};
    std::int64_t rest = flat;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      member.f[static_cast<std::size_t>(d)] = rest % shape[d];
      rest /= shape[d];
    }
    members.push_back(member);
  }
  return members;
}

FlatLines draw(const Setting& setting, std::uint64_t seed) {
  FlatLines lines{};
  lines.buckets = setting.buckets;
  lines.taps = setting.taps;
  lines.row_buckets = setting.row_buckets;
  lines.full_period = setting.full_period;
  FlatLineSource(setting.shape, seed).draw(setting.delays, lines);
  return lines;
}

constexpr double kLeakage = 1e-9;

TEST(FlatRecovery, RowsReadTheirOwnFrequencyAndNoOther) {
  for (const Setting& setting : settings()) {
    const auto members = random_members(setting.shape, 12, 3);
    FlatRecovery recovery(setting.shape, members, KaiserWindow::for_leakage(kLeakage), draw(setting, 1));
    FlatPlanData data;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!std::isfinite(recovery.gain(i))) continue;
      recovery.append_row(i, data);
      rows.push_back(i);
    }
    // Most of a dozen frequencies can be told apart; the planner draws other lines for the rest.
    EXPECT_GE(rows.size(), 6U) << setting.shape.to_string();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      // Leakage and rounding are amplified by the row's norm, whose square is the gain.
      const double bound =
          1e3 * kLeakage *
          (1 + std::sqrt(data.noise_gain[row] * static_cast<double>(setting.shape.points())));
      for (std::size_t other = 0; other < members.size(); ++other) {
        const Complex answer = response(setting.shape, recovery, data, row, members[other].f);
        EXPECT_LE(std::abs(answer - (other == rows[row] ? 1.0 : 0.0)), bound)
            << setting.shape.to_string() << " row " << rows[row] << " member " << other;
      }
    }
  }
}

TEST(FlatRecovery, GainIsThePowerThatAWhiteTailPutsIntoARow) {
  // Computes the exact expectation over white samples: the row is a linear function of the samples that its
  // lines read.
  const Setting setting{Shape{1021}, 32, 256, 4, 3, false};
  const auto members = random_members(setting.shape, 8, 9);
  FlatRecovery recovery(setting.shape, members, KaiserWindow::for_leakage(kLeakage), draw(setting, 2));
  const FlatLines& lines = recovery.lines();
  const auto points = static_cast<std::size_t>(setting.shape.points());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const double gain = recovery.gain(i);
    if (!std::isfinite(gain)) continue;
    FlatPlanData data;
    recovery.append_row(i, data);
    std::vector<Complex> weight(points);  // weight of every sample in this row
    for (std::size_t j = 0; j < lines.delays.size(); ++j) {
      for (std::int64_t m = 0; m < lines.taps; ++m) {
        const std::int64_t t = (lines.delays[j][0] + m * lines.sigma[0]) % setting.shape[0];
        for (std::int64_t q = 0; q < lines.row_buckets; ++q) {
          const std::int64_t b = (data.first_bucket[0] + q) % lines.buckets;
          weight[static_cast<std::size_t>(t)] +=
              data.weights[static_cast<std::size_t>(q) * lines.delays.size() + j] *
              recovery.window()[static_cast<std::size_t>(m)] *
              turn(-static_cast<double>(b * m % lines.buckets) / static_cast<double>(lines.buckets));
        }
      }
    }
    // White samples of variance 1 have Σ|X|² = N² in the mean.
    double power = 0;
    for (const Complex& w : weight) power += std::norm(w);
    const double expected = power / static_cast<double>(points * points);
    EXPECT_NEAR(gain / expected, 1, 1e-6) << i;
  }
}

TEST(FlatRecovery, ProbesIgnoreTheTemplate) {
  for (const Setting& setting : settings()) {
    const auto members = random_members(setting.shape, 6, 5);
    FlatRecovery recovery(setting.shape, members, KaiserWindow::for_leakage(kLeakage), draw(setting, 4));
    FlatPlanData data;
    const std::int64_t made = recovery.append_probes(0, 2, 1, data);
    ASSERT_EQ(data.rows(), made);
    for (std::size_t row = 0; row < static_cast<std::size_t>(made); ++row) {
      double own = 0;
      for (const FlatMember& member : members)
        own = std::max(own, std::abs(response(setting.shape, recovery, data, row, member.f)));
      double strongest = 0;
      for (const FlatMember& other : random_members(setting.shape, 40, 77))
        strongest = std::max(strongest, std::abs(response(setting.shape, recovery, data, row, other.f)));
      EXPECT_LE(own, 1e-5 * strongest) << setting.shape.to_string();
    }
  }
}

}  // namespace
}  // namespace sfft::detail::flat_recovery_test
