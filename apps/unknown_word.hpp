// SPDX-License-Identifier: Apache-2.0
// Finds an unknown word in a command line, because CLI11 asks for required
// options before it looks for one.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

namespace sfft::apps {

/// Call after parsing has failed. Returns a first word that is not a sub-command, or an option that its
/// sub-command lacks; empty if the error is something else.
inline std::string unknown_word(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  const std::vector<const CLI::App*> chosen =
      app.get_subcommands([](const CLI::App* command) { return command->parsed(); });
  const auto word = chosen.empty() ? words.begin() : std::ranges::find_if(words, [](const std::string& text) {
    return text.size() > 1 && text.starts_with('-');
  });
  if (word == words.end()) return "";
  const std::string what = chosen.empty()
                               ? "neither a sub-command nor an option of " + app.get_name()
                               : "no option of " + app.get_name() + " " + chosen.front()->get_name();
  return "'" + *word + "' is " + what + "\nRun with --help for more information.\n";
}

}  // namespace sfft::apps
