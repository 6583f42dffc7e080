#include "commands.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "progress.hpp"
#include "video/atomic_file.hpp"
#include "video/report.hpp"
#include "video/spectra_file.hpp"

namespace sfft::apps {

namespace {

void check_outputs(const RunCommand& command) {
  for (const std::string* path : {&command.json, &command.csv, &command.spectra, &command.html}) {
    if (!path->empty() && *path != "-") video::check_writable(*path);
  }
}

void write_reports(const RunCommand& command, const video::RunReport& report) {
  const std::string json = video::json_report(report);
  if (command.json == "-") {
    std::fwrite(json.data(), 1, json.size(), stdout);
  } else if (!command.json.empty()) {
    video::write_file(command.json, json);
  }
  if (!command.csv.empty()) video::write_file(command.csv, video::csv_report(report));
  if (!command.html.empty()) video::write_file(command.html, video::html_report(report));
}

bool is_template_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[8] = {};
  file.read(magic, sizeof magic);
  return file && std::string(magic, sizeof magic) == "SFFTTMPL";
}

}  // namespace

int run_command(RunCommand command, const std::atomic<bool>& stop) {
  check_outputs(command);
  command.options.reference = !command.no_reference;
  if (!command.template_path.empty()) command.options.tmpl = Template::load(command.template_path);
  std::unique_ptr<video::SpectraFile> spectra;
  if (!command.spectra.empty()) spectra = video::open_spectra_file(command.spectra);

  video::RunReport report;
  try {
    const auto source = video::open_source(command.input);
    Progress progress(command.quiet);
    report = video::run(
        *source, command.options, spectra.get(),
        [&](std::int64_t read, std::int64_t expected) { progress.update(read, expected); }, stop);
  } catch (const video::InputError& error) {  // it never opened: there is still a report to write
    report.status = stop ? video::RunStatus::interrupted : video::RunStatus::input_damaged;
    report.message = error.what();
    report.input.path = command.input;
  }
  if (spectra && report.frames_read > 0) spectra->commit(report.input);
  write_reports(command, report);
  if (report.frames_read > 0 && !command.quiet)
    fmt::print(command.json == "-" ? stderr : stdout, "{}", video::summary(report));
  if (report.status == video::RunStatus::complete) return kFine;
  fmt::print(stderr, "sfft-video: {}\n", report.message);
  return report.status == video::RunStatus::interrupted ? kInterrupted : kInput;
}

int learn_command(const LearnCommand& command, const std::atomic<bool>& stop) {
  video::check_writable(command.output);
  std::vector<video::Frame> frames;
  try {
    const auto source = video::open_source(command.input);
    video::Frame frame;
    while (!stop && static_cast<std::int64_t>(frames.size()) < command.frames && source->next(frame))
      frames.push_back(frame);
  } catch (const video::InputError& error) {
    fmt::print(stderr, "sfft-video: {}\n", error.what());
    return kInput;
  }
  if (stop) return kInterrupted;
  if (frames.empty()) {
    fmt::print(stderr, "sfft-video: '{}' holds no frames\n", command.input);
    return kInput;
  }
  std::vector<SignalView> views;
  for (const video::Frame& frame : frames) views.push_back(frame.view());
  LearnOptions options;
  options.k = command.energy > 0 || command.threshold > 0 ? command.k
              : command.k > 0                             ? command.k
                                                          : video::default_k(views[0].shape());
  options.energy = command.energy;
  options.threshold_sigma = command.threshold;
  options.reference = !command.no_reference;
  options.backend = command.backend;
  options.device = command.device;
  options.threads = command.threads;
  const Template tmpl = learn(views, options);
  tmpl.save(command.output);
  fmt::print("{}: {} frequencies of {} frames, {:.1f} % of the energy without the mean, from {} frame{}\n",
             command.output, tmpl.k(), tmpl.shape().to_string(), 100 * tmpl.energy_captured(), frames.size(),
             frames.size() == 1 ? "" : "s");
  return kFine;
}

int info_command(const std::string& path) {
  if (is_template_file(path)) {
    const Template tmpl = Template::load(path);
    fmt::print("template     {}\nframes       {} {}\nfrequencies  {}\n", path, tmpl.shape().to_string(),
               tmpl.is_real() ? "real" : "complex", tmpl.k());
    if (std::isfinite(tmpl.energy_captured()))
      fmt::print("energy       {:.2f} % without the mean\n", 100 * tmpl.energy_captured());
    fmt::print("reference    {}\n\n{}",
               tmpl.has_reference() ? "yes: frames are transformed as differences to it" : "no",
               Plan<float>(tmpl).explain());
    return kFine;
  }
  try {
    const auto source = video::open_source(path);
    const video::SourceInfo& info = source->info();
    fmt::print("input        {}\nframes       {} of {}x{}\nrate         {}\n", info.path,
               info.frames_expected >= 0 ? fmt::format("{}", info.frames_expected) : "unknown number",
               info.width, info.height, info.fps > 0 ? fmt::format("{:.4g} a second", info.fps) : "unknown");
    return kFine;
  } catch (const video::InputError& error) {
    fmt::print(stderr, "sfft-video: {}\n", error.what());
    return kInput;
  }
}

}  // namespace sfft::apps
