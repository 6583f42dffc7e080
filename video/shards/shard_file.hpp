// SPDX-License-Identifier: Apache-2.0
// The file that a shard writes: what an earlier start of it has finished, and what this one adds.
#pragma once

#include <map>
#include <string>

#include "kernels/base/output_target.hpp"
#include "video/shards/shard_lines.hpp"

namespace sfft::video {

/// Lines are appended and are on the disk when add() returns, so that a kill loses the recordings that were
/// being read and no others. One process writes at a time.
class ShardFile {
 public:
  /// Opens or makes FOLDER/shard-I-of-N.jsonl. The folder is made where it is missing. A line that a kill has
  /// cut off is removed. Throws Error(invalid_argument) where the file, or another one of the folder, is of
  /// another run; Error(file_unreadable) where it cannot be written or another process writes it; and what
  /// parse_shard_lines() throws.
  ShardFile(const std::string& folder, const ShardRun& run);

  const std::string& path() const noexcept { return path_; }
  /// What an earlier start found out about an input; null where the input is to be read: it was not read to
  /// its end, not well, or not as it is now.
  const ShardRecord* finished(std::size_t input, const std::string& stamp) const;
  /// Throws Error(file_unreadable) if it cannot be written.
  void add(const ShardRecord& record);

 private:
  void append(const std::string& line);
  void remember(const ShardRecord& record);

  std::string path_;
  detail::Descriptor file_;
  std::map<std::size_t, ShardRecord> known_;
};

/// The files of shards in a folder, by name. Throws Error(file_unreadable) where it cannot be listed.
std::vector<std::string> list_shards(const std::string& folder);

}  // namespace sfft::video
