// SPDX-License-Identifier: Apache-2.0
// sfft-video guard: runs one thread per source, prints events as they happen, and writes reports at the end.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <tuple>

#include "hook.hpp"
#include "inputs.hpp"
#include "outputs.hpp"
#include "report_files.hpp"
#include "streams.hpp"
#include "video/guard/guard_report.hpp"
#include "video/sources/thread.hpp"

namespace sfft::apps {

namespace {

bool asked_for(const GuardCommand& command, const std::vector<video::WatchReport>& reports) {
  for (const video::WatchReport& report : reports) {
    for (int kind = 0; kind < video::kEventKinds; ++kind) {
      const auto place = static_cast<std::size_t>(kind);
      if (command.fail_on[place] && report.counts[place] > 0) return true;
    }
  }
  return false;
}

}  // namespace

int guard_command(const GuardCommand& command, const std::atomic<bool>& stop) {
  ReportFiles outputs(command.inputs, {{"json", command.json}, {"html", command.html}, {"svg", command.svg}});
  if (!command.snapshots.empty()) make_folder(command.snapshots);
  const std::vector<std::vector<std::string>> sources = sequences_of(
      command.inputs, command.options.source, command.separate || command.options.frames > 0, stop);
  std::vector<std::string> firsts;
  for (const std::vector<std::string>& source : sources) firsts.push_back(source.front());
  const std::vector<std::string> names = short_names(firsts);
  std::vector<video::WatchReport> reports(sources.size());
  {
    std::optional<Hook> hook;
    if (!command.on_event.empty()) hook.emplace(command.on_event);
    std::mutex mutex;
    const auto tell = [&](const video::Event& event, video::EventPhase phase) {
      if (!outputs.on_standard_output()) {
        const std::lock_guard lock(mutex);
        put(stdout, event_line(event, phase));
        std::fflush(stdout);
      }
      if (hook) hook->run(event, phase);
    };
    const auto options_for = [&](std::size_t i) {
      video::WatchOptions options = command.options;
      if (!command.snapshots.empty()) options.snapshots = command.snapshots + "/" + names[i];
      options.may_write = [&](const std::string& path) { outputs.refuse(path); };
      return options;
    };
    video::ThreadGroup threads;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      try {  // if no thread can be started for an input, the others still run
        threads.start("an input",
                      [&, i] { reports[i] = video::watch(sources[i], options_for(i), tell, stop); });
      } catch (const std::exception&) {
        std::tie(reports[i].status, reports[i].message) = video::thrown_status();
      }
    }
  }
  for (const video::WatchReport& report : reports) {
    if (!report.snapshot_problem.empty())
      outputs.guarded([&] { throw Error(ErrorCode::file_unreadable, report.snapshot_problem); });
  }
  outputs.save("json", [&] { return video::guard_json(reports, command.options.guard.sensitivity); });
  outputs.save("html",
               [&] { return video::guard_page(reports, command.options.guard.sensitivity, command.html); });
  outputs.save("svg", [&] { return video::guard_svg(reports.front()); });
  if (!command.quiet) put(stderr, video::guard_summary(reports));
  video::RunStatus worst = stop ? video::RunStatus::interrupted : video::RunStatus::complete;
  for (const video::WatchReport& report : reports) {
    if (report.status != video::RunStatus::complete) complain(report.message);
    worst = std::max(worst, report.status);
  }
  if (outputs.failed()) return kUsage;
  if (worst != video::RunStatus::complete) return exit_code(worst);
  return asked_for(command, reports) ? kEvents : kFine;
}

}  // namespace sfft::apps
