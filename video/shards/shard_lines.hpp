// SPDX-License-Identifier: Apache-2.0
// Reads and writes the lines of a shard's file: a description of the run, then one line per recording that
// was read without an interruption.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "video/pipeline/run.hpp"
#include "video/shards/shard.hpp"

namespace sfft::video {

/// The settings that all shards of a run share, and the number of this shard.
struct ShardRun {
  Shard shard;
  std::vector<std::pair<std::string, std::string>> settings;  ///< names and values that results depend on
  std::size_t inputs = 0;                                     ///< recordings over all shards
  std::uint32_t inputs_crc32 = 0;                             ///< of their paths, in order

  /// Describes how another shard's run differs from this one; empty if it does not.
  std::string difference(const ShardRun& other) const;
};

/// The checksum of the paths in a ShardRun.
std::uint32_t crc32_of_inputs(const std::vector<std::string>& inputs) noexcept;

struct ShardRecord {
  std::size_t input = 0;  ///< its index in the list of all recordings, from 0
  std::string path;       ///< for people
  std::string stamp;      ///< input_stamp() of its files when read
  int code = 0;           ///< exit code of that recording; only 0 is final
  RunStatus status = RunStatus::complete;
  std::string message;
  std::string report;  ///< json_report(), without line breaks if read from a file
};

/// The lines, newline included.
std::string shard_head_line(const ShardRun& run);
std::string shard_record_line(const ShardRecord& record);

struct ShardContents {
  ShardRun run;
  std::vector<ShardRecord> records;  ///< in file order; for repeated inputs the last one counts
  bool headed = false;               ///< false: the file is empty, or its first line was truncated
  bool cut = false;                  ///< the last line is incomplete: its writer was killed
  std::size_t whole_bytes = 0;       ///< bytes before that line
};

/// `path` is for messages. Throws Error(file_corrupt) for a damaged line other than the last, and for text
/// that is not a shard; Error(file_version) for a later version.
ShardContents parse_shard_lines(const std::string& text, const std::string& path);

/// Also throws Error(file_unreadable).
ShardContents read_shard(const std::string& path);

}  // namespace sfft::video
