// SPDX-License-Identifier: Apache-2.0
// sfft-video run --shard, and merge. A recording's report is added to the shard's file as soon as the
// recording is finished.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "commands.hpp"
#include "inputs.hpp"
#include "outputs.hpp"
#include "streams.hpp"
#include "video/report/encoding.hpp"
#include "video/report/report.hpp"
#include "video/report/text.hpp"
#include "video/shards/merge.hpp"
#include "video/shards/shard_file.hpp"
#include "video/sources/file_stamp.hpp"
#include "video/sources/masked_url.hpp"

namespace sfft::apps {

namespace {

std::string template_setting(const std::string& path) {
  if (path.empty()) return "none";
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return fmt::format("of {} bytes with CRC-32 {:08x}", bytes.size(), video::crc32_of(bytes));
}

/// All settings on which the results depend, by option name.
std::vector<std::pair<std::string, std::string>> settings_of(const RunCommand& command) {
  const video::RunOptions& options = command.options;
  const video::Selection& part = command.source.selection;
  const video::Region roi = part.roi.value_or(video::Region{});
  constexpr const char* kEfforts[] = {"quick", "normal", "thorough"};
  const auto text = [](auto value) { return fmt::format("{}", value); };
  const bool to_the_last_frame = part.end_frame == video::Selection{}.end_frame;
  return {{"version", version()},
          {"template", template_setting(command.template_path)},
          {"k", text(options.k)},
          {"energy", text(options.energy)},
          {"accuracy", text(options.accuracy)},
          {"samples", text(options.max_samples)},
          {"frames", text(options.frames)},
          {"learn-frames", text(options.learn_frames)},
          {"verify", text(options.verify)},
          {"effort", kEfforts[static_cast<std::size_t>(options.effort)]},
          {"refine", text(options.refine)},
          {"similarity", text(options.similarity)},
          {"no-reference", text(command.no_reference)},
          {"backend", to_string(command.where.backend)},
          {"start", fmt::format("{} s, frame {}", part.start_seconds, part.start_frame)},
          {"end",
           fmt::format("{} s, frame {}", part.end_seconds, to_the_last_frame ? "inf" : text(part.end_frame))},
          {"every", text(part.every)},
          {"roi", fmt::format("{},{},{},{}", roi.x, roi.y, roi.width, roi.height)},
          {"skip-loop-filter", text(command.source.skip_loop_filter)}};
}

/// Throws if a recording is given twice, or an input cannot be read again.
void check_inputs(const std::vector<std::string>& inputs) {
  std::map<std::string, std::string> seen;
  for (const std::string& input : inputs) {
    const bool address = input.find("://") != std::string::npos;
    if (!address && video::input_files(input).empty())
      throw UsageError(fmt::format(
          "'{}' cannot be a part of a shared run: that takes recordings and image sequences, which "
          "can be read again",
          input));
    std::error_code code;
    const auto real = std::filesystem::weakly_canonical(input, code);
    const auto [other, fresh] = seen.try_emplace(address || code ? input : real.string(), input);
    if (!fresh)
      throw UsageError(fmt::format("'{}' and '{}' are the same recording: it would count twice",
                                   video::masked_url(other->second), video::masked_url(input)));
  }
}

video::Shard shard_of(const RunCommand& command) {
  if (command.shard.empty()) return {};
  return command.shard == "auto"
             ? video::shard_from_environment([](const char* name) { return std::getenv(name); })
             : video::parse_shard(command.shard);
}

/// The outcome of a recording that ended with an error.
RunOutcome failed_outcome(const std::string& input, const Error& error) {
  complain(fmt::format("{}: {}", video::masked_url(input), error.what()));
  video::RunReport report;
  report.status = video::RunStatus::failed;
  report.message = error.what();
  report.input.path = video::masked_url(input);
  return {exit_code(error.code()), report.status, report.message, video::json_report(report)};
}

/// Errors of one recording are recorded in its outcome. A GPU failure affects all recordings and is thrown.
RunOutcome run_recording(RunCommand command, const std::atomic<bool>& stop) {
  const std::string input = command.inputs.front();
  try {
    return run_one(std::move(command), stop);
  } catch (const Error& error) {
    if (exit_code(error.code()) == kDevice) throw;
    return failed_outcome(input, error);
  }
}

}  // namespace

int run_shard(const RunCommand& command, const std::vector<std::string>& inputs,
              const std::atomic<bool>& stop) {
  if (!command.json.empty() && !has_placeholder(command.json))
    throw UsageError(
        "a shard's reports are in the folder of --results, and 'sfft-video merge' makes one of them: leave "
        "--json out, or put {} into its name for a file per recording");
  if (inputs.size() > 1) check_output_names(command);
  check_inputs(inputs);
  if (!command.template_path.empty()) Template::load(command.template_path);  // fails once, not per recording
  const video::Shard shard = shard_of(command);
  const std::vector<std::string> names = short_names(inputs);
  int worst = kFine;
  try {
    video::ShardFile file(command.results,
                          {shard, settings_of(command), inputs.size(), video::crc32_of_inputs(inputs)});
    for (std::size_t i = 0; i < inputs.size() && !stop; ++i) {
      if (!shard.holds(i)) continue;
      const std::string stamp = video::input_stamp(inputs[i]);
      const bool finished = file.finished(i, stamp) != nullptr;
      if (!command.quiet)
        print(stderr, "[{}/{}] {}{}\n", i + 1, inputs.size(), video::printable(video::masked_url(inputs[i])),
              finished ? ": finished before" : "");
      if (finished) continue;
      RunCommand one = command_for(command, inputs[i], names[i]);
      one.keep_json = true;
      RunOutcome outcome = run_recording(std::move(one), stop);
      worst = std::max(worst, outcome.code);
      // Another run may have more memory.
      if (outcome.status != video::RunStatus::interrupted &&
          outcome.status != video::RunStatus::out_of_resources)
        file.add({i, video::masked_url(inputs[i]), stamp, outcome.code, outcome.status, outcome.message,
                  outcome.json});
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::file_unreadable) throw;
    throw UsageError(error.what());
  }
  return stop ? kInterrupted : worst;
}

int merge_command(const MergeCommand& command) {
  ReportFiles outputs(command.shards, {{"json", command.json}, {"csv", command.csv}});
  const video::MergedRun merged = video::merge_shards(command.shards);
  for (const std::string& sentence : merged.missing) complain(sentence);
  if (!merged.missing.empty() && !command.partial) {
    complain("incomplete shards: pass --partial to merge what is available");
    return kInput;
  }
  outputs.save("json", [&] { return video::merged_json(merged); });
  outputs.save("csv", [&] { return video::merged_csv(merged); });
  if (!command.quiet) put(outputs.on_standard_output() ? stderr : stdout, video::merged_summary(merged));
  if (outputs.failed()) return kUsage;
  return merged.status == video::RunStatus::complete ? kFine : kInput;
}

}  // namespace sfft::apps
