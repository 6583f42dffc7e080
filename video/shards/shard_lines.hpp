// SPDX-License-Identifier: Apache-2.0
// The lines of a shard's file: what the run is, then a line for each recording that was read to its end.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "video/pipeline/run.hpp"
#include "video/shards/shard.hpp"

namespace sfft::video {

/// What all shards of a run agree on, and which of them this is.
struct ShardRun {
  Shard shard;
  std::vector<std::pair<std::string, std::string>> settings;  ///< all that results depend on: name and value
  std::size_t inputs = 0;                                     ///< recordings of all shards
  std::uint32_t inputs_crc32 = 0;                             ///< of their paths, in order

  /// What of another shard's run is not as in this one, in words; empty: nothing.
  std::string difference(const ShardRun& other) const;
};

/// The paths as a part of a ShardRun.
std::uint32_t crc32_of_inputs(const std::vector<std::string>& inputs) noexcept;

struct ShardRecord {
  std::size_t input = 0;  ///< its place in the list of all recordings, from 0
  std::string path;       ///< for people
  std::string stamp;      ///< of its files when they were read: input_stamp()
  int code = 0;           ///< exit code of that recording; only 0 needs no second reading
  RunStatus status = RunStatus::complete;
  std::string message;
  std::string report;  ///< json_report(), without line breaks when it was read from a file
};

/// Lines with their ends.
std::string shard_head_line(const ShardRun& run);
std::string shard_record_line(const ShardRecord& record);

struct ShardContents {
  ShardRun run;
  std::vector<ShardRecord>
      records;                  ///< in the order of the file; of several for one input the last one counts
  bool headed = false;          ///< false: the file is empty, or its first line was cut off
  bool cut = false;             ///< a line at the end is not whole: its writer was killed
  std::size_t whole_bytes = 0;  ///< before that line
};

/// `path` is for messages. Throws Error(file_corrupt) for a line that is damaged and not the last one, and
/// for text that is no shard's; Error(file_version) for one of a later version.
ShardContents parse_shard_lines(const std::string& text, const std::string& path);

/// Throws Error(file_unreadable) too.
ShardContents read_shard(const std::string& path);

}  // namespace sfft::video
