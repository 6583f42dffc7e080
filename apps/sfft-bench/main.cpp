// SPDX-License-Identifier: Apache-2.0
// sfft-bench shows which approach wins where. This file parses the command line, calls a subcommand and
// writes the results.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "run_control.hpp"
#include "sfft/sfft.hpp"
#include "video/sources/source.hpp"
#if SFFT_BENCH_CUDA
#include "bench/cuda/library_on_gpu.hpp"
#endif

namespace {

using namespace sfft::apps;

enum ExitCode : int { kFine = 0, kFailure = 1, kUsage = 2, kInput = 3, kGpu = 4, kInterrupted = 130 };

constexpr const char* kDescription =
    "Times sparse and dense transforms beside FFTW and the published sparse FFT algorithms: one process, one "
    "core,\n"
    "the same data, contenders in turn, medians, cold and warm caches apart, accuracy beside time.";

constexpr const char* kExamples = R"(Examples:
  sfft-bench sparse --quick                              under a minute: who wins for which N and k
  sfft-bench sparse --json sparse.json --csv sparse.csv  everything, for bench/plot.py and for spreadsheets
  sfft-bench sparse --sweep n --sizes 16384,262144 --k 50 --only fftw --only sfft-3
  sfft-bench noise --snr 0,20,40                         error against the signal-to-noise ratio
  sfft-bench dense --shape 1080x1920 --real              the built-in dense engine against FFTW
  sfft-bench video street.mp4 --k 1000                   learning and transforming a recording
  bench/plot.py sparse.json -o figures                   the figures, as SVG

Exit codes: 0 fine, 2 wrong usage, 3 a file unreadable or not writable, 4 no usable GPU (with --device cuda),
130 interrupted, 1 anything else. Files hold what was measured before the run ended, however it ended.)";

struct CommandLine {
  CommonOptions common;
  SparseOptions sparse;
  NoiseOptions noise;
  DenseOptions dense;
  VideoOptions video;
};

void add_common(CLI::App& command, CommonOptions& common) {
  command.add_option("--json", common.json, "Write the rows for bench/plot.py and scripts");
  command.add_option("--csv", common.csv, "Write the rows as comma-separated values");
  command.add_option("--signals", common.signals, "Different signals, or rounds, that medians are over")
      ->check(CLI::Range(1, 100000));
  command.add_option("--device", common.device, "Contenders on the cpu, on the GPU (cuda), or all")
      ->check(CLI::IsMember({"cpu", "cuda", "all"}))
      ->capture_default_str();
  command.add_flag("--quick", common.quick, "Smaller and fewer: under a minute");
  command.add_flag("--quiet", common.quiet, "No progress and no table");
}

constexpr const char* kOnlyHelp = "Only contenders whose name contains this; may be repeated";

