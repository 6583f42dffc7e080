// SPDX-License-Identifier: Apache-2.0
// Rejects a support with an index out of range, a duplicate, or both frequencies of a conjugate pair, and
// names the offending index.
#include "template/data/template_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sfft/error.hpp"

namespace sfft::detail {

void check_support(const Shape& shape, bool real, const std::vector<std::int64_t>& support) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorCode::invalid_support, message); };
  if (support.empty()) refuse("the support is empty: k must be at least 1");
  if (support.front() < 0 || support.back() >= shape.points()) {
    refuse(fmt::format("frequency index {} is outside [0, {}) of shape {}",
                       support.front() < 0 ? support.front() : support.back(), shape.points(),
                       shape.to_string()));
  }
  const auto twin = std::adjacent_find(support.begin(), support.end());
  if (twin != support.end()) refuse(fmt::format("frequency index {} is in the support twice", *twin));
  if (!real) return;
  for (const std::int64_t f : support) {
    const std::int64_t mirrored = conjugate_index(shape, f);
    if (mirrored > f && std::binary_search(support.begin(), support.end(), mirrored)) {
      refuse(fmt::format("frequencies {} and {} are a conjugate pair of a real signal: keep one of them", f,
                         mirrored));
    }
  }
}

}  // namespace sfft::detail
