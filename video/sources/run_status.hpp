// SPDX-License-Identifier: Apache-2.0
// How the reading of an input ended, as the reports name it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sfft::video {

/// In rising order of severity: of several inputs, the largest counts.
enum class RunStatus : std::uint8_t {
  complete,
  not_read,         ///< the run ended before it came to this input
  input_damaged,    ///< what was read before the damage is in the report
  interrupted,      ///< by a signal
  failed,           ///< by the options, a device or a defect
  out_of_resources  ///< memory or threads were short
};

/// "complete", "input_damaged", …, as in the reports.
const char* to_string(RunStatus status) noexcept;
/// Empty for a name that to_string() never returns.
std::optional<RunStatus> run_status_named(std::string_view name) noexcept;

/// For a catch block: the status and message of what was thrown while an input was read. InputError and
/// frames that change their size are damage, a lack of memory or threads is of resources, all else a failure.
std::pair<RunStatus, std::string> thrown_status() noexcept;

}  // namespace sfft::video
