// SPDX-License-Identifier: Apache-2.0
// Names the word of a command line that nobody knows: CLI11 asks for what is required before it looks for
// one.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

namespace sfft::apps {

/// Call it when parsing has failed. A first word that is no sub-command, or an option that its sub-command
/// does not have; empty where neither is what is wrong.
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
