// SPDX-License-Identifier: Apache-2.0
// Handles standard streams that may be closed, full or unwritable, so that they do not end a run.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>

namespace sfft::apps {

/// Opens placeholders for closed standard streams. Otherwise a file opened later would get such a descriptor
/// and be written to by mistake. The placeholders can be neither read nor written.
void hold_standard_streams() noexcept;

/// Writes text; remembers a failure on standard output.
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

/// Prints an error message as one line on standard error, safe for a terminal.
void complain(std::string_view message) noexcept;

/// Whether any standard output was lost. Flushes it.
bool standard_output_lost() noexcept;

}  // namespace sfft::apps
