// SPDX-License-Identifier: Apache-2.0
// One recording of `sfft-video run`, and what a run over several of them shares.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "commands.hpp"

namespace sfft::apps {

struct RunOutcome {
  int code = kFine;
  video::RunStatus status = video::RunStatus::complete;
  std::string message;
  std::string json;  ///< where RunCommand::keep_json asks for it
};

/// A command with one input, and no {} in the names of its outputs.
RunOutcome run_one(RunCommand command, const std::atomic<bool>& stop);

/// The command for one of several inputs; `name` fills the {} in the names of outputs.
RunCommand command_for(const RunCommand& command, const std::string& input, const std::string& name);

/// Throws UsageError where one file would have to hold the output of several inputs.
void check_output_names(const RunCommand& command);

/// Those recordings that one of several processes reads, with their results in a file of its own.
int run_shard(const RunCommand& command, const std::vector<std::string>& inputs,
              const std::atomic<bool>& stop);

}  // namespace sfft::apps
