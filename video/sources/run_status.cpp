// SPDX-License-Identifier: Apache-2.0
// One table for both directions.
#include "video/sources/run_status.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sfft::video {

namespace {

constexpr std::array kNames{"complete", "not_read", "input_damaged", "interrupted", "failed"};

}  // namespace

const char* to_string(RunStatus status) noexcept {
  return kNames[static_cast<std::size_t>(status)];
}

std::optional<RunStatus> run_status_named(std::string_view name) noexcept {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<RunStatus>(found - kNames.begin());
}

}  // namespace sfft::video
