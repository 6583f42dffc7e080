// SPDX-License-Identifier: Apache-2.0
// `sfft-video run` for one recording, and helpers for several recordings.
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
  std::string json;  ///< if RunCommand::keep_json requests it
};

/// Runs a command that has one input and no {} in the names of its outputs.
RunOutcome run_one(RunCommand command, const std::atomic<bool>& stop);

/// The command for one of several inputs; `name` fills the {} in the names of outputs.
RunCommand command_for(const RunCommand& command, const std::string& input, const std::string& name);

/// Throws UsageError if several inputs would write to the same output file. A common JSON report is allowed.
void check_output_names(const RunCommand& command);

/// Runs the recordings of one shard, and appends the results to the shard's file.
int run_shard(const RunCommand& command, const std::vector<std::string>& inputs,
              const std::atomic<bool>& stop);

}  // namespace sfft::apps
