// SPDX-License-Identifier: Apache-2.0
// Finds sizes of small pictures whose transforms are fast.
#pragma once

#include <initializer_list>

namespace sfft::video {

/// The smallest even number that is at least `min` and has only the factors 2, 3 and 5.
constexpr int friendly_size(int min) {
  for (int n = min + min % 2;; n += 2) {
    int rest = n;
    for (const int p : {2, 3, 5})
      while (rest % p == 0) rest /= p;
    if (rest == 1) return n;
  }
}

}  // namespace sfft::video
