// SPDX-License-Identifier: Apache-2.0
// The standard streams, which may be closed, full or unwritable without ending a run.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>

namespace sfft::apps {

/// Fills the descriptors of closed standard streams, so that no file opened later lands there and is written
/// to by mistake. The stand-ins can be neither read nor written.
void hold_standard_streams() noexcept;

/// Writes a text; a failure on standard output is remembered.
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

/// Prints one line on standard error that says what is wrong, safe for a terminal.
void complain(std::string_view message) noexcept;

/// Whether anything that went to standard output is lost. Flushes it.
bool standard_output_lost() noexcept;

}  // namespace sfft::apps
