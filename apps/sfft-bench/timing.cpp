// SPDX-License-Identifier: Apache-2.0
// The median of an even number of values is the upper one. Caches are evicted by summing a larger buffer.
#include "timing.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace sfft::apps {

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void evict_caches() {
  static std::vector<std::int64_t> ballast(std::size_t{8} << 20, 1);
  [[maybe_unused]] static volatile std::int64_t sink;  // keeps the compiler from removing the sum
  sink = std::accumulate(ballast.begin(), ballast.end(), std::int64_t{0});
}

}  // namespace sfft::apps
