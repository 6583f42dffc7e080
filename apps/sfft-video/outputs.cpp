// SPDX-License-Identifier: Apache-2.0
// Opens every output, and rejects those that would overwrite an input or each other. Guards each write, so
// that a failing output does not stop the others.
#include "outputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <new>

#include "sfft/error.hpp"
#include "streams.hpp"
#include "video/sources/source.hpp"

namespace sfft::apps {

std::string output_path(const std::string& path) {
  return path == "-" ? "/dev/stdout" : path;
}

void refuse_input(const detail::OutputFile& output, const std::string& input) {
  bool same = input == "-" && output.leads_to_descriptor(STDIN_FILENO);
  for (const std::string& file : video::input_files(input)) same = same || output.leads_to(file);
  if (same)
    throw UsageError(
        fmt::format("'{}' would write over the input '{}': give another name", output.path(), input));
}

Outputs::Outputs(const RunCommand& command) {
  const auto open = [](Output& output, const std::string& path) {
    if (!path.empty()) output.emplace(output_path(path));
  };
  try {
    open(json_, command.json);
    open(csv_, command.csv);
    open(html_, command.html);
    open(spectra_file_, command.spectra);
    open(template_, command.save_template);
    open(reconstruction_, command.reconstruct);
    const auto outputs = all();
    for (const auto* output : outputs)
      on_standard_output_ = on_standard_output_ || output->kind() == detail::OutputKind::descriptor;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      refuse_input(*outputs[i], command.inputs.front());
      if (!command.template_path.empty() && outputs[i]->leads_to(command.template_path))
        throw UsageError(fmt::format("'{}' would write over the template that is read", outputs[i]->path()));
      for (std::size_t j = 0; j < i; ++j) {
        if (outputs[i]->same_as(*outputs[j]))
          throw UsageError(fmt::format("'{}' and '{}' are the same file: give each output its own",
                                       outputs[j]->path(), outputs[i]->path()));
      }
    }
    if (spectra_file_) spectra_.file = video::open_spectra_file(*spectra_file_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::file_unreadable) throw;
    throw UsageError(error.what());
  }
}

std::vector<const detail::OutputFile*> Outputs::all() const {
  std::vector<const detail::OutputFile*> outputs;
  for (const Output* output : {&json_, &csv_, &html_, &spectra_file_, &template_, &reconstruction_}) {
    if (*output) outputs.push_back(&**output);
  }
  return outputs;
}

video::SpectrumSink* Outputs::spectra() noexcept {
  return spectra_file_ || reconstruction_ ? &spectra_ : nullptr;
}

void Outputs::Spectra::write(std::int64_t frame, const Spectrum<float>& spectrum) {
  if (!file || outputs_.guarded([&] { file->write(frame, spectrum); })) return;
  file.reset();
  outputs_.spectra_file_.reset();  // frees its space on a full disk for the other outputs
}

void Outputs::Spectra::write(std::int64_t frame, const Spectrum<float>& spectrum, const SignalView& view) {
  write(frame, spectrum);
  detail::OutputFile* const output = outputs_.reconstruction_ ? &*outputs_.reconstruction_ : nullptr;
  if (output == nullptr) return;
  const bool kept = outputs_.guarded([&] {
    if (!film) film = std::make_unique<video::ReconstructionFilm>(*output, outputs_.frame_rate_);
    film->add(view, spectrum);
  });
  if (kept) return;
  film.reset();
  outputs_.reconstruction_.reset();
}

void make_folder(const std::string& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (!std::filesystem::is_directory(folder, code))
    throw UsageError(fmt::format("the folder '{}' is not there and cannot be made", folder));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw UsageError(fmt::format("files cannot be written into the folder '{}'", folder));
}

void complain_of_output() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    complain("out of memory: an output is not written");
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

void Outputs::add(const video::FrameRecord& frame) noexcept {
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  if (!csv_) return;
  const bool kept = guarded([&] {
    csv_lines_ += video::csv_row(frame);
    if (csv_lines_.size() < kAtOnce) return;
    csv_->write(csv_lines_);
    csv_lines_.clear();
  });
  if (!kept) csv_.reset();
}

void Outputs::save_csv() noexcept {
  if (!csv_) return;
  const bool kept = guarded([&] {
    csv_->write(csv_lines_);
    csv_->commit();
  });
  if (!kept) csv_.reset();
}

void Outputs::save(const video::RunReport& report) {
  save_text(json_, [&] { return video::json_report(report); });
  save_csv();
  save_text(html_, [&] { return video::html_report(report); });
  if (template_ && report.last_template) {
    const std::string path = template_->path();
    template_.reset();  // it only reserved the path; the library writes the file
    guarded([&] { report.last_template->save(path); });
  }
  if (spectra_.film) guarded([&] { reconstruction_->commit(); });
  if (spectra_.file && report.frames_read > 0) guarded([&] { spectra_.file->commit(report.input); });
}

}  // namespace sfft::apps
