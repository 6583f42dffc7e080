// SPDX-License-Identifier: Apache-2.0
// The parsed command line of sfft-video, and its subcommands. Each returns the exit code of the program.
#pragma once

#include <array>
#include <atomic>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "video/guard/watch.hpp"
#include "video/pipeline/run.hpp"
#include "video/triage/recording.hpp"
#include "video/vibration/recording.hpp"

namespace sfft::apps {

/// Exit codes that scripts rely on.
enum ExitCode : int {
  kFine = 0,
  kFailure = 1,
  kUsage = 2,
  kInput = 3,
  kDevice = 4,
  kEvents = 5,
  kInterrupted = 130
};

/// The exit code for an error that ends a command.
int exit_code(ErrorCode code) noexcept;
/// The exit code of a command whose inputs have this worst status.
int exit_code(video::RunStatus worst) noexcept;
/// Call it in a catch block: returns the status and message of an input of which nothing was read, because it
/// did not open, or because memory or threads ran out. A report is still written then. Rethrows other errors.
std::pair<video::RunStatus, std::string> unread_status(bool stopped);

/// --backend, --device and --devices.
struct DeviceChoice {
  Backend backend = Backend::automatic;
  int gpu = 0;
  std::vector<int> gpus{};  ///< implies the cuda backend

  /// Throws UsageError if they contradict each other.
  Device device() const;
};

struct RunCommand {
  std::vector<std::string> inputs;
  std::string template_path;
  /// Output paths. Empty: not written; "-": standard output. {} in a path stands for the input's name.
  std::string json, csv, spectra, html, save_template, reconstruct;
  std::string results;  ///< folder for the shards' files; empty: none
  std::string shard;    ///< "I/N", "auto", or empty for everything; needs results
  video::SourceOptions source;
  DeviceChoice where;
  video::RunOptions options;  ///< `device` follows from `where`
  bool no_reference = false;
  bool quiet = false;
  bool verbose = false;
  bool keep_json = false;      ///< return the report as text, to merge it with others
  bool summary_aside = false;  ///< print the summary to standard error

  bool sharded() const noexcept { return !results.empty(); }
};

struct MergeCommand {
  std::vector<std::string> shards;  ///< files or folders
  std::string json, csv;            ///< empty: not written; "-": standard output
  bool partial = false;
  bool quiet = false;
};

struct LearnCommand {
  std::string input, output;
  video::SourceOptions source;
  DeviceChoice where;
  std::int64_t k = 0;
  double energy = 0, threshold = 0;
  std::int64_t frames = 1;
  bool no_reference = false;
  bool no_plan = false;
  bool verbose = false;
  int threads = 1;
};

struct VibrationCommand {
  std::string input;
  video::SourceOptions source;
  std::string json, csv, html, svg, hdf5;  ///< empty: not written; "-": standard output
  video::VibrationOptions options;
  bool quiet = false;
};

struct GuardCommand {
  std::vector<std::string> inputs;
  std::string json, html, svg;  ///< empty: not written; "-": standard output
  std::string on_event;         ///< a shell command; empty: none
  std::string snapshots;        ///< a folder; empty: none
  std::array<bool, video::kEventKinds> fail_on{};
  bool separate = false;  ///< treat recordings that continue each other as unrelated
  video::WatchOptions options;
  bool quiet = false;
};

struct TriageCommand {
  std::vector<std::string> inputs;
  std::string json, csv, edl, html, svg;  ///< empty: not written; "-": standard output
  std::string clips;                      ///< a folder; empty: none
  std::string state;                      ///< file for the results of finished inputs; empty: none
  bool separate = false;                  ///< treat recordings that continue each other as unrelated
  double sensitivity = 1;
  int jobs = 1;  ///< files read concurrently; 0: one per core
  video::TriageOptions options;
  bool quiet = false;
};

int run_command(const RunCommand& command, const std::atomic<bool>& stop);
int merge_command(const MergeCommand& command);
int learn_command(const LearnCommand& command, const std::atomic<bool>& stop);
int vibration_command(const VibrationCommand& command, const std::atomic<bool>& stop);
int guard_command(const GuardCommand& command, const std::atomic<bool>& stop);
int triage_command(const TriageCommand& command, const std::atomic<bool>& stop);
int info_command(const std::string& path);

struct RunOutcome {
  int code = kFine;
  video::RunStatus status = video::RunStatus::complete;
  std::string message;
  std::string json;  ///< if RunCommand::keep_json requests it
};

/// Runs a command that has one input and no {} in the names of its outputs.
RunOutcome run_one(RunCommand command, const std::atomic<bool>& stop);

/// The command for one of several inputs; `name` fills the {} in the names of outputs.
RunCommand command_for(const RunCommand& command, const std::string& input, const std::string& name);

/// Throws UsageError if several inputs would write to the same output file. A common JSON report is allowed.
void check_output_names(const RunCommand& command);

/// Runs the recordings of one shard, and appends the results to the shard's file.
int run_shard(const RunCommand& command, const std::vector<std::string>& inputs,
              const std::atomic<bool>& stop);

struct CommandLine {
  enum class Command : std::uint8_t { none, run, learn, vibration, guard, triage, merge, info };
  Command command = Command::none;
  int exit_code = kFine;  ///< for the command `none`: help or an error was printed
  RunCommand run;
  LearnCommand learn;
  VibrationCommand vibration;
  GuardCommand guard;
  TriageCommand triage;
  MergeCommand merge;
  std::string info;
};

CommandLine parse_command_line(int argc, const char* const* argv, std::ostream& out, std::ostream& error);

}  // namespace sfft::apps
