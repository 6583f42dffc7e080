// SPDX-License-Identifier: Apache-2.0
// Compares the GPU's conversions of block16 bit by bit with the host's.
#include <cmath>
#include <cstring>

#include "kernels/cuda/stages/stored_values.hpp"
#include "kernels/dense/cpu/stored_values.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/stored_floats.hpp"

namespace sfft::test::block16_cuda_test {
namespace {

using dense::Storage;

class Block16Cuda : public GpuTest {};

TEST_F(Block16Cuda, ConversionsAreThoseOfTheHost) {
  constexpr std::int64_t kBatch = 3;
  for (const std::int64_t count : {1, 2, 31, 32, 33, 64, 1000, 40007}) {
    const std::vector<float> values = floats_of_every_size(static_cast<std::size_t>(kBatch * count));
    const std::size_t bytes = detail::storage_bytes(Storage::block16, count);
    std::vector<std::byte> expected(bytes * kBatch);
    std::vector<float> back(values.size());
    for (std::int64_t b = 0; b < kBatch; ++b) {
      std::byte* const own = expected.data() + static_cast<std::size_t>(b) * bytes;
      detail::write_stored(values.data() + b * count, count, 0, 0, Storage::block16, own);
      detail::read_stored(own, Storage::block16, count, 0, back.data() + b * count);
    }
    const OnDevice<float> from(values), widened(values.size());
    const OnDevice<std::byte> stored(std::vector<std::byte>(expected.size()));  // padding is 0
    detail::cuda::launch_narrow_blocks(from.get(), kBatch, count, 1, stored.get(), nullptr);
    EXPECT_TRUE(stored.read() == expected) << count;
    detail::cuda::launch_widen_blocks(stored.get(), kBatch, count, widened.get(), nullptr);
    const std::vector<float> found = widened.read();
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (std::isnan(back[i])) {
        ASSERT_TRUE(std::isnan(found[i])) << count << " " << i;
      } else {
        ASSERT_EQ(std::memcmp(&found[i], &back[i], sizeof back[i]), 0) << count << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace sfft::test::block16_cuda_test
