// SPDX-License-Identifier: Apache-2.0
// The standard streams, which may be closed, full or unwritable: nothing of that ends a run.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>

namespace sfft::apps {

/// Takes the places of standard streams that are closed, so that no file that is opened later lands there and
/// is written to as if it were one. What stands in can be neither read nor written.
void hold_standard_streams() noexcept;

/// Writes a text; for standard output a failure is remembered.
void put(std::FILE* stream, std::string_view text) noexcept;

/// fmt::print without its exceptions.
template <class... Arguments>
void print(std::FILE* stream, fmt::format_string<Arguments...> format, Arguments&&... arguments) noexcept {
  try {
    put(stream, fmt::format(format, std::forward<Arguments>(arguments)...));
  } catch (const std::exception&) {
    put(stream, "sfft-video: out of memory\n");
  }
}

/// One line on standard error: what is wrong, fit for a terminal.
void complain(std::string_view message) noexcept;

/// Whether anything that went to standard output is lost. Flushes it.
bool standard_output_lost() noexcept;

}  // namespace sfft::apps
