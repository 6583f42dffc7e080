// SPDX-License-Identifier: Apache-2.0
// Starts commands with posix_spawn and a pipe to standard input. The pipe is non-blocking, and an event's
// line fits into it.
#include "hook.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "streams.hpp"
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

}  // namespace

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

}  // namespace sfft::apps
