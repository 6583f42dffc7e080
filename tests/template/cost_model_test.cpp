// SPDX-License-Identifier: Apache-2.0
// Tests that the cost model has the order of magnitude of published measurements, and that more work never
// costs less.
#include "template/planning/cost_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sfft::detail::cost_model_test {
namespace {

CombCost comb(std::int64_t points, std::int64_t buckets, std::int64_t delays, std::int64_t k, bool real) {
  const std::int64_t samples = buckets * delays;
  return {points, samples, buckets, delays, samples, k, real, samples};
}

/// Expects a prediction within a factor of the measurement, because only rough ratios of predictions matter.
void expect_about(double predicted_us, double measured_us, double factor) {
  EXPECT_LE(std::abs(std::log(predicted_us / measured_us)), std::log(factor))
      << predicted_us << " us predicted, " << measured_us << " us measured";
}

TEST(CostModel, IsWithinAFactorOfWhatWasMeasured) {
  // One core; tables "known-support", "video" and "discover" of docs/benchmarks.md.
  expect_about(predict_comb_us(comb(1 << 22, 68, 4, 64, false)), 2.64, 4);
  expect_about(predict_comb_us(comb(1 << 20, 1156, 4, 1000, false)), 20, 4);
  expect_about(predict_dense_us(Shape{1 << 20}, false), 10000, 5);
  expect_about(predict_dense_us(Shape{1 << 24}, false), 239000, 5);
}

TEST(CostModel, GpuBatchesOverlapReadsAndArithmetic) {
  // Batches of recordings on an H200, bench/results/h200/sparse.json: 40x128 buckets of 1080p fill whole
  // rows, 54x48 have a sector for each sample.
  struct {
    Shape shape;
    std::int64_t buckets, delays, sectors;
    double measured_us;
  } const cases[] = {{Shape{1080, 1920}, 5120, 4, 160 * 60, 0.240},
                     {Shape{1080, 1920}, 2592, 8, 2592 * 8, 0.383},
                     {Shape{432, 768}, 3456, 8, 288 * 24, 0.295},
                     {Shape{360, 640}, 2400, 8, 240 * 20, 0.204},
                     {Shape{576, 768}, 4608, 8, 512 * 24, 0.360}};
  for (const auto& known : cases) {
    CombCost cost = comb(known.shape.points(), known.buckets, known.delays, 1000, true);
    cost.sectors = known.sectors;
    expect_about(predict_comb_device_us(cost, 132, 256), known.measured_us, 1.2);
  }
}

TEST(CostModel, DenseTransformsOfBytesOnAGpu) {
  // bench_cuda_sparse --choice on an H200, with the conversion of bytes and k = 1000 picked.
  struct {
    Shape shape;
    int batch;
    bool tuned;
    double measured_us;
  } const cases[] = {{Shape{1080, 1920}, 1, true, 26.3},  {Shape{1080, 1920}, 16, true, 13.9},
                     {Shape{1080, 1920}, 64, true, 12.2}, {Shape{432, 768}, 16, true, 2.53},
                     {Shape{432, 768}, 64, true, 2.22},   {Shape{720, 1280}, 64, true, 5.79},
                     {Shape{240, 320}, 1, false, 13.1},   {Shape{360, 640}, 1, false, 15.4},
                     {Shape{432, 768}, 1, false, 17.5},   {Shape{576, 768}, 1, false, 19.8},
                     {Shape{720, 1280}, 1, false, 28.6},  {Shape{360, 640}, 64, false, 3.21},
                     {Shape{576, 768}, 64, false, 5.70}};
  for (const auto& known : cases)
    expect_about(predict_dense_device_us(known.shape, true, known.batch, known.tuned), known.measured_us,
                 1.2);
  // Page-locked frames, with one frame per call and with many.
  expect_about(
      predict_whole_from_host_us(predict_dense_device_us(Shape{1080, 1920}, true, 1, true), 1080 * 1920, 1),
      89.9, 1.2);
  expect_about(predict_whole_from_host_us(predict_dense_device_us(Shape{360, 640}, true, 1), 360 * 640, 1),
               43.6, 1.2);
  expect_about(
      predict_whole_from_host_us(predict_dense_device_us(Shape{1080, 1920}, true, 64, true), 1080 * 1920, 64),
      56.3, 1.2);
  expect_about(predict_whole_from_host_us(predict_dense_device_us(Shape{576, 768}, true, 64), 576 * 768, 64),
               20.2, 1.3);
}

TEST(CostModel, ABatchThatLeavesMultiprocessorsIdleIsAsSlowAsItsBlocks) {
  // 32 frames of 1080p on an H200, bench/results/h200/sparse.json: twelve pairs of delays with 10800 buckets,
  // one after the other in a block, and staged kernels.
  struct {
    std::int64_t buckets, delays, k;
    double measured_us;
  } const cases[] = {{10800, 24, 4000, 8.88}, {57600, 6, 4000, 6.22},   {57600, 6, 16000, 6.49},
                     {82944, 6, 4000, 8.23},  {172800, 2, 64000, 8.62}, {259200, 4, 64000, 20.5}};
  for (const auto& known : cases) {
    expect_about(
        predict_comb_device_us(comb(1080 * 1920, known.buckets, known.delays, known.k, true), 132, 32),
        known.measured_us, 1.3);
  }
}

TEST(CostModel, MoreWorkNeverCostsLess) {
  for (const bool real : {false, true}) {
    double dense = 0, dense_device = 0;
    for (std::int64_t points = 64; points <= std::int64_t{1} << 28; points *= 4) {
      EXPECT_GT(predict_dense_us(Shape{points}, real), dense) << points;
      EXPECT_GT(predict_dense_device_us(Shape{points}, real, 4), dense_device) << points;
      dense = predict_dense_us(Shape{points}, real);
      dense_device = predict_dense_device_us(Shape{points}, real, 4);
      EXPECT_LT(predict_direct_us(points, 4, real), predict_direct_us(points, 8, real));
      EXPECT_LT(predict_direct_device_us(points, 4), predict_direct_device_us(2 * points, 4));
    }
    for (std::int64_t buckets = 16; buckets <= 1 << 14; buckets *= 2) {
      const auto cost = [&](std::int64_t delays, std::int64_t k) {
        return predict_comb_us(comb(1 << 24, buckets, delays, k, real));
      };
      EXPECT_LT(cost(4, 64), cost(8, 64));
      EXPECT_LT(cost(4, 64), cost(4, 256));
      for (const int batch : {1, 16, 512}) {
        const auto device = [&](std::int64_t delays, std::int64_t k) {
          return predict_comb_device_us(comb(1 << 24, buckets, delays, k, real), 132, batch);
        };
        EXPECT_LE(device(4, 64), device(8, 64)) << buckets << " batch " << batch;
        EXPECT_LE(device(4, 64), device(4, 1024)) << buckets << " batch " << batch;
      }
    }
  }
  EXPECT_LT(predict_flat_device_us(256, 64), predict_flat_device_us(1024, 64));
  EXPECT_LT(predict_flat_device_us(256, 64), predict_flat_device_us(256, 4096));
}

TEST(CostModel, SparseWinsWhereItDoesAndDenseWhereItDoes) {
  // k = 64 of 2^20 points: measured 2,000 times faster than dense. A quarter of 1024 points: dense.
  EXPECT_LT(100 * predict_comb_us(comb(1 << 20, 68, 4, 64, false)), predict_dense_us(Shape{1 << 20}, false));
  EXPECT_GT(predict_comb_us(comb(1024, 256, 4, 256, false)), predict_dense_us(Shape{1024}, false) / 2);
  EXPECT_LT(predict_direct_us(64, 1, true), predict_direct_us(1 << 20, 1000, true));
}

TEST(CostModel, AFrameOfALargerBatchCostsNoMore) {
  for (const bool real : {false, true}) {
    for (std::int64_t buckets = 64; buckets <= 1 << 16; buckets *= 4) {
      const CombCost cost = comb(1 << 21, buckets, 4, 1000, real);
      double before = predict_comb_device_us(cost, 132, 1);
      for (const int batch : {2, 8, 32, 33, 64, 1024}) {
        const double us = predict_comb_device_us(cost, 132, batch);
        EXPECT_LE(us, 1.05 * before) << buckets << " buckets, batch " << batch;
        before = us;
        EXPECT_LE(predict_dense_device_us(Shape{1 << 21}, real, batch, true),
                  predict_dense_device_us(Shape{1 << 21}, real, 1, true));
      }
    }
  }
  // 1080p, k = 1000 from 1 % of the pixels: measured 60 times faster than dense in a batch of 128. Dense must
  // not win in any batch.
  const Shape shape{1080, 1920};
  for (const int batch : {2, 4, 8, 16, 32, 64, 128})
    EXPECT_LT(predict_comb_device_us(comb(shape.points(), 5120, 4, 1000, true), 132, batch),
              predict_dense_device_us(shape, true, batch, true))
        << batch;
}

double from_host_us(const CombCost& cost, int batch) {
  return predict_from_host_us(predict_comb_device_us(cost, 132, batch), cost.bus_bytes, batch);
}

TEST(CostModel, RowsOnABusCostTheirBytes) {
  CombCost cost = comb(1080 * 1920, 4608, 12, 1000, true);
  cost.bus_bytes = 216 * 1920;
  // 216 rows of 1080p: measured 8.2 us alone, and 10 to 12 us with everything else that a frame needs.
  expect_about(predict_bus_us(cost.bus_bytes), 8.2, 1.2);
  expect_about(from_host_us(cost, 64), 11, 1.3);
  CombCost half = cost;
  half.bus_bytes /= 2;
  for (const int batch : {1, 8, 64}) {
    EXPECT_LT(from_host_us(half, batch), from_host_us(cost, batch));
    EXPECT_GT(from_host_us(half, batch), predict_bus_us(half.bus_bytes));
    EXPECT_GT(from_host_us(half, batch), predict_comb_device_us(half, 132, batch));
    // Dense transforms get whole frames over the same bus.
    EXPECT_LT(from_host_us(cost, batch),
              predict_from_host_us(predict_dense_device_us(Shape{1080, 1920}, true, batch, true), 1080 * 1920,
                                   batch));
  }
}

TEST(CostModel, IsFinite) {
  for (const std::int64_t points : {std::int64_t{1}, std::int64_t{2}, std::int64_t{1} << 40}) {
    for (const double us : {predict_dense_us(Shape{points}, true), predict_direct_us(points, 1, false),
                            predict_comb_us(comb(points, 1, 1, 1, false)),
                            predict_comb_device_us(comb(points, 1, 1, 1, false), 1, 1),
                            predict_dense_device_us(Shape{points}, false, 1)}) {
      EXPECT_TRUE(std::isfinite(us));
      EXPECT_GT(us, 0);
    }
  }
}

}  // namespace
}  // namespace sfft::detail::cost_model_test
