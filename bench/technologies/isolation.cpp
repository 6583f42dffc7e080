// SPDX-License-Identifier: Apache-2.0
// Children report in lines of JSON through a pipe. The parent starts no thread and loads no driver before it
// forks.
#include "bench/technologies/isolation.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bench/technologies/clock.hpp"
#include "bench/technologies/row.hpp"

namespace sfft::technologies {

namespace {

/// Writes whole lines; the child ends if the parent has gone.
class LineWriter {
 public:
  explicit LineWriter(int file) : file_(file) {}
  void write(const Json& json) const {
    const std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    for (std::size_t at = 0; at < line.size();) {
      const ssize_t written = ::write(file_, line.data() + at, line.size() - at);
      if (written < 0 && errno != EINTR) _exit(1);
      if (written > 0) at += static_cast<std::size_t>(written);
    }
  }

 private:
  int file_;
};

class Child {
 public:
  template <class Work>
  explicit Child(const Work& work) {
    int ends[2];
    if (pipe(ends) != 0) throw Failure(std::string("pipe: ") + std::strerror(errno));
    process_ = fork();
    if (process_ < 0) throw Failure(std::string("fork: ") + std::strerror(errno));
    if (process_ == 0) {
      close(ends[0]);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      signal(SIGINT, SIG_DFL);
      signal(SIGTERM, SIG_DFL);
      int code = 0;
      try {
        work(LineWriter(ends[1]));
      } catch (const std::exception& error) {
        LineWriter(ends[1]).write({{"failed", error.what()}});
        code = 1;
      }
      _exit(code);  // runs no destructors of the parent's objects
    }
    close(ends[1]);
    file_ = ends[0];
  }
  ~Child() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    close(file_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Passes every line on until the child ends. Returns how the child ended, or nothing if it ended well.
  template <class Line>
  std::string follow(double patience_seconds, const Line& line, const std::function<void()>& poll_parent) {
    std::string pending;
    Stopwatch silence;
    for (;;) {
      poll_parent();
      pollfd wanted = {file_, POLLIN, 0};
      const int ready = ::poll(&wanted, 1, 200);
      if (ready < 0 && errno != EINTR) return std::string("poll: ") + std::strerror(errno);
      if (ready <= 0) {
        if (silence.us() > 1e6 * patience_seconds)
          return "no answer in " + std::to_string(static_cast<int>(patience_seconds)) + " seconds: given up";
        continue;
      }
      char bytes[1 << 16];
      const ssize_t count = read(file_, bytes, sizeof bytes);
      if (count == 0) return end();
      if (count < 0) continue;
      silence = Stopwatch();
      pending.append(bytes, static_cast<std::size_t>(count));
      for (std::size_t stop = 0; (stop = pending.find('\n')) != std::string::npos; pending.erase(0, stop + 1))
        line(Json::parse(pending.substr(0, stop)));
    }
  }

 private:
  std::string end() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    if (WIFSIGNALED(status))
      return std::string("the process was ended by signal ") + std::to_string(WTERMSIG(status)) + " (" +
             strsignal(WTERMSIG(status)) + ")";
    if (WEXITSTATUS(status) != 0) return "the process ended with code " + std::to_string(WEXITSTATUS(status));
    return {};
  }

  pid_t process_ = 0;
  int file_ = -1;
};

}  // namespace

void fill_material(Material& material, double patience_seconds, const Sink& sink) {
  Child child([&](const LineWriter& writer) {
    material.fill_signal();
    for (std::size_t i = 0; i < material.problems().size(); ++i) {
      writer.write({{"doing", material.problems()[i].name()}});
      material.fill_spectrum(i);
    }
  });
  std::string failed;
  const std::string end = child.follow(
      patience_seconds,
      [&](const Json& line) {
        if (line.contains("doing")) sink.doing("reference: " + line["doing"].get<std::string>());
        if (line.contains("failed")) failed = line["failed"].get<std::string>();
      },
      sink.poll);
  if (!failed.empty()) throw Failure(failed);
  if (!end.empty()) throw Failure("the references were not made: " + end);
}

void run_isolated(const Entry& entry, const Material& material, const Course& course, double patience_seconds,
                  const Sink& sink) {
  constexpr int kTries = 4;
  const std::size_t problems = material.problems().size();
  Position next;
  for (int tries = 1; tries <= kTries; ++tries) {
    Position at = next;
    std::string end, what;
    {
      Child child([&](const LineWriter& writer) {
        Listener listener;
        listener.begins = [&](Position position, const std::string& name) {
          writer.write({{"doing", name}, {"device", position.device}, {"problem", position.problem}});
        };
        listener.facts = [&](const Json& facts) { writer.write({{"facts", facts}}); };
        listener.row = [&](const Json& row) { writer.write({{"row", row}}); };
        run_session(entry, material, course, next, listener);
      });
      end = child.follow(
          patience_seconds,
          [&](const Json& line) {
            if (line.contains("doing")) {
              what = line["doing"].get<std::string>();
              at = {line["device"].get<int>(), line["problem"].get<std::size_t>()};
              sink.doing(entry.name + ": " + what);
            }
            if (line.contains("facts") &&
                (tries == 1 || !line["facts"]["skipped"].get<std::string>().empty()))
              sink.facts(line["facts"]);
            if (line.contains("row")) sink.row(line["row"]);
            if (line.contains("failed"))
              sink.facts(missing(entry, nullptr, line["failed"].get<std::string>()));
          },
          sink.poll);
    }
    if (end.empty()) return;
    const bool opening = what.empty() || what == "opening";
    if (opening) {
      sink.facts(missing(entry, nullptr, "while it was opened: " + end));
      return;
    }
    sink.row(missing(entry, &material.problems()[at.problem], end));
    next = {at.device, at.problem + 1};
    if (next.problem >= problems) next = {at.device + 1, 0};
    if (next.device > 0 && !course.all_devices) return;
  }
  sink.facts(missing(entry, nullptr,
                     "given up after " + std::to_string(kTries) + " processes that did not end well"));
}

}  // namespace sfft::technologies
