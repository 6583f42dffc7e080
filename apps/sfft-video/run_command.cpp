// SPDX-License-Identifier: Apache-2.0
// sfft-video run: opens outputs before inputs, so that bad names fail at once. Runs the pipeline, and
// converts every outcome to a report and an exit code.
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <tuple>

#include "inputs.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "streams.hpp"
#include "video/report/report.hpp"
#include "video/report/text.hpp"
#include "video/sources/masked_url.hpp"

namespace sfft::apps {

Device DeviceChoice::device() const {
  if (!gpus.empty()) {
    if (backend == Backend::cpu)
      throw UsageError("--devices names GPUs, and --backend the CPU: leave one of them out");
    return Device::gpus(gpus);
  }
  if (backend == Backend::cpu) return Device::cpu();
  return backend == Backend::cuda ? Device::gpu(gpu) : Device::automatic(gpu);
}

RunOutcome run_one(RunCommand command, const std::atomic<bool>& stop) {
  const std::string& input = command.inputs.front();
  RunOutputs outputs(command);
  command.options.device = command.where.device();
  command.source.device = command.where.gpus.empty() ? command.where.gpu : command.where.gpus.front();
  command.source.stop = &stop;
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
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    std::tie(report.status, report.message) = unread_status(stop);
    report.input.path = video::masked_url(input);
  }
  outputs.save_all(report);
  if (report.frames_read > 0 && !command.quiet)
    print(outputs.on_standard_output() || command.summary_aside ? stderr : stdout, "{}",
          video::summary(report));
  if (report.failure) std::rethrow_exception(report.failure);
  if (report.status != video::RunStatus::complete) complain(report.message);
  RunOutcome outcome{outputs.failed() ? kUsage : exit_code(report.status), report.status, report.message, {}};
  if (command.keep_json) outcome.json = video::json_report(report);
  return outcome;
}

RunCommand command_for(const RunCommand& command, const std::string& input, const std::string& name) {
  RunCommand one = command;
  one.inputs = {input};
  for (std::string* const path :
       {&one.json, &one.csv, &one.html, &one.spectra, &one.save_template, &one.reconstruct})
    *path = fill_placeholder(*path, name);
  return one;
}

void check_output_names(const RunCommand& command) {
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

namespace {

/// Runs several inputs in sequence. A damaged input does not end the run.
int run_several(const RunCommand& command, const std::vector<std::string>& inputs,
                const std::atomic<bool>& stop) {
  check_output_names(command);
  const bool together = !command.json.empty() && !has_placeholder(command.json);
  ReportFiles output(inputs, {{"json", together ? command.json : std::string()}});
  const std::vector<std::string> names = short_names(inputs);
  std::vector<std::string> reports;
  RunOutcome worst;
  for (std::size_t i = 0; i < inputs.size() && !stop; ++i) {
    RunCommand one = command_for(command, inputs[i], names[i]);
    if (together) one.json.clear();
    one.keep_json = together;
    one.summary_aside = output.on_standard_output();
    if (!command.quiet)
      print(stderr, "[{}/{}] {}\n", i + 1, inputs.size(), video::printable(video::masked_url(inputs[i])));
    RunOutcome outcome = run_one(std::move(one), stop);
    if (together) reports.push_back(std::move(outcome.json));
    if (outcome.status == video::RunStatus::interrupted || worst.status == video::RunStatus::complete) {
      worst.status = outcome.status;
      worst.message = outcome.message;
    }
    worst.code = std::max(worst.code, outcome.code);
  }
  output.save("json", [&] { return video::json_reports(reports, worst.status, worst.message); });
  if (output.failed()) return std::max<int>(worst.code, kUsage);
  return stop ? kInterrupted : worst.code;
}

}  // namespace

int run_command(const RunCommand& command, const std::atomic<bool>& stop) {
  const std::vector<std::string> inputs = expand_inputs(command.inputs);
  if (command.sharded()) return run_shard(command, inputs, stop);
  if (inputs.size() > 1) return run_several(command, inputs, stop);
  return run_one(command_for(command, inputs.front(), short_names(inputs).front()), stop).code;
}

}  // namespace sfft::apps
