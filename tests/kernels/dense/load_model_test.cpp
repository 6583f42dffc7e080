// SPDX-License-Identifier: Apache-2.0
// Tests how out-of-core work is partitioned, and the times that the load model predicts.
#include "kernels/dense/out_of_core/load_model.hpp"

#include <gtest/gtest.h>

namespace sfft::detail::load_model_test {
namespace {

TEST(Partition, CoversAllUnitsInWholeGrains) {
  for (const std::int64_t units : {1, 7, 64, 1000}) {
    for (const std::int64_t grain : {1, 16}) {
      for (const std::int64_t max : {16, 48, 4000}) {
        for (const int streams : {1, 3}) {
          for (double share = 0; share <= 1; share += 0.125) {
            const Partition partition = make_partition({units, grain, max, 4, streams}, share);
            EXPECT_GE(partition.device_units, 0);
            EXPECT_LE(partition.device_units, units);
            EXPECT_TRUE(partition.device_units % grain == 0 || partition.device_units == units);
            EXPECT_NEAR(static_cast<double>(partition.device_units), (1 - share) * static_cast<double>(units),
                        static_cast<double>(grain));
            if (partition.device_units == 0) continue;
            EXPECT_LE(partition.piece_units, max);
            EXPECT_EQ(partition.piece_units % grain, 0);
            EXPECT_GE(partition.pieces * partition.piece_units, partition.device_units);
            EXPECT_LT((partition.pieces - 1) * partition.piece_units, partition.device_units);
          }
        }
      }
    }
  }
}

TEST(Partition, PrefersGoodPiecesWhereThereAreEnough) {
  const auto piece = [](std::int64_t units, std::int64_t max) {
    return make_partition({units, 16, max, 1, 3, 2048}, 0).piece_units;
  };
  EXPECT_EQ(piece(1 << 20, 1 << 20) % 2048, 0);
  EXPECT_EQ(piece(16384, 2500), 2048);
  EXPECT_EQ(piece(16384, 1536), 1024) << "half of a good one, where whole ones do not fit";
  EXPECT_EQ(piece(3000, 3000), 256) << "or are too few for the streams";
  EXPECT_EQ(piece(20, 16), 16);
}

TEST(LoadModel, TheDeviceAloneIsPredicted) {
  const PieceLimits limits{100, 1, 10, 1, 3};
  RoundProfile profile{1, 2, 3, 50};
  for (const double us : {250.0, 312.5, 900.0}) {
    profile.overlap = 1;
    profile.overlap = overlap_of(profile, limits, us);
    EXPECT_DOUBLE_EQ(predict(profile, limits, 0).device_us, us);
  }
}

TEST(LoadModel, OneStreamAddsItsSteps) {
  const PieceLimits limits{100, 1, 10, 1, 1};
  // Ten pieces: first one step after the other, then the slower copy overlaps the other one and the kernels.
  EXPECT_DOUBLE_EQ(predict({1, 2, 3, 5}, limits, 0).us, 10 * 6 + 90 * 5);
  EXPECT_DOUBLE_EQ(predict({1, 2, 3, 5}, limits, 1).us, 500);
}

TEST(LoadModel, ThreeStreamsHideTheShorterSteps) {
  const PieceLimits limits{100, 1, 10, 1, 3};
  // 12 pieces of at most 9 units: the chain of the first piece, then the slowest step of each.
  const RoundTimes times = predict({1, 2, 3, 50}, limits, 0);
  const double piece = 100.0 / static_cast<double>(make_partition(limits, 0).pieces);
  EXPECT_DOUBLE_EQ(times.device_us, piece * 6 + (100 - piece) * 3);
  EXPECT_EQ(times.host_us, 0);
}

/// Computed by hand: all threads copy what passes through buffers, after the host's units are done.
TEST(LoadModel, CopiesThroughBuffersTakeTheHostsThreads) {
  const PieceLimits limits{100, 1, 10, 1, 3};
  RoundProfile profile{1, 2, 3, 6};
  profile.copied_us = 5;
  EXPECT_DOUBLE_EQ(predict(profile, limits, 0).us, 100 * 5.0) << "slower than every step of the device";
  EXPECT_DOUBLE_EQ(predict(profile, limits, 0.25).us, 25 * 6.0 + 75 * 5.0);
  EXPECT_DOUBLE_EQ(predict(profile, limits, 0.25).host_us, 25 * 6.0);
  EXPECT_DOUBLE_EQ(predict(profile, limits, 1).us, 600);
  EXPECT_EQ(best_host_share(profile, limits), 0) << "a share of the host delays the copies";
  profile.copied_us = 0.5;
  EXPECT_DOUBLE_EQ(predict(profile, limits, 0).us, predict({1, 2, 3, 6}, limits, 0).us) << "hidden";
}

/// Computed by hand: the one that ends first has worked at the same time as the other throughout.
TEST(LoadModel, EachTakesLongerWhileTheOtherWorks) {
  const PieceLimits limits{100, 1, 10, 1, 3};
  RoundProfile profile{1, 3, 1, 4};
  const RoundTimes alone = predict(profile, limits, 0.25);
  EXPECT_DOUBLE_EQ(alone.host_us, 25 * 4);
  profile.device_loss = 0.2;
  profile.host_loss = 0.5;
  const RoundTimes host_first = predict(profile, limits, 0.25);
  EXPECT_DOUBLE_EQ(host_first.host_us, 200);
  EXPECT_DOUBLE_EQ(host_first.device_us, alone.device_us + 0.2 * 200);
  const RoundTimes device_first = predict(profile, limits, 0.75);
  profile.device_loss = profile.host_loss = 0;
  EXPECT_DOUBLE_EQ(device_first.device_us, predict(profile, limits, 0.75).device_us / 0.8);
  EXPECT_DOUBLE_EQ(device_first.host_us, 300 + 0.5 * device_first.device_us);
  EXPECT_DOUBLE_EQ(predict(profile, limits, 0).host_us, 0);

  Loss loss;
  EXPECT_EQ(loss.value(), 0) << "nothing was seen";
  loss.add(alone.device_us, host_first.device_us, host_first.host_us);
  EXPECT_NEAR(loss.value(), 0.2, 1e-12);
  loss.add(100, 90, 1e6);
  loss.add(100, 90, 1e6);
  loss.add(100, 10, 1e6);
  EXPECT_GE(loss.value(), 0) << "noise is no gain";
}

/// The host works in whole parts, and threads wait for the last of them.
TEST(LoadModel, ThreadsTakeWholeParts) {
  PieceLimits limits{100, 1, 10, 1, 3};
  limits.host_part = 10;
  limits.threads = 4;
  const RoundProfile profile{1, 2, 3, 2};
  EXPECT_DOUBLE_EQ(predict(profile, limits, 1).host_us, 3 * 4 * 10 * 2) << "ten parts in three turns";
  EXPECT_DOUBLE_EQ(predict(profile, limits, 0.4).host_us, 40 * 2);
  EXPECT_DOUBLE_EQ(predict(profile, limits, 0.05).host_us, 4 * 5 * 2) << "one thread has all of it";
}

TEST(LoadModel, TheBestShareBalancesBothProcessors) {
  const PieceLimits limits{100000, 1, 100, 1, 3};
  const RoundProfile profile{1, 0.1, 1, 4};  // a unit takes the device 1, the host 4
  const double share = best_host_share(profile, limits);
  EXPECT_NEAR(share, 1.14 / 5.14, 0.01) << "both directions of the bus take 1.14";
  const RoundTimes best = predict(profile, limits, share);
  EXPECT_NEAR(best.device_us / best.host_us, 1, 0.03);
  EXPECT_LT(best.us, predict(profile, limits, 0).us);
  EXPECT_EQ(best_host_share({1, 1, 1, 1e9}, limits), 0) << "a host that is too slow to help";
}

}  // namespace
}  // namespace sfft::detail::load_model_test
