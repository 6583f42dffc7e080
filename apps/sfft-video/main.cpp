// SPDX-License-Identifier: Apache-2.0
// sfft-video runs the input-adaptive sparse FFT on recordings and cameras. This file handles signals,
// failures and exit codes around the subcommands.
#include <malloc.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string_view>

#include "commands.hpp"
#include "kernels/runtime/output_file.hpp"
#include "outputs.hpp"
#include "sfft/log.hpp"
#include "streams.hpp"
#include "video/report/text.hpp"

namespace {

using namespace sfft::apps;

std::atomic<bool> stop_requested{false};
std::atomic<bool> memory_short{false};
std::atomic<std::int64_t> first_signal_ms{0};  ///< time on the monotonic clock; 0: no signal yet

/// The first Ctrl-C finishes the current frames, or ends learning and planning, and writes the reports;
/// another one ends the program at once. Signals within a second count as one: timeout(1) signals its child
/// and then the process group, and a terminal that closes sends SIGHUP and SIGTERM.
extern "C" void on_signal(int number) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t milliseconds = std::int64_t{1000} * now.tv_sec + now.tv_nsec / 1'000'000;
  std::int64_t first = 0;
  stop_requested = true;
  if (first_signal_ms.compare_exchange_strong(first, milliseconds) || milliseconds - first < 1000) return;
  sfft::detail::remove_unfinished_files();
  signal(number, SIG_DFL);
  raise(number);
}

void install_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;  // no SA_RESTART, so that a blocked read returns
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  // A closed terminal ends a run like Ctrl-C, unless nohup started it.
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, nullptr);
  // A closed pipe or a file size limit is an error of that output and must not end the run.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

/// Memory reserved for the end. When memory is exhausted, the run stops and uses the reserve to write its
/// reports. JSON values, for example, allocate where they must not fail.
constexpr std::size_t kReserveBytes = std::size_t{8} << 20;
std::atomic<void*> reserve{nullptr};

/// Called by operator new, which then retries or throws std::bad_alloc.
void use_reserve() {
  void* const kept = reserve.exchange(nullptr);
  if (kept == nullptr) throw std::bad_alloc();
  std::free(kept);
  memory_short = true;
  stop_requested = true;
}

/// Some libraries allocate where exceptions are not allowed (destructors of JSON values, CLI11's noexcept
/// functions). If memory stays exhausted, they terminate the program.
[[noreturn]] void on_terminate() {
  if (!memory_short) std::abort();
  sfft::detail::remove_unfinished_files();
  constexpr std::string_view kMessage =
      "sfft-video: out of memory: the program could not finish its reports\n";
  static_cast<void>(!::write(STDERR_FILENO, kMessage.data(), kMessage.size()));
  ::_exit(kFailure);
}

void make_reserve() {
  reserve = std::malloc(kReserveBytes);
  std::set_new_handler(&use_reserve);
  std::set_terminate(&on_terminate);
}

/// Makes the C library keep freed memory. Learning and planning allocate and free blocks of megabytes. By
/// default the system gets each block back, and touching new pages took a third of the time.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 4 << 20);
#endif
}

void print_decisions() {
  sfft::set_log([](std::string_view topic, std::string_view message) {
    print(stderr, "{}: {}\n", topic, sfft::video::printable(std::string(message)));
  });
}

int parse_and_run(int argc, char** argv, const std::atomic<bool>& stop) {
  const CommandLine line = parse_command_line(argc, argv, std::cout, std::cerr);
  install_signals();
  if (line.run.verbose || line.learn.verbose) print_decisions();
  switch (line.command) {
    case CommandLine::Command::run:
      return run_command(line.run, stop);
    case CommandLine::Command::learn:
      return learn_command(line.learn, stop);
    case CommandLine::Command::vibration:
      return vibration_command(line.vibration, stop);
    case CommandLine::Command::guard:
      return guard_command(line.guard, stop);
    case CommandLine::Command::triage:
      return triage_command(line.triage, stop);
    case CommandLine::Command::merge:
      return merge_command(line.merge);
    case CommandLine::Command::info:
      return info_command(line.info);
    case CommandLine::Command::none:
      break;
  }
  return line.exit_code;
}

/// Prints what went wrong and returns the exit code.
int report_failure() {
  try {
    throw;
  } catch (const UsageError& error) {
    complain(error.what());
    return kUsage;
  } catch (const sfft::Error& error) {
    complain(error.what());
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    complain("out of memory: close other programs, or transform fewer inputs at once");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return kFailure;
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  keep_freed_memory();
  make_reserve();
  int code = kFailure;
  try {
    code = parse_and_run(argc, argv, stop_requested);
  } catch (...) {
    code = report_failure();
  }
  if (memory_short) {
    complain("out of memory: what was done until then is reported");
    if (code == kFine || code == kInterrupted) code = kFailure;
  }
  std::cout.flush();  // CLI11 prints there
  if (standard_output_lost() || !std::cout) {
    complain("standard output cannot be written: what was printed there is lost");
    if (code == kFine) code = kUsage;
  }
  return code;
}
