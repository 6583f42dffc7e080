// SPDX-License-Identifier: Apache-2.0
// Manages the reports of a command. They are checked before anything is read, and saved independently of each
// other.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernels/base/output_file.hpp"
#include "outputs.hpp"

namespace sfft::apps {

class ReportFiles {
 public:
  struct Named {
    const char* name;
    const std::string& path;  ///< empty: not requested; "-": standard output
  };
  /// Throws UsageError for an output that cannot be written, is given twice, or is an input.
  ReportFiles(std::vector<std::string> inputs, std::initializer_list<Named> outputs);

  /// Checks a file that is written by other means. Throws UsageError if it is not writable, is an input, or
  /// is one of the outputs.
  void refuse(const std::string& path) const;
  /// Applies a check to an output if it is requested. Throws UsageError if the check throws.
  void check(const char* name, const std::function<void(const detail::OutputFile&)>& action) const;

  /// Whether a report goes to standard output, which then receives nothing else.
  bool on_standard_output() const noexcept { return on_standard_output_; }

  /// Writes an output if requested. A failure is reported on standard error and does not stop the others.
  template <class Text>
  void save(const char* name, const Text& text) noexcept {
    write(name, [&](detail::OutputFile& file) {
      file.write(text());
      file.commit();
    });
  }
  template <class Writer>
  void write(const char* name, const Writer& writer) noexcept {
    guarded([&] {
      const auto file = files_.find(name);
      if (file != files_.end()) writer(file->second);
    });
  }
  /// Runs any other action with the same handling of failures.
  template <class Action>
  void guarded(const Action& action) noexcept {
    if (!guarded_output(action)) failed_ = true;
  }
  bool failed() const noexcept { return failed_; }

 private:
  void compare(const detail::OutputFile& file) const;

  std::vector<std::string> inputs_;
  std::map<std::string, detail::OutputFile> files_;
  bool on_standard_output_ = false;
  bool failed_ = false;
};

}  // namespace sfft::apps
