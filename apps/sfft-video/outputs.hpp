// SPDX-License-Identifier: Apache-2.0
// Manages the outputs of a command. They are checked before anything is read, and saved independently of each
// other.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernels/runtime/output_file.hpp"
#include "video/report/hdf5_file.hpp"
#include "video/report/reconstruction.hpp"
#include "video/report/report.hpp"

namespace sfft::apps {

/// Wrong usage, for which main() returns exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Creates a folder for outputs if it does not exist. Throws UsageError if it cannot be created or written
/// to.
void make_folder(const std::string& folder);

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
  /// Returns false after a failure, which also ends the output: its space on a full disk is free for others.
  template <class Writer>
  bool write(const char* name, const Writer& writer) noexcept {
    const auto file = files_.find(name);
    if (file == files_.end() || guarded([&] { writer(file->second); })) return true;
    files_.erase(file);
    return false;
  }
  /// Runs any other action with the same handling of failures. The action is no std::function, because
  /// constructing one could throw in the caller.
  template <class Action>
  bool guarded(const Action& action) noexcept {
    try {
      action();
      return true;
    } catch (const std::exception&) {
      complain_of_output();
      failed_ = true;
      return false;
    }
  }
  bool failed() const noexcept { return failed_; }

 protected:
  std::map<std::string, detail::OutputFile, std::less<>> files_;

 private:
  static void complain_of_output() noexcept;
  void compare(const detail::OutputFile& file) const;

  std::vector<std::string> inputs_;
  bool on_standard_output_ = false;
  bool failed_ = false;
};

/// The outputs of a run over one input.
class RunOutputs : public ReportFiles {
 public:
  /// Also throws UsageError for an output that is the template.
  explicit RunOutputs(const RunCommand& command);

  /// The writer of spectra and reconstructions; null if neither is requested. It never throws: a failure ends
  /// only the output concerned.
  video::SpectrumSink* spectra() noexcept;
  /// The frame rate of a reconstruction; call before the run.
  void set_frame_rate(double frames_per_second) noexcept { frame_rate_ = frames_per_second; }
  /// Adds a line to the CSV file, which is written during the run.
  void add(const video::FrameRecord& frame) noexcept;
  /// Writes every output, even if others fail, and reports failures on standard error.
  void save_all(const video::RunReport& report);

 private:
  /// Writes spectra and reconstructions, each until its first failure.
  class Spectra final : public video::SpectrumSink {
   public:
    explicit Spectra(RunOutputs& outputs) : outputs_(outputs) {}
    void write(std::int64_t frame, const Spectrum<float>& spectrum) override;
    void write(std::int64_t frame, const Spectrum<float>& spectrum, const SignalView& view) override;
    std::unique_ptr<video::SpectraFile> file;
    std::unique_ptr<video::ReconstructionFilm> film;

   private:
    RunOutputs& outputs_;
  };

  double frame_rate_ = 0;
  Spectra spectra_{*this};
  std::string csv_lines_ = video::csv_header();  ///< lines not written yet
};

}  // namespace sfft::apps
