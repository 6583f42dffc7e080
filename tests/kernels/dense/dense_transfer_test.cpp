// SPDX-License-Identifier: Apache-2.0
// Tests how a batch in host memory is cut into parts. Needs the CUDA toolkit to compile but no GPU to run.
#include "kernels/dense/request/device/transfer.hpp"

#include <gtest/gtest.h>

#include "kernels/dense/problem/problem.hpp"

namespace sfft::detail::dense_transfer_test {
namespace {

template <class Real>
void expect_fair_parts(const Shape& shape, bool real) {
  for (const std::int64_t batch : {1, 2, 3, 7, 64, 1000, 4097}) {
    const DenseProblem problem = make_problem(shape, real, {.batch = batch});
    const std::int64_t part = transfer_part<Real>(problem);
    ASSERT_GE(part, 1);
    ASSERT_LE(part, batch);
    // The last part is never nearly empty, because part sizes differ only by the remainder of the division.
    const std::int64_t parts = (batch + part - 1) / part;
    EXPECT_LT(parts * part - batch, parts) << shape.to_string() << " batch " << batch << " part " << part;
    // If there are several parts, one more signal per part would exceed a part's memory limit.
    const std::int64_t own = static_cast<std::int64_t>(sizeof(Real)) * (real ? 1 : 2);
    const std::int64_t bytes = std::max(
        shape.points() * own, problem.spectrum_points() * static_cast<std::int64_t>(2 * sizeof(Real)));
    if (part > 1) {
      EXPECT_LE(part * bytes, std::int64_t{16} << 20) << shape.to_string() << " batch " << batch;
    }
    if (bytes * batch <= std::int64_t{256} << 10) {
      EXPECT_EQ(part, batch) << "a small batch is one part";
    }
  }
}

TEST(DenseTransfer, PartsOfABatchAreFair) {
  for (const Shape& shape : {Shape{16}, Shape{1000}, Shape{1 << 20}, Shape{1080, 1920}, Shape{64, 64, 64}}) {
    for (const bool real : {false, true}) {
      expect_fair_parts<float>(shape, real);
      expect_fair_parts<double>(shape, real);
    }
  }
}

}  // namespace
}  // namespace sfft::detail::dense_transfer_test
