// SPDX-License-Identifier: Apache-2.0
// The parsed command line of sfft-video.
#pragma once

#include <iosfwd>
#include <string>

#include "commands.hpp"

namespace sfft::apps {

struct CommandLine {
  enum class Command : std::uint8_t { none, run, learn, vibration, guard, triage, merge, info };
  Command command = Command::none;
  int exit_code = kFine;  ///< for the command `none`: help or an error was printed
  RunCommand run;
  LearnCommand learn;
  VibrationCommand vibration;
  GuardCommand guard;
  TriageCommand triage;
  MergeCommand merge;
  std::string info;
};

CommandLine parse_command_line(int argc, const char* const* argv, std::ostream& out, std::ostream& error);

}  // namespace sfft::apps
