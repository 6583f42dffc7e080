// SPDX-License-Identifier: Apache-2.0
// Status of reading an input, as the reports name it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sfft::video {

/// In order of severity, so that a command can report the worst status of its inputs.
enum class RunStatus : std::uint8_t {
  complete,
  not_read,         ///< the run ended before this input's turn
  input_damaged,    ///< what was read before the damage is in the report
  interrupted,      ///< by a signal
  failed,           ///< because of the options, a device or a defect
  out_of_resources  ///< memory or threads were short
};

/// "complete", "input_damaged", …, as in the reports.
const char* to_string(RunStatus status) noexcept;
/// The status of this name; empty for a name that to_string() never returns.
std::optional<RunStatus> run_status_named(std::string_view name) noexcept;

/// Call it in a catch block: returns the status and message of the exception thrown while an input was read.
/// InputError and a change of frame size mean damaged input. A lack of memory or threads means out of
/// resources. Anything else is a failure.
std::pair<RunStatus, std::string> thrown_status() noexcept;

}  // namespace sfft::video
