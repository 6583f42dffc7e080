// SPDX-License-Identifier: Apache-2.0
// Names the first word of a command line that is no sub-command: CLI11 says only that one is required.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sfft::apps {

/// Call it when parsing has failed. Empty where the sub-command is not what is wrong.
inline std::string unknown_command(const CLI::App& app) {
  if (!app.get_subcommands().empty() || app.remaining().empty()) return "";
  return "'" + app.remaining().front() + "' is neither a sub-command nor an option of " + app.get_name() +
         "\nRun with --help for more information.\n";
}

}  // namespace sfft::apps
