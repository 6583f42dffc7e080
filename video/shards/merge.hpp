// SPDX-License-Identifier: Apache-2.0
// Merges the shards of one run.
#pragma once

#include <string>
#include <vector>

#include "video/shards/shard_lines.hpp"

namespace sfft::video {

struct MergedRun {
  ShardRun run;                         ///< its member `shard` has no meaning
  std::vector<ShardRecord> recordings;  ///< in the order of the run's inputs
  std::vector<std::string> missing;     ///< sentences that say what is missing; empty if complete
  RunStatus status = RunStatus::complete;
  std::string message;  ///< the first entry of `missing`, else that of the first incomplete recording
};

/// Reads the shards' files; a folder stands for all shards in it. Throws Error(invalid_argument) if two files
/// belong to different runs or are the same shard. Throws Error(file_unreadable) if there are no files or one
/// cannot be read, and the errors of parse_shard_lines(). Missing parts are not an error here.
MergedRun merge_shards(const std::vector<std::string>& paths);

/// The report of a run over several inputs, as `sfft-video run` writes it.
std::string merged_json(const MergedRun& merged);
/// CSV with one line per recording.
std::string merged_csv(const MergedRun& merged);
/// A few lines for a terminal.
std::string merged_summary(const MergedRun& merged);

}  // namespace sfft::video
