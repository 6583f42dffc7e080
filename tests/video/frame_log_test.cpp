// SPDX-License-Identifier: Apache-2.0
// Tests the log that a run keeps of its frames: exact for short runs, right within the stated width for long
// ones, and bounded in size.
#include "video/pipeline/frame_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace sfft::video::frame_log_test {
namespace {

double exact_quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

TEST(Distribution, QuantilesAgreeWithSorting) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> times(3, 2);
  std::uniform_real_distribution<double> uniform(0, 1);
  const std::vector<std::function<double()>> draws{
      [&] { return times(random); }, [&] { return uniform(random); },
      [&] { return uniform(random) < 0.7 ? 0.0 : 1e6 * uniform(random); }, [] { return 5184.0; }};
  for (const auto& draw : draws) {
    for (const std::size_t count : {1u, 2u, 999u, 1000u, 1001u, 50000u}) {
      Distribution distribution;
      std::vector<double> values;
      double sum = 0;
      for (std::size_t i = 0; i < count; ++i) {
        values.push_back(draw());
        sum += values.back();
        distribution.push_back(values.back());
      }
      EXPECT_EQ(distribution.size(), count);
      EXPECT_NEAR(distribution.mean(), sum / static_cast<double>(count), 1e-9 * sum);
      for (const double q : {0.0, 0.25, 0.5, 0.9, 0.95, 0.999, 1.0}) {
        const double exact = exact_quantile(values, q);
        EXPECT_NEAR(distribution.quantile(q), exact, count <= 1000 || q == 1 ? 0 : 0.008 * exact)
            << q << " of " << count;
      }
    }
  }
}

TEST(Distribution, ExtremesAreCountedAndNothingIsNaN) {
  Distribution none;
  EXPECT_TRUE(std::isnan(none.quantile(0.5)));
  EXPECT_TRUE(std::isnan(none.mean()));
  Distribution distribution;
  for (int i = 0; i < 3000; ++i) distribution.push_back(i % 3 == 0 ? 0 : i % 3 == 1 ? 1e300 : 1e-300);
  for (int i = 0; i < 6000; ++i) distribution.push_back(std::numeric_limits<double>::infinity());
  EXPECT_EQ(distribution.quantile(0.1), 0);
  EXPECT_EQ(distribution.quantile(0.9), std::numeric_limits<double>::infinity());
}

TEST(FrameLog, IsBoundedAndKeepsPeaks) {
  FrameLog log;
  constexpr std::int64_t kFrames = 300000;
  for (std::int64_t i = 0; i < kFrames; ++i) {
    FrameRecord record;
    record.index = i;
    record.us = 10;
    record.relative_error = i == 123456 ? 9.0 : 0.01;
    record.action = i % 2 == 0 ? TrackedFrame::Action::sparse : TrackedFrame::Action::refreshed;
    if (i % 10 == 0) {
      record.true_error = i == 77770 ? 5.0 : 0.02;
      record.covered = i % 20 == 0;
    }
    log.push_back(record);
  }
  EXPECT_EQ(log.size(), static_cast<std::size_t>(kFrames));
  EXPECT_EQ(log.true_error.size(), static_cast<std::size_t>(kFrames / 10));
  EXPECT_EQ(log.covered, kFrames / 20);
  EXPECT_EQ(log.true_error.quantile(1), 5.0);
  for (const auto* records : {&log.frames(), &log.verified(), &log.renewals()}) {
    EXPECT_LE(records->size(), 2048u);
    EXPECT_GE(records->size(), 1000u);
    EXPECT_TRUE(std::is_sorted(records->begin(), records->end(),
                               [](const FrameRecord& a, const FrameRecord& b) { return a.index < b.index; }));
    EXPECT_GE(records->back().index, kFrames - 600);
  }
  const auto has = [](const std::vector<FrameRecord>& records, std::int64_t index) {
    return std::any_of(records.begin(), records.end(),
                       [&](const FrameRecord& r) { return r.index == index; });
  };
  EXPECT_TRUE(has(log.frames(), 123456));
  EXPECT_TRUE(has(log.verified(), 77770));
}

}  // namespace
}  // namespace sfft::video::frame_log_test