void add_sparse(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("sparse", "Run time against N and against k, exactly sparse signals");
  command->add_option("--sweep", line.sparse.sweep, "Over n, over k, or all")
      ->check(CLI::IsMember({"n", "k", "all"}))
      ->capture_default_str();
  command->add_option("--sizes", line.sparse.sizes, "Lengths N of the sweep over n (default: 2^12 … 2^24)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{16}, std::int64_t{1} << 28));
  command->add_option("--k", line.sparse.k, "Numbers of coefficients of the sweep over n (default: 50,64)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 28));
  command
      ->add_option("--k-sweep", line.sparse.k_sweep,
                   "Numbers of coefficients of the sweep over k (default: 50 … 4000)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 28));
  command->add_option("--points", line.sparse.points, "Length N of the sweep over k (default: 2^22)")
      ->check(CLI::Range(std::int64_t{16}, std::int64_t{1} << 28));
  command->add_option("--only", line.sparse.only, kOnlyHelp);
  add_common(*command, line.common);
}

void add_noise(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("noise", "Error against the signal-to-noise ratio");
  command->add_option("--snr", line.noise.snr_db, "Total signal power over total noise power, in dB")
      ->delimiter(',')
      ->check(CLI::Range(-60.0, 200.0));
  command->add_option("--sizes", line.noise.sizes, "Lengths N (default: 2^18 and 2^22)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{16}, std::int64_t{1} << 28));
  command->add_option("--k", line.noise.k, "Number of coefficients")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 28))
      ->capture_default_str();
  command->add_option("--only", line.noise.only, kOnlyHelp);
  add_common(*command, line.common);
}

void add_dense(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("dense", "The built-in dense engine against FFTW, 1D to 3D");
  command->add_option("--shape", line.dense.shapes, "4096, 1080x1920 or 64x64x64; may be repeated");
  command->add_flag("--real", line.dense.real, "Real samples, half spectra");
  add_common(*command, line.common);
}

void add_video(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("video", "Learning and transforming a recording, frame by frame");
  command->add_option("INPUT", line.video.input, "A recording, or any other INPUT of sfft-video run")
      ->required();
  command->add_option("--k", line.video.k, "Frequencies to keep (default: 500,1000)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 28));
  command->add_option("--frames", line.video.frames, "Stop after so many (default: 500, with --quick 40)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 28));
  command->add_flag("--loop", line.video.loop, "Start the recording again where it is shorter than --frames");
  add_common(*command, line.common);
}

/// Whether a GPU takes part. Prints one message if a GPU is wanted but missing.
bool settle_gpu(const CommonOptions& common) {
  if (common.device == "cpu") return false;
#if SFFT_BENCH_CUDA
  const std::string problem = sfft::unavailable(sfft::Backend::cuda);
#else
  const std::string problem = "this build has no CUDA";
#endif
  if (problem.empty()) return true;
  if (common.device == "cuda") throw sfft::Error(sfft::ErrorCode::backend_unavailable, problem);
  if (SFFT_BENCH_CUDA && !common.quiet) fmt::print(stderr, "sfft-bench: on the CPU alone: {}\n", problem);
  return false;
}

void run(const std::string& subcommand, CommandLine& line, Results& results) {
  if (subcommand == "sparse") run_sparse(line.sparse, line.common, results);
  if (subcommand == "noise") run_noise(line.noise, line.common, results);
  if (subcommand == "dense") run_dense(line.dense, line.common, results);
  if (subcommand == "video") run_video(line.video, line.common, results);
}

/// Runs a subcommand; the result files record how the run ended in any case.
int run_and_record(const std::string& subcommand, CommandLine& line, RunContext context) {
  line.common.gpu = settle_gpu(line.common);
  context.subcommand = subcommand;
  context.quick = line.common.quick;
#if SFFT_BENCH_CUDA
  if (line.common.gpu) context.gpu = sfft::bench::gpu_name();
#endif
  Results results(context, line.common.json, line.common.csv, line.common.quiet);
  try {
    run(subcommand, line, results);
  } catch (const Interrupted& interrupt) {
    results.finish(interrupt.what());
    fmt::print(stderr, "sfft-bench: interrupted; what was measured is kept\n");
    return kInterrupted;
  } catch (const std::exception& error) {
    results.finish(error.what());
    throw;
  }
  results.finish("complete");
  return kFine;
}

int exit_code(sfft::ErrorCode code) {
  switch (code) {
    case sfft::ErrorCode::file_unreadable:
      return kInput;
    case sfft::ErrorCode::backend_unavailable:
      return kGpu;
    case sfft::ErrorCode::out_of_memory:
      return kFailure;
    default:
      return kUsage;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{kDescription, "sfft-bench"};
  app.footer(kExamples);
  app.set_version_flag("--version", fmt::format("sfft-bench {}\n{}", sfft::version(), sfft::build_info()));
  app.require_subcommand(1);
  CommandLine line;
  add_sparse(app, line);
  add_noise(app, line);
  add_dense(app, line);
  add_video(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kUsage;
  }
  install_signals();
  RunContext context;
  context.command = "build/bin/sfft-bench";
  for (int i = 1; i < argc; ++i) context.command += std::string(" ") + argv[i];
  try {
    return run_and_record(app.get_subcommands().front()->get_name(), line, context);
  } catch (const sfft::video::InputError& error) {
    fmt::print(stderr, "sfft-bench: {}\n", error.what());
    return kInput;
  } catch (const sfft::Error& error) {
    fmt::print(stderr, "sfft-bench: {}\n", error.what());
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "sfft-bench: out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "sfft-bench: {}\n", error.what());
  }
  return kFailure;
}
