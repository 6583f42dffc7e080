// SPDX-License-Identifier: Apache-2.0
// sfft-video guard: a thread per source, events on standard output as they happen, reports at the end.
#include <fmt/format.h>

#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "hook.hpp"
#include "outputs.hpp"
#include "signals_blocked.hpp"
#include "streams.hpp"
#include "video/guard/guard_report.hpp"

namespace sfft::apps {

namespace {

using Output = std::optional<detail::OutputFile>;

struct GuardOutputs {
  Output json, html, svg;
  bool on_standard_output = false;
  bool failed = false;

  explicit GuardOutputs(const GuardCommand& command) {
    std::vector<const detail::OutputFile*> opened;
    const auto open = [&](Output& output, const std::string& path) {
      if (path.empty()) return;
      output.emplace(output_path(path));
      for (const std::string& input : command.inputs) refuse_input(*output, input);
      for (const auto* other : opened) {
        if (output->same_as(*other))
          throw UsageError(fmt::format("'{}' and '{}' are the same file: give each output its own",
                                       other->path(), output->path()));
      }
      opened.push_back(&*output);
      on_standard_output = on_standard_output || output->kind() == detail::OutputKind::descriptor;
    };
    try {
      open(json, command.json);
      open(html, command.html);
      open(svg, command.svg);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::file_unreadable) throw;
      throw UsageError(error.what());
    }
  }

  void save(Output& output, const std::function<std::string()>& text) noexcept {
    if (!output) return;
    try {
      output->write(text());
      output->commit();
      return;
    } catch (const std::bad_alloc&) {
      complain("out of memory: an output is not written");
    } catch (const std::exception& error) {
      complain(error.what());
    }
    failed = true;
  }
};

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
  GuardOutputs outputs(command);
  std::vector<video::WatchReport> reports(command.inputs.size());
  {
    std::optional<Hook> hook;
    if (!command.on_event.empty()) hook.emplace(command.on_event);
    std::mutex mutex;
    const auto tell = [&](const video::Event& event, video::EventPhase phase) {
      if (!outputs.on_standard_output) {
        const std::lock_guard lock(mutex);
        put(stdout, event_line(event, phase));
        std::fflush(stdout);
      }
      if (hook) hook->run(event, phase);
    };
    std::vector<std::jthread> threads;
    {
      const SignalsBlocked inherited_by_the_threads;
      for (std::size_t i = 0; i < command.inputs.size(); ++i)
        threads.emplace_back(
            [&, i] { reports[i] = video::watch(command.inputs[i], command.options, tell, stop); });
    }
  }
  outputs.save(outputs.json, [&] { return video::guard_json(reports, command.options.guard.sensitivity); });
  outputs.save(outputs.html, [&] { return video::guard_page(reports, command.options.guard.sensitivity); });
  outputs.save(outputs.svg, [&] { return video::guard_svg(reports.front()); });
  if (!command.quiet) put(stderr, video::guard_summary(reports));
  bool damaged = false;
  bool failed = false;
  for (const video::WatchReport& report : reports) {
    if (report.status == video::WatchStatus::complete) continue;
    complain(report.message);
    damaged = damaged || report.status == video::WatchStatus::input_damaged;
    failed = failed || report.status == video::WatchStatus::failed;
  }
  if (outputs.failed || failed) return kUsage;
  if (stop) return kInterrupted;
  if (damaged) return kInput;
  return asked_for(command, reports) ? kEvents : kFine;
}

}  // namespace sfft::apps
