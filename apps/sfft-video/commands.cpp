// SPDX-License-Identifier: Apache-2.0
// sfft-video learn and info. Outputs are opened before inputs, so that bad names fail at once.
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include "outputs.hpp"
#include "sfft/run_control.hpp"
#include "streams.hpp"
#include "video/pipeline/memory.hpp"
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

int exit_code(video::RunStatus worst) noexcept {
  switch (worst) {
    case video::RunStatus::out_of_resources:
      return kFailure;
    case video::RunStatus::failed:
      return kUsage;
    case video::RunStatus::interrupted:
      return kInterrupted;
    case video::RunStatus::input_damaged:
      return kInput;
    default:
      return kFine;
  }
}

std::pair<video::RunStatus, std::string> unread_status(bool stopped) {
  auto told = video::thrown_status();
  if (told.first == video::RunStatus::failed) throw;
  if (told.first == video::RunStatus::input_damaged && stopped)
    return {video::RunStatus::interrupted, "interrupted before the first frame"};
  return told;
}

int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::file_unreadable:
    case ErrorCode::file_corrupt:
    case ErrorCode::file_version:
      return kInput;
    case ErrorCode::backend_unavailable:
    case ErrorCode::device:
    case ErrorCode::out_of_memory:
      return kDevice;
    default:
      return kUsage;
  }
}

int learn_command(const LearnCommand& command, const std::atomic<bool>& stop) {
  // Fails now rather than after the work.
  const bool on_standard_output =
      ReportFiles({command.input}, {{"template", command.output}}).on_standard_output();
  std::vector<video::Frame> frames;
  try {
    video::SourceOptions reading = command.source;
    reading.device = command.where.gpu;
    reading.stop = &stop;
    const auto source = video::open_source(command.input, reading);
    const std::int64_t limit = video::held_frames_limit_bytes();
    const std::int64_t expected = source->info().frames_expected;
    video::Frame frame;
    while (!stop && static_cast<std::int64_t>(frames.size()) < command.frames && source->next(frame)) {
      if (frames.empty() && expected > 0)  // fail early, before the frames are read
        video::check_held_frames(std::min(command.frames, expected), frame, limit);
      if (!frames.empty() && frame.format() != frames.front().format()) {
        complain(fmt::format(
            "frame {} is {}x{}, the first was {}x{}: the template is learned from those before",
            frames.size(), frame.width, frame.height, frames.front().width, frames.front().height));
        break;
      }
      video::check_held_frames(static_cast<std::int64_t>(frames.size()) + 1, frame, limit);
      frames.push_back(frame);
    }
  } catch (const video::InputError& error) {
    if (stop) return kInterrupted;
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
  if (command.energy > 0) {
    options.keep = Energy{command.energy};
  } else if (command.threshold > 0) {
    options.keep = AboveNoise{command.threshold};
  } else {
    options.keep = Largest{command.k > 0 ? command.k : video::default_k(views[0].shape())};
  }
  options.reference = !command.no_reference;
  options.device = command.where.device();
  options.threads = command.threads;
  std::optional<Template> learned;
  try {
    run_with_control(
        {}, [&stop](const char*, double) { return !stop; },
        [&] {
          learned = learn(views, options);
          if (command.no_plan) return;
          video::RunOptions run;
          run.device = options.device;
          run.threads = command.threads;
          learned = video::with_plan(*learned, run);
        });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::stopped) return kInterrupted;
    throw;
  }
  const Template& tmpl = *learned;
  try {
    tmpl.save(command.output == "-" ? "/dev/stdout" : command.output);
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
          tmpl.shape().to_string(), to_string(tmpl.domain()), tmpl.k());
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
          info.height, info.fps > 0 ? fmt::format("{:.4g} per second", info.fps) : "unknown");
    return kFine;
  } catch (const video::InputError& error) {
    complain(error.what());
    return kInput;
  }
}

}  // namespace sfft::apps
