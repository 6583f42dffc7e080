// SPDX-License-Identifier: Apache-2.0
// Opens outputs before inputs so that bad names fail at once, runs the pipeline or learns, and turns every
// outcome into a report and an exit code.
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>

#include "inputs.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "streams.hpp"
#include "video/pipeline/memory.hpp"
#include "video/report/report.hpp"
#include "video/report/text.hpp"

namespace sfft::apps {

namespace {

bool is_template_file(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return false;
  std::ifstream file(path, std::ios::binary);
  char magic[8] = {};
  file.read(magic, sizeof magic);
  return file && std::string(magic, sizeof magic) == "SFFTTMPL";
}

}  // namespace

namespace {

struct Outcome {
  int code = kFine;
  video::RunStatus status = video::RunStatus::complete;
  std::string message, json;
};

int exit_code(video::RunStatus status) {
  return status == video::RunStatus::complete      ? kFine
         : status == video::RunStatus::interrupted ? kInterrupted
                                                   : kInput;
}

/// A command with one input.
Outcome run_one(RunCommand command, const std::atomic<bool>& stop) {
  const std::string& input = command.inputs.front();
  Outputs outputs(command);
  command.source.device = command.options.device;
  command.options.reference = !command.no_reference;
  command.options.keep_template = !command.save_template.empty();
  if (!command.template_path.empty()) command.options.tmpl = Template::load(command.template_path);
  command.options.on_frame = [&outputs](const video::FrameRecord& frame) { outputs.add(frame); };

  video::RunReport report;
  try {
    const auto source = video::open_source(input, command.source);
    outputs.set_frame_rate(source->frame_rate());
    Progress progress(command.quiet);
    report = video::run(
        *source, command.options, outputs.spectra(),
        [&](std::int64_t read, std::int64_t expected) { progress.update(read, expected); }, stop);
  } catch (const video::InputError& error) {  // it never opened: there is still a report to write
    report.status = stop ? video::RunStatus::interrupted : video::RunStatus::input_damaged;
    report.message = error.what();
    report.input.path = input;
  }
  outputs.save(report);
  if (report.frames_read > 0 && !command.quiet)
    print(outputs.on_standard_output() || command.summary_aside ? stderr : stdout, "{}",
          video::summary(report));
  if (report.failure) std::rethrow_exception(report.failure);
  if (report.status != video::RunStatus::complete) complain(report.message);
  Outcome outcome{outputs.failed() ? kUsage : exit_code(report.status), report.status, report.message, {}};
  if (command.keep_json) outcome.json = video::json_report(report);
  return outcome;
}

/// Outputs whose files cannot hold several inputs.
void check_names(const RunCommand& command) {
  for (const std::string* const path :
       {&command.csv, &command.html, &command.spectra, &command.save_template, &command.reconstruct}) {
    if (!path->empty() && !has_placeholder(*path)) {
      throw UsageError(
          fmt::format("'{}' would be written once for each of several inputs: put {{}} into its name, which "
                      "stands for the "
                      "name of the input",
                      *path));
    }
  }
}

/// Several inputs, one after another. One that is damaged does not end the others.
int run_several(const RunCommand& command, const std::vector<std::string>& inputs,
                const std::atomic<bool>& stop) {
  check_names(command);
  const bool together = !command.json.empty() && !has_placeholder(command.json);
  std::optional<detail::OutputFile> output;
  if (together) {
    try {
      output.emplace(output_path(command.json));
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
    for (const std::string& input : inputs) refuse_input(*output, input);
  }
  const std::vector<std::string> names = short_names(inputs);
  std::vector<std::string> reports;
  Outcome worst;
  for (std::size_t i = 0; i < inputs.size() && !stop; ++i) {
    RunCommand one = command;
    one.inputs = {inputs[i]};
    for (std::string* const path :
         {&one.json, &one.csv, &one.html, &one.spectra, &one.save_template, &one.reconstruct})
      *path = fill_placeholder(*path, names[i]);
    if (together) one.json.clear();
    one.keep_json = together;
    one.summary_aside = together && output->kind() == detail::OutputKind::descriptor;
    if (!command.quiet) print(stderr, "[{}/{}] {}\n", i + 1, inputs.size(), video::printable(inputs[i]));
    Outcome outcome = run_one(std::move(one), stop);
    if (together) reports.push_back(std::move(outcome.json));
    if (outcome.status != video::RunStatus::complete && worst.status != video::RunStatus::interrupted) {
      worst.status = outcome.status;
      worst.message = outcome.message;
    }
    worst.code = std::max(worst.code, outcome.code);
  }
  if (together) {
    try {
      output->write(video::json_reports(reports, worst.status, worst.message));
      output->commit();
    } catch (const Error& error) {
      complain(error.what());
      return std::max<int>(worst.code, kUsage);
    }
  }
  return stop ? kInterrupted : worst.code;
}

}  // namespace

int run_command(const RunCommand& command, const std::atomic<bool>& stop) {
  const std::vector<std::string> inputs = expand_inputs(command.inputs);
  if (inputs.size() > 1) return run_several(command, inputs, stop);
  RunCommand one = command;
  one.inputs = inputs;
  const std::string name = short_names(inputs).front();
  for (std::string* const path :
       {&one.json, &one.csv, &one.html, &one.spectra, &one.save_template, &one.reconstruct})
    *path = fill_placeholder(*path, name);
  return run_one(std::move(one), stop).code;
}

int learn_command(const LearnCommand& command, const std::atomic<bool>& stop) {
  const std::string path = output_path(command.output);
  bool on_standard_output = false;
  try {
    const detail::OutputFile output(path);  // refused now rather than after the work
    refuse_input(output, command.input);
    on_standard_output = output.kind() == detail::OutputKind::descriptor;
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  std::vector<video::Frame> frames;
  try {
    video::SourceOptions reading = command.source;
    reading.device = command.device;
    const auto source = video::open_source(command.input, reading);
    const std::int64_t limit = video::held_frames_limit_bytes();
    const std::int64_t expected = source->info().frames_expected;
    video::Frame frame;
    while (!stop && static_cast<std::int64_t>(frames.size()) < command.frames && source->next(frame)) {
      if (frames.empty() && expected > 0)  // fails early, before the frames are read
        video::check_held_frames(std::min(command.frames, expected), frame, limit);
      video::check_held_frames(static_cast<std::int64_t>(frames.size()) + 1, frame, limit);
      frames.push_back(frame);
    }
  } catch (const video::InputError& error) {
    complain(error.what());
    return kInput;
  }
  if (stop) return kInterrupted;
  if (frames.empty()) {
    complain(fmt::format("'{}' holds no frames", command.input));
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
  Template tmpl = learn(views, options);
  if (!command.no_plan) {
    video::RunOptions run;
    run.backend = command.backend;
    run.device = command.device;
    run.threads = command.threads;
    tmpl = video::with_plan(tmpl, run);
  }
  try {
    tmpl.save(path);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  print(on_standard_output ? stderr : stdout,
        "{}: {} frequencies of {} frames, {:.1f} % of the energy without the mean, from {} frame{}\n",
        video::printable(command.output), tmpl.k(), tmpl.shape().to_string(), 100 * tmpl.energy_captured(),
        frames.size(), frames.size() == 1 ? "" : "s");
  for (const std::string& plan : tmpl.kept_plans())
    print(on_standard_output ? stderr : stdout, "plan kept: {}\n", plan);
  return kFine;
}

int info_command(const std::string& path) {
  if (is_template_file(path)) {
    const Template tmpl = Template::load(path);
    print(stdout, "template     {}\nframes       {} {}\nfrequencies  {}\n", video::printable(path),
          tmpl.shape().to_string(), tmpl.is_real() ? "real" : "complex", tmpl.k());
    if (std::isfinite(tmpl.energy_captured()))
      print(stdout, "energy       {:.2f} % without the mean\n", 100 * tmpl.energy_captured());
    print(stdout, "reference    {}\n",
          tmpl.has_reference() ? "yes: frames are transformed as differences to it" : "no");
    for (const std::string& plan : tmpl.kept_plans()) print(stdout, "plan kept    {}\n", plan);
    if (!tmpl.kept_plans_problem().empty())
      print(stdout, "plans        not read: {}\n", tmpl.kept_plans_problem());
    print(stdout, "\n{}", Plan<float>(tmpl).explain());
    return kFine;
  }
  try {
    const auto source = video::open_source(path);
    const video::SourceInfo& info = source->info();
    print(stdout, "input        {}\nframes       {} of {}x{}\nrate         {}\n", video::printable(info.path),
          info.frames_expected >= 0 ? fmt::format("{}", info.frames_expected) : "unknown number", info.width,
          info.height, info.fps > 0 ? fmt::format("{:.4g} a second", info.fps) : "unknown");
    return kFine;
  } catch (const video::InputError& error) {
    complain(error.what());
    return kInput;
  }
}

}  // namespace sfft::apps
