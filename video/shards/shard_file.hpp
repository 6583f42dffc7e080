// SPDX-License-Identifier: Apache-2.0
// The file that a shard writes. It contains the results of earlier starts, to which this start appends.
#pragma once

#include <map>
#include <string>

#include "kernels/runtime/output_target.hpp"
#include "video/shards/shard_lines.hpp"

namespace sfft::video {

/// add() appends a line and returns when it is on disk, so a killed process loses only the recording that it
/// reads. Only one process writes at a time.
class ShardFile {
 public:
  /// Opens or creates FOLDER/shard-I-of-N.jsonl, and the folder if missing. Removes a line truncated by a
  /// kill. Throws Error(invalid_argument) if the file, or another one in the folder, belongs to another run;
  /// Error(file_unreadable) if it cannot be written or another process writes it; and the errors of
  /// parse_shard_lines().
  ShardFile(const std::string& folder, const ShardRun& run);

  const std::string& path() const noexcept { return path_; }
  /// Returns an earlier start's result for an input, without its report. Null if the input must be read: it
  /// was not read to its end, had errors, or has changed since.
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

/// The shard files in a folder, sorted by name. Throws Error(file_unreadable) if it cannot be listed.
std::vector<std::string> list_shards(const std::string& folder);

}  // namespace sfft::video
