// SPDX-License-Identifier: Apache-2.0
// What a run over many files has finished, kept in a file so that a later run goes on from there.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "video/triage/recording.hpp"

namespace sfft::video {

/// Changes with the names, sizes and times of the files; empty for a single one.
std::string sequence_stamp(std::span<const std::string> files);

/// Results of files that were read to their end, and parts of those that were not, by path. Both count as
/// long as the file's size and time of modification stay as they were, and as the options do.
class TriageState {
 public:
  /// An empty path: nothing is kept. Reads the file if there is one. Throws Error(file_unreadable) if it
  /// cannot be read, and Error(file_corrupt) if it is something else: nothing writes over that.
  TriageState(std::string path, const TriageOptions& options);

  /// Returns the result of an earlier run, marked as resumed.
  /// `context`: files that the result depends on as well, by sequence_stamp().
  std::optional<TriageFile> find(const std::string& file, const std::string& context = {}) const;
  /// Returns how far an earlier run had read an unfinished file; null if it had not begun.
  const TriagePart* find_part(const std::string& file) const;
  /// Keeps how far a file has been read, until its result comes.
  void keep_part(TriagePart part);
  /// Keeps a complete result, and writes the file unless that would take a good part of the time. Throws
  /// Error(file_unreadable) if that fails.
  void keep(const TriageFile& file, const std::string& context = {});
  /// Writes the whole file, if it lacks anything.
  void save();

  /// Whether the file was written with other options, so that its results do not count.
  bool other_options() const noexcept { return other_options_; }

 private:
  struct Entry {
    TriageFile file;
    std::string stamp;
  };
  struct PartEntry {
    TriagePart part;
    std::string stamp;
  };
  void save_now_and_then();

  std::string path_, options_;
  bool other_options_ = false;
  bool unsaved_ = false;
  std::chrono::steady_clock::time_point next_save_{};
  std::map<std::string, Entry> entries_;
  std::map<std::string, PartEntry> parts_;
};

}  // namespace sfft::video
