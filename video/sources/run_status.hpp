// SPDX-License-Identifier: Apache-2.0
// How the reading of an input ended, as the reports name it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sfft::video {

/// In rising order of severity: of several inputs, the largest counts.
enum class RunStatus : std::uint8_t {
  complete,
  not_read,       ///< the run ended before it came to this input
  input_damaged,  ///< what was read before the damage is in the report
  interrupted,    ///< by a signal
  failed          ///< for want of memory, by a device or by a defect
};

/// "complete", "input_damaged", …, as in the reports.
const char* to_string(RunStatus status) noexcept;
/// Empty for a name that to_string() never returns.
std::optional<RunStatus> run_status_named(std::string_view name) noexcept;

}  // namespace sfft::video
