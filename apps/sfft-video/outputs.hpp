// SPDX-License-Identifier: Apache-2.0
// Manages the outputs of a run. They are checked before anything is read, and saved independently of each
// other.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernels/base/output_file.hpp"
#include "video/report/reconstruction.hpp"
#include "video/report/report.hpp"
#include "video/report/hdf5_file.hpp"

namespace sfft::apps {

/// Wrong usage, for which main() returns exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Converts an output path to the form that the library expects; "-" means standard output.
std::string output_path(const std::string& path);

/// Throws UsageError if an output is a file of the input.
void refuse_input(const detail::OutputFile& output, const std::string& input);

/// Call it in a catch block: reports on standard error why an output was not written.
void complain_of_output() noexcept;

/// Creates a folder for outputs if it does not exist. Throws UsageError if it cannot be created or written
/// to.
void make_folder(const std::string& folder);

/// Runs an action of an output. Returns false after a failure, which is reported on standard error. The
/// action is no std::function, because constructing one could throw in the caller.
template <class Action>
bool guarded_output(const Action& action) noexcept {
  try {
    action();
    return true;
  } catch (const std::exception&) {
    complain_of_output();
    return false;
  }
}

class Outputs {
 public:
  /// Before anything is read, throws UsageError for an output that cannot be written, is given twice, or is
  /// an input. The command must have one input.
  explicit Outputs(const RunCommand& command);

  /// Whether a report goes to standard output, which then receives nothing else.
  bool on_standard_output() const noexcept { return on_standard_output_; }
  /// The writer of spectra and reconstructions; null if neither is requested. It never throws: a failure ends
  /// only the output concerned.
  video::SpectrumSink* spectra() noexcept;
  /// The frame rate of a reconstruction; call before the run.
  void set_frame_rate(double frames_per_second) noexcept { frame_rate_ = frames_per_second; }
  /// Adds a line to the CSV file, which is written during the run.
  void add(const video::FrameRecord& frame) noexcept;
  /// Writes every output, even if others fail, and reports failures on standard error.
  void save(const video::RunReport& report);
  bool failed() const noexcept { return failed_; }

 private:
  using Output = std::optional<detail::OutputFile>;

  /// Writes spectra and reconstructions, each until its first failure.
  class Spectra final : public video::SpectrumSink {
   public:
    explicit Spectra(Outputs& outputs) : outputs_(outputs) {}
    void write(std::int64_t frame, const Spectrum<float>& spectrum) override;
    void write(std::int64_t frame, const Spectrum<float>& spectrum, const SignalView& view) override;
    std::unique_ptr<video::SpectraFile> file;
    std::unique_ptr<video::ReconstructionFilm> film;

   private:
    Outputs& outputs_;
  };

  /// Returns false after a failure.
  template <class Action>
  bool guarded(const Action& action) noexcept {
    const bool kept = guarded_output(action);
    failed_ = failed_ || !kept;
    return kept;
  }
  void save_csv() noexcept;
  template <class Text>
  void save_text(Output& output, const Text& text) noexcept {
    if (!output) return;
    const bool kept = guarded([&] {
      output->write(text());
      output->commit();
    });
    if (!kept) output.reset();
  }
  std::vector<const detail::OutputFile*> all() const;

  Output json_, csv_, html_, spectra_file_, template_, reconstruction_;
  double frame_rate_ = 0;
  Spectra spectra_{*this};
  std::string csv_lines_ = video::csv_header();  ///< lines not written yet
  bool on_standard_output_ = false;
  bool failed_ = false;
};

}  // namespace sfft::apps
