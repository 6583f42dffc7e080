#include "outputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <new>

#include "sfft/error.hpp"
#include "streams.hpp"
#include "video/source.hpp"

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
    const auto outputs = all();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      refuse_input(*outputs[i], command.input);
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
  for (const Output* output : {&json_, &csv_, &html_, &spectra_file_}) {
    if (*output) outputs.push_back(&**output);
  }
  return outputs;
}

bool Outputs::on_standard_output() const noexcept {
  for (const Output* output : {&json_, &csv_, &html_}) {
    if (*output && (*output)->kind() == detail::OutputKind::descriptor) return true;
  }
  return false;
}

video::SpectrumSink* Outputs::spectra() noexcept {
  return spectra_file_ ? &spectra_ : nullptr;
}

void Outputs::Spectra::write(std::int64_t frame, const Spectrum<float>& spectrum) {
  if (!file) return;
  bool written = false;
  outputs_.guarded([&] {
    file->write(frame, spectrum);
    written = true;
  });
  if (!written) file.reset();
}

void Outputs::guarded(const std::function<void()>& action) noexcept {
  try {
    action();
    return;
  } catch (const std::bad_alloc&) {
    complain("out of memory: an output is not written");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  failed_ = true;
}

void Outputs::save_text(Output& output, const std::function<std::string()>& text) noexcept {
  if (!output) return;
  guarded([&] {
    output->write(text());
    output->commit();
  });
}

void Outputs::save(const video::RunReport& report) {
  save_text(json_, [&] { return video::json_report(report); });
  save_text(csv_, [&] { return video::csv_report(report); });
  save_text(html_, [&] { return video::html_report(report); });
  if (spectra_.file && report.frames_read > 0) guarded([&] { spectra_.file->commit(report.input); });
}

}  // namespace sfft::apps
