// SPDX-License-Identifier: Apache-2.0
// The parsed command line.
#pragma once

#include <optional>
#include <string>

#include "commands.hpp"

namespace sfft::apps {

enum ExitCode : int { kFine = 0, kFailure = 1, kUsage = 2, kInput = 3, kGpu = 4, kInterrupted = 130 };

struct CommandLine {
  std::string subcommand;
  CommonOptions common;
  SparseOptions sparse;
  NoiseOptions noise;
  DenseOptions dense;
  VideoOptions video;
  TechnologyOptions technologies;
};

/// Fills `line`. Returns an exit code if there is nothing to run: after --help, and after wrong usage, which
/// is reported.
std::optional<int> parse(int argc, char** argv, CommandLine& line);

}  // namespace sfft::apps
