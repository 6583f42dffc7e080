// SPDX-License-Identifier: Apache-2.0
// sfft-video guard: runs one thread per source, prints events as they happen, runs the command of --on-event
// for each, and writes reports at the end.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "inputs.hpp"
#include "outputs.hpp"
#include "streams.hpp"
#include "video/events/event.hpp"
#include "video/guard/guard_report.hpp"
#include "video/report/text.hpp"
#include "video/sources/thread.hpp"

extern char** environ;

namespace sfft::apps {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxDue = 256, kMaxAtOnce = 16;

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
}

/// The environment with the event's variables. Source names may contain anything but NUL.
std::vector<std::string> environment(const video::Event& event, video::EventPhase phase) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  all.push_back(fmt::format("SFFT_EVENT={}", phase == video::EventPhase::start ? "start" : "end"));
  all.push_back(fmt::format("SFFT_EVENT_ID={}", event.id));
  all.push_back(fmt::format("SFFT_KIND={}", to_string(event.kind)));
  all.push_back("SFFT_SOURCE=" + event.source);
  all.push_back("SFFT_START_S=" + number(event.start_s));
  all.push_back("SFFT_WALL_CLOCK=" + event.wall_clock);
  all.push_back("SFFT_SNAPSHOT=" + event.snapshot);
  all.push_back("SFFT_ZONES=" + video::zone_list(event.zones));
  all.push_back("SFFT_END_S=" + number(event.end_s));
  all.push_back(fmt::format("SFFT_START_FRAME={}", event.start_frame));
  all.push_back("SFFT_CONFIDENCE=" + number(event.confidence));
  all.push_back("SFFT_SHIFT_PX=" + number(event.shift_px));
  return all;
}

pid_t spawn(const std::string& command, std::vector<std::string>& variables, int input) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0) return -1;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return -1;
  }
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  // Standard output is reserved for events.
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  sigset_t none, ignored;
  sigemptyset(&none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  sigaddset(&ignored, SIGXFSZ);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  // Ctrl-C does not reach the command's separate process group, which can be killed as a whole.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> pointers;
  for (std::string& variable : variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  std::string shell = "/bin/sh";
  std::string flag = "-c";
  std::string text = command;
  char* const arguments[] = {shell.data(), flag.data(), text.data(), nullptr};
  pid_t child = -1;
  const int code = posix_spawn(&child, shell.c_str(), &actions, &attributes, arguments, pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return code == 0 ? child : -1;
}

/// `command` runs under /bin/sh. It gets the event as a JSON line on standard input and in environment
/// variables (SFFT_EVENT, SFFT_EVENT_ID, SFFT_KIND, SFFT_SOURCE, SFFT_START_S, SFFT_END_S, SFFT_START_FRAME,
/// SFFT_CONFIDENCE, SFFT_SHIFT_PX, SFFT_WALL_CLOCK, SFFT_SNAPSHOT, SFFT_ZONES). No part of the event thus
/// becomes part of the command. Up to 16 commands run concurrently, so a slow one does not delay others.
/// However, the command for an event's end waits for the command for its start. A command that exceeds the
/// time limit is killed with its process group.
class Hook {
 public:
  explicit Hook(std::string command, std::chrono::seconds limit = std::chrono::seconds(30));
  /// Blocks until pending commands have ended, for at most one time limit in total.
  ~Hook();
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  /// Does not wait for commands. If 256 commands are pending, further events are dropped, which is reported
  /// once.
  void run(const video::Event& event, video::EventPhase phase);

 private:
  struct Due {
    video::Event event;
    video::EventPhase phase;
  };
  struct Running {
    std::int64_t id;  ///< identifies the event together with `source`
    std::string source;
    pid_t child;
    std::chrono::steady_clock::time_point start;
  };
  void work();
  std::optional<Due> take_next();
  void start(const Due& due);
  bool ended(const Running& one);

  std::string command_;
  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Due> due_;
  std::vector<Running> running_;  ///< used by the thread
  bool closing_ = false, said_ = false;
  std::chrono::steady_clock::time_point deadline_{};  ///< while closing
  std::thread thread_;
};

Hook::Hook(std::string command, std::chrono::seconds limit) : command_(std::move(command)), limit_(limit) {
  running_.reserve(kMaxAtOnce);
  thread_ = video::start_thread("the command of --on-event", [this] { work(); });
}

Hook::~Hook() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    deadline_ = Clock::now() + limit_;
  }
  changed_.notify_all();
  thread_.join();
}

void Hook::run(const video::Event& event, video::EventPhase phase) {
  {
    const std::lock_guard lock(mutex_);
    if (due_.size() >= kMaxDue) {
      if (!said_) complain("the command of --on-event is too slow: events are left out of it");
      said_ = true;
      return;
    }
    due_.push_back({event, phase});
  }
  changed_.notify_all();
}

void Hook::work() {
  constexpr auto kGlance = std::chrono::milliseconds(20);  // poll interval for running commands
  while (true) {
    {
      std::unique_lock lock(mutex_);
      const auto something = [this] { return closing_ || !due_.empty(); };
      if (running_.empty()) {
        changed_.wait(lock, something);
      } else {
        changed_.wait_for(lock, kGlance);
      }
      if (due_.empty() && running_.empty()) return;
      if (closing_ && Clock::now() > deadline_ && !due_.empty()) {
        complain(fmt::format("the command of --on-event did not run for the last {} events: it is too slow",
                             due_.size()));
        due_.clear();
      }
    }
    std::erase_if(running_, [this](const Running& one) { return ended(one); });
    while (const std::optional<Due> due = take_next()) {
      try {
        start(*due);
      } catch (const std::exception& error) {
        complain(error.what());
      }
    }
  }
}

/// Returns the first pending event for which no command is running.
std::optional<Hook::Due> Hook::take_next() {
  if (running_.size() >= kMaxAtOnce) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto next = std::ranges::find_if(due_, [this](const Due& due) {
    return std::ranges::none_of(running_, [&due](const Running& one) {
      return one.id == due.event.id && one.source == due.event.source;
    });
  });
  if (next == due_.end()) return std::nullopt;
  std::optional<Due> taken(std::move(*next));
  due_.erase(next);
  return taken;
}

void Hook::start(const Due& due) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    complain("the command of --on-event cannot be run: no pipe can be made");
    return;
  }
  std::vector<std::string> variables = environment(due.event, due.phase);
  const pid_t child = spawn(command_, variables, ends[0]);
  ::close(ends[0]);
  const std::string line = event_line(due.event, due.phase);
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  if (child > 0 && ::write(ends[1], line.data(), line.size()) < 0) {  // the command may not read it
  }
  ::close(ends[1]);
  if (child > 0) {
    running_.push_back({due.event.id, due.event.source, child, Clock::now()});
  } else {
    complain("the command of --on-event cannot be run: /bin/sh does not start");
  }
}

/// Whether a command has ended. Kills it at the time limit.
bool Hook::ended(const Running& one) {
  int status = 0;
  if (::waitpid(one.child, &status, WNOHANG) != 0) {
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
      complain(fmt::format("the command of --on-event ended with code {}", WEXITSTATUS(status)));
    return true;
  }
  bool late = Clock::now() - one.start > limit_;
  {
    const std::lock_guard lock(mutex_);
    late = late || (closing_ && Clock::now() > deadline_);
  }
  if (!late) return false;
  ::kill(-one.child, SIGKILL);
  ::waitpid(one.child, &status, 0);
  complain(fmt::format("the command of --on-event timed out after {} s and was killed", limit_.count()));
  return true;
}

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
