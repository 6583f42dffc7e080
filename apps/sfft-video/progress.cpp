// SPDX-License-Identifier: Apache-2.0
// Estimates the remaining time from the mean rate.
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sfft::apps {

void Progress::update(std::int64_t done, std::int64_t expected) {
  if (!line_.due()) return;
  const double rate = static_cast<double>(done) / line_.seconds();
  if (expected > 0) {
    const double left = static_cast<double>(expected - done) / rate;
    line_.show(fmt::format("{}/{} frames ({:.0f} %), {:.0f} per second, {:.0f} s left", done, expected,
                           100.0 * static_cast<double>(done) / static_cast<double>(expected), rate,
                           std::max(left, 0.0)));
  } else {
    line_.show(fmt::format("{} frames, {:.0f} per second", done, rate));
  }
}

}  // namespace sfft::apps
