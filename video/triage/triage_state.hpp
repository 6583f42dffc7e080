// SPDX-License-Identifier: Apache-2.0
// Keeps what a run over many files has finished in a file, so that a later run goes on from there.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "video/triage/recording.hpp"

namespace sfft::video {

/// A string that changes with the names, sizes and times of the files; empty for a single file.
std::string sequence_stamp(std::span<const std::string> files);

/// The results of files that were read to their end, and the parts of others, by path. Both are valid as long
/// as the options and the file's size and time of modification stay the same.
class TriageState {
 public:
  /// Reads the file if there is one. With an empty path nothing is kept. Throws Error(file_unreadable) if the
  /// file cannot be read, and Error(file_corrupt) if it is damaged or something else, which is never
  /// overwritten.
  TriageState(std::string path, const TriageOptions& options);

  /// Returns the result of an earlier run, marked as resumed.
  /// `context`: sequence_stamp() of all files on which the result depends.
  std::optional<TriageFile> find(const std::string& file, const std::string& context = {}) const;
  /// Returns how far an unfinished file was read; null if it was not begun or has changed.
  const TriagePart* find_part(const std::string& file) const;
  /// Keeps how far a file has been read, until keep() gets its result. Writes the file like keep().
  void keep_part(TriagePart part);
  /// Keeps a result if it is complete. Writes the file, unless that would take over 5 % of the time. Throws
  /// Error(file_unreadable) if writing fails.
  void keep(const TriageFile& file, const std::string& context = {});
  /// Writes the whole file if anything has changed.
  void save();

  /// Whether the file was written with other options, so that its results are not used.
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
