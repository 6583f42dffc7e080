// SPDX-License-Identifier: Apache-2.0
// Floats for tests of 16-bit storage.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <random>
#include <vector>

namespace sfft::test {

/// Returns floats of every magnitude in blocks of every kind: ordinary, tiny, huge and, unless `finite` is
/// set, with infinities and NaNs.
inline std::vector<float> floats_of_every_size(std::size_t count, bool finite = false) {
  std::mt19937 random(7);
  std::vector<float> values(count);
  unsigned exponent = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 24 == 0) exponent = static_cast<unsigned>(random()) % (finite ? 255 : 256);
    const unsigned own = exponent - std::min(exponent, static_cast<unsigned>(random()) % 20),
                   bits = static_cast<unsigned>(random()) % 2 << 31 | own << 23 |
                          static_cast<unsigned>(random()) % 0x800000u;
    values[i] = std::bit_cast<float>(bits);
  }
  return values;
}

}  // namespace sfft::test
