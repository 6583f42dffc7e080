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

namespace {

/// Converts an output path to the form that the library expects; "-" means standard output.
std::string output_path(const std::string& path) {
  return path == "-" ? "/dev/stdout" : path;
}

/// Converts an output's errors to usage errors.
void as_usage(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::file_unreadable && error.code() != ErrorCode::backend_unavailable) throw;
    throw UsageError(error.what());
  }
}

}  // namespace

void make_folder(const std::string& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (!std::filesystem::is_directory(folder, code))
    throw UsageError(fmt::format("the folder '{}' is not there and cannot be made", folder));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw UsageError(fmt::format("files cannot be written into the folder '{}'", folder));
}

ReportFiles::ReportFiles(std::vector<std::string> inputs, std::initializer_list<Named> outputs)
    : inputs_(std::move(inputs)) {
  as_usage([&] {
    for (const auto& [name, path] : outputs) {
      if (path.empty()) continue;
      compare(detail::OutputFile(output_path(path)));
      const detail::OutputFile& file = files_.try_emplace(name, output_path(path)).first->second;
      on_standard_output_ = on_standard_output_ || file.kind() == detail::OutputKind::descriptor;
    }
  });
}

void ReportFiles::refuse(const std::string& path) const {
  as_usage([&] { compare(detail::OutputFile(path)); });
}

void ReportFiles::compare(const detail::OutputFile& file) const {
  for (const std::string& input : inputs_) {
    bool same = input == "-" && file.leads_to_descriptor(STDIN_FILENO);
    for (const std::string& one : video::input_files(input)) same = same || file.leads_to(one);
    if (same)
      throw UsageError(
          fmt::format("'{}' would write over the input '{}': give another name", file.path(), input));
  }
  for (const auto& [name, other] : files_) {
    if (file.same_as(other))
      throw UsageError(fmt::format("'{}' and '{}' are the same file: give each output its own", other.path(),
                                   file.path()));
  }
}

void ReportFiles::check(const char* name,
                        const std::function<void(const detail::OutputFile&)>& action) const {
  const auto file = files_.find(name);
  if (file != files_.end()) as_usage([&] { action(file->second); });
}

void ReportFiles::complain_of_output() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    complain("out of memory: an output is not written");
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

RunOutputs::RunOutputs(const RunCommand& command)
    : ReportFiles({command.inputs.front()}, {{"json", command.json},
                                             {"csv", command.csv},
                                             {"html", command.html},
                                             {"spectra", command.spectra},
                                             {"template", command.save_template},
                                             {"reconstruction", command.reconstruct}}) {
  for (const auto& [name, file] : files_) {
    if (!command.template_path.empty() && file.leads_to(command.template_path))
      throw UsageError(fmt::format("'{}' would write over the template that is read", file.path()));
  }
  const auto file = files_.find("spectra");
  if (file == files_.end()) return;
  try {
    spectra_.file = video::open_spectra_file(file->second);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::file_unreadable) throw;
    throw UsageError(error.what());
  }
}

video::SpectrumSink* RunOutputs::spectra() noexcept {
  return files_.contains("spectra") || files_.contains("reconstruction") ? &spectra_ : nullptr;
}

void RunOutputs::Spectra::write(std::int64_t frame, const Spectrum<float>& spectrum) {
  if (!outputs_.write("spectra", [&](detail::OutputFile&) { file->write(frame, spectrum); })) file.reset();
}

void RunOutputs::Spectra::write(std::int64_t frame, const Spectrum<float>& spectrum, const SignalView& view) {
  write(frame, spectrum);
  const bool kept = outputs_.write("reconstruction", [&](detail::OutputFile& output) {
    if (!film) film = std::make_unique<video::ReconstructionFilm>(output, outputs_.frame_rate_);
    film->add(view, spectrum);
  });
  if (!kept) film.reset();
}

void RunOutputs::add(const video::FrameRecord& frame) noexcept {
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  write("csv", [&](detail::OutputFile& csv) {
    csv_lines_ += video::csv_row(frame);
    if (csv_lines_.size() < kAtOnce) return;
    csv.write(csv_lines_);
    csv_lines_.clear();
  });
}

void RunOutputs::save_all(const video::RunReport& report) {
  save("json", [&] { return video::json_report(report); });
  save("csv", [&] { return csv_lines_; });
  save("html", [&] { return video::html_report(report); });
  if (const auto file = files_.find("template"); file != files_.end() && report.last_template) {
    const std::string path = file->second.path();
    files_.erase(file);  // it only reserved the path; the library writes the file
    guarded([&] { report.last_template->save(path); });
  }
  if (spectra_.film) write("reconstruction", [](detail::OutputFile& output) { output.commit(); });
  if (spectra_.file && report.frames_read > 0) guarded([&] { spectra_.file->commit(report.input); });
}

}  // namespace sfft::apps
