// SPDX-License-Identifier: Apache-2.0
// Tests copies with non-temporal stores at every alignment, and that their surroundings do not change.
#include "kernels/cpu/platform/non_temporal.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sfft::detail::cpu::non_temporal_test {
namespace {

TEST(PastCaches, CopiesAtEveryAlignment) {
  constexpr std::size_t kRoom = 512;
  std::vector<std::byte> from(kRoom);
  for (std::size_t i = 0; i < kRoom; ++i) from[i] = static_cast<std::byte>(i * 37 + i / 251);
  for (std::size_t source = 0; source < 20; ++source) {
    for (std::size_t target = 0; target < 65; ++target) {
      for (const std::size_t bytes : {0, 1, 15, 63, 64, 65, 130, 200, 333}) {
        constexpr auto kUntouched = std::byte{0xA5};
        std::vector<std::byte> to(kRoom, kUntouched);
        copy_non_temporal(to.data() + target, from.data() + source, bytes);
        non_temporal_fence();
        for (std::size_t i = 0; i < kRoom; ++i) {
          const bool copied = i >= target && i < target + bytes;
          ASSERT_EQ(to[i], copied ? from[source + i - target] : kUntouched)
              << "byte " << i << " of " << bytes << " from " << source << " to " << target;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sfft::detail::cpu::non_temporal_test
