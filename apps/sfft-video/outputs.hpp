// SPDX-License-Identifier: Apache-2.0
// The outputs of a run: decided before anything is read, saved each for itself.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernels/base/output_file.hpp"
#include "video/report.hpp"
#include "video/spectra_file.hpp"

namespace sfft::apps {

/// Wrong usage: main() ends with exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The path of an output as the library knows it: "-" is standard output.
std::string output_path(const std::string& path);

/// Refuses outputs that are a file that is read: throws UsageError.
void refuse_input(const detail::OutputFile& output, const std::string& input);

class Outputs {
 public:
  /// Throws UsageError for what cannot be written, is written twice, or is an input. Nothing is read before.
  explicit Outputs(const RunCommand& command);

  /// Whether a report goes to standard output, which then holds nothing else.
  bool on_standard_output() const noexcept { return on_standard_output_; }
  /// Null when no spectra are asked for. Takes no exception into the run: the first failure ends the spectra
  /// alone.
  video::SpectrumSink* spectra() noexcept;
  /// For the CSV, whose lines are not kept until the run's end.
  void add(const video::FrameRecord& frame) noexcept;
  /// Writes every output, whatever becomes of the others, and says on standard error which failed and why.
  void save(const video::RunReport& report);
  bool failed() const noexcept { return failed_; }

 private:
  using Output = std::optional<detail::OutputFile>;

  /// The spectra until they fail.
  class Spectra final : public video::SpectrumSink {
   public:
    explicit Spectra(Outputs& outputs) : outputs_(outputs) {}
    void write(std::int64_t frame, const Spectrum<float>& spectrum) override;
    std::unique_ptr<video::SpectraFile> file;

   private:
    Outputs& outputs_;
  };

  /// False after a failure, which is said on standard error.
  bool guarded(const std::function<void()>& action) noexcept;
  void save_csv() noexcept;
  void save_text(Output& output, const std::function<std::string()>& text) noexcept;
  std::vector<const detail::OutputFile*> all() const;

  Output json_, csv_, html_, spectra_file_;
  Spectra spectra_{*this};
  std::string csv_lines_ = video::csv_header();  ///< not written yet
  bool on_standard_output_ = false;
  bool failed_ = false;
};

}  // namespace sfft::apps
