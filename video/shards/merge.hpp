// SPDX-License-Identifier: Apache-2.0
// The shards of one run, put together.
#pragma once

#include <string>
#include <vector>

#include "video/shards/shard_lines.hpp"

namespace sfft::video {

struct MergedRun {
  ShardRun run;                         ///< its shard says nothing
  std::vector<ShardRecord> recordings;  ///< in the order of the run's inputs
  std::vector<std::string> missing;     ///< what is not there, in sentences; empty: all of it is
  RunStatus status = RunStatus::complete;
  std::string message;  ///< of the first recording that is not complete
};

/// Reads the shards' files; a folder stands for all that are in it. Throws Error(invalid_argument) where two
/// are of different runs or are the same shard, Error(file_unreadable) where there are none or one cannot be
/// read, and what parse_shard_lines() throws. What is missing is no error here.
MergedRun merge_shards(const std::vector<std::string>& paths);

/// The report of a run over several inputs, as `sfft-video run` writes it.
std::string merged_json(const MergedRun& merged);
/// A line for each recording.
std::string merged_csv(const MergedRun& merged);
/// A few lines for a terminal.
std::string merged_summary(const MergedRun& merged);

}  // namespace sfft::video
