// SPDX-License-Identifier: Apache-2.0
// Fuzzes the command line of sfft-video, one word per line: parsing ends in a command with options in range,
// in help, or in exit code 2. Nothing is opened except by the checks of options.
#include "commands.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  using sfft::apps::CommandLine;
  std::vector<std::string> words{"sfft-video"};
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes), count));
  for (std::string word; words.size() < 40 && std::getline(text, word);)
    words.push_back(word.substr(0, word.find('\0')));
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out, error;
  const CommandLine line =
      sfft::apps::parse_command_line(static_cast<int>(argv.size()), argv.data(), out, error);
  if (line.command == CommandLine::Command::none && line.exit_code != 0 && line.exit_code != 2) std::abort();
  if (line.command == CommandLine::Command::run) {
    const auto& options = line.run.options;
    const auto gpus = options.device.gpus();
    if (options.k < 0 || !(options.energy >= 0 && options.energy <= 1) || !(options.accuracy >= 0) ||
        !(options.max_samples >= 0 && options.max_samples <= 1) || options.threads < 0 ||
        options.verify < 0 || options.frames < 0 ||
        std::ranges::any_of(gpus, [](int gpu) { return gpu < 0; })) {
      std::abort();
    }
  }
  return 0;
}
