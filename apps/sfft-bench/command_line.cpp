// SPDX-License-Identifier: Apache-2.0
// Declares the options of the subcommands, and the examples in their help.
#include "commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/unknown_word.hpp"
#include "sfft/sfft.hpp"

namespace sfft::apps {

namespace {

constexpr std::int64_t kMax = std::int64_t{1} << 28;

constexpr const char* kDescription =
    "Compares sparse and dense transforms with FFTW and the published sparse FFT algorithms: one process, "
    "the "
    "same data,\n"
    "alternating contenders, medians, warm and cold caches, time and accuracy.";

constexpr const char* kExamples = R"(Examples:
  sfft-bench sparse --quick                              under a minute: who wins for which N and k
  sfft-bench sparse --json sparse.json --csv sparse.csv  everything, for bench/plot.py and for spreadsheets
  sfft-bench sparse --sweep n --sizes 16384,262144 --k 50 --only fftw --only sfft-3
  sfft-bench sparse --sweep noise --snr 20,0             time against N under noise, with the errors
  sfft-bench noise --snr 0,20,40                         error against the signal-to-noise ratio
  sfft-bench dense --shape 1080x1920 --real --threads 1,4   the built-in dense engine against FFTW
  sfft-bench video street.mp4 --k 1000                   when learning and planning are paid back
  sfft-bench technologies --quick                        one FFT in every technology of this machine
  bench/plot.py sparse.json -o figures                   the figures, as SVG

Exit codes: 0 fine, 2 wrong usage, 3 a file unreadable or not writable, 4 no usable GPU (with --device cuda),
130 interrupted, 1 anything else. Files hold what was measured before the run ended, however it ended.)";

constexpr const char* kSparseExamples = R"(Examples:
  sfft-bench sparse --sweep n --k 64 --threads 1         run time against N on one thread
  sfft-bench sparse --sweep noise --snr 20 --k 64        the same where signals are noisy: every row has its error
  sfft-bench sparse --snr 20                             all three sweeps
  sfft-bench sparse --sweep n --only "sfft known" --only fftw --threads 1,4 --fftw-planner measure,estimate

"FFTW" plans with FFTW_MEASURE on one thread; "FFTW estimate, 4 threads" is the name of another setting. Plan
time is a column of its own. A row says so where it ran on fewer cores than threads.)";

constexpr const char* kVideoExamples = R"(Examples:
  sfft-bench video street.mp4 --k 1000                   one recording
  sfft-bench video wide=a.y4m road=b.mp4 belt=c.mp4 --frames 260,377,400 --k 1000
                                                         three segments, as in the paper of Chen and Li
  sfft-bench video road=b.mp4 --threads 1 --only "k = 1000" --only fftw --only "fftw estimate"
  sfft-bench video road=b.mp4 --device cuda --batch 1,128   against cuFFT and VkFFT

Break-even is the smallest number of frames n for which
    preparation + n x (time per frame)  is no more than a dense transform's.
Preparation is everything before the first spectrum, less one frame's time: learning and planning here, plan
creation there. "sfft" is a tracker, whose renewals and comparisons are in its time per frame; "sfft plan" has one
template for all frames. "never" comes with its reason. "first use" is the first preparation in the process, which
also loads libraries and kernels; what the process pays once for the GPU is on this library's errors. "Plan kept"
takes the dense transform's plan as made before, by FFTW's wisdom for example.)";

constexpr const char* kTechnologyExamples = R"(Examples:
  sfft-bench technologies --quick                        what this machine has, small sizes
  sfft-bench technologies --json technologies.json       everything, for bench/tables.py
  sfft-bench technologies --only opencl --all-devices    every device of every OpenCL platform
  sfft-bench technologies --only emulation --bits 14     the GPU's kernels emulated on the processor

Every technology is looked for when the program runs and has a process of its own: what is missing, crashes or
hangs is a row with its reason. Every answer is compared with FFTW in double precision before it is timed; exit
code 1 says that one was wrong.)";

constexpr const char* kOnlyHelp =
    "Only the contender of this name, or else those whose name contains it; may be repeated";

/// Options from which the lineup is made when the subcommand is known.
struct Settings {
  std::vector<int> threads;
  std::vector<std::string> planners, efforts;
};

void add_common(CLI::App& command, CommonOptions& common, Settings& settings) {
  command.add_option("--json", common.json, "Write the rows for bench/plot.py and scripts");
  command.add_option("--csv", common.csv, "Write the rows as comma-separated values");
  command.add_option("--signals", common.signals, "Different signals, or rounds, that medians are over")
      ->check(CLI::Range(1, 100000));
  command.add_option("--device", common.device, "Contenders on the cpu, on the GPU (cuda), or all")
      ->check(CLI::IsMember({"cpu", "cuda", "all"}))
      ->capture_default_str();
  command
      .add_option("--threads", settings.threads,
                  "Threads of FFTW and of sfft, each number a contender of its own (default: 1,4; with "
                  "--quick and for noise 1)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1024));
  command
      .add_option("--fftw-planner", settings.planners,
                  "How FFTW plans: estimate, measure, patient (default: measure,estimate; for noise measure)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--effort", settings.efforts,
                  "How sfft plans: quick, normal, thorough, each a contender of its own (default: normal)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_flag("--quick", common.quick, "Smaller and fewer: under a minute");
  command.add_flag("--quiet", common.quiet, "No progress and no table");
}

void add_sparse(CLI::App& app, CommandLine& line, Settings& settings) {
  SparseOptions& sparse = line.sparse;
  CLI::App* command =
      app.add_subcommand("sparse", "Run time against N and against k, exactly sparse signals or noisy ones");
  command->footer(kSparseExamples);
  command
      ->add_option("--sweep", sparse.sweep,
                   "Over n, over k, over n under noise (noise), or all: n and k, and noise if there is --snr")
      ->check(CLI::IsMember({"n", "k", "noise", "all"}))
      ->capture_default_str();
  command->add_option("--sizes", sparse.sizes, "Lengths N of the sweeps over n (default: 2^12 … 2^24)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{16}, kMax));
  command
      ->add_option("--k", sparse.k,
                   "Numbers of coefficients of the sweeps over n (default: 50,64; under noise 64)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, kMax));
  command
      ->add_option("--snr", sparse.snr_db,
                   "Total signal power over total noise power, in dB, of the sweep under noise (default: 20)")
      ->delimiter(',')
      ->check(CLI::Range(-60.0, 200.0));
  command
      ->add_option("--k-sweep", sparse.k_sweep,
                   "Numbers of coefficients of the sweep over k (default: 50 … 4000)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, kMax));
  command->add_option("--points", sparse.points, "Length N of the sweep over k (default: 2^22)")
      ->check(CLI::Range(std::int64_t{16}, kMax));
  command->add_option("--only", sparse.only, kOnlyHelp);
  add_common(*command, line.common, settings);
}

void add_noise(CLI::App& app, CommandLine& line, Settings& settings) {
  CLI::App* command = app.add_subcommand("noise", "Error against the signal-to-noise ratio");
  command->add_option("--snr", line.noise.snr_db, "Total signal power over total noise power, in dB")
      ->delimiter(',')
      ->check(CLI::Range(-60.0, 200.0));
  command->add_option("--sizes", line.noise.sizes, "Lengths N (default: 2^18 and 2^22)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{16}, kMax));
  command->add_option("--k", line.noise.k, "Number of coefficients")
      ->check(CLI::Range(std::int64_t{1}, kMax))
      ->capture_default_str();
  command->add_option("--only", line.noise.only, kOnlyHelp);
  add_common(*command, line.common, settings);
}

void add_dense(CLI::App& app, CommandLine& line, Settings& settings) {
  CLI::App* command = app.add_subcommand("dense", "The built-in dense engine against FFTW, 1D to 3D");
  command->add_option("--shape", line.dense.shapes, "4096, 1080x1920 or 64x64x64; may be repeated");
  command->add_flag("--real", line.dense.real, "Real samples, half spectra");
  add_common(*command, line.common, settings);
}

void add_video(CLI::App& app, CommandLine& line, Settings& settings) {
  VideoOptions& video = line.video;
  CLI::App* command = app.add_subcommand(
      "video", "Learning and transforming recordings, frame by frame, and when that is paid back");
  command->footer(kVideoExamples);
  command
      ->add_option("INPUT", video.inputs,
                   "Recordings, or any other INPUT of sfft-video run, each optionally as LABEL=INPUT")
      ->required();
  command->add_option("--k", video.k, "Frequencies to keep (default: 500,1000)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, kMax));
  command
      ->add_option(
          "--frames", video.frames,
          "Stop after so many (default: 500, with --quick 40): one number for all recordings, or one "
          "for each")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{1}, kMax));
  command->add_flag("--loop", video.loop, "Start a recording again where it is shorter than --frames");
  command
      ->add_option("--batch", video.batch,
                   "Frames per call of a GPU, from its own memory; 0 leaves this out (default: 1,128)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 16));
  command->add_option("--only", video.only, kOnlyHelp)->allow_extra_args(false);
  add_common(*command, line.common, settings);
}

void add_technologies(CLI::App& app, CommandLine& line) {
  TechnologyOptions& technologies = line.technologies;
  CLI::App* command = app.add_subcommand(
      "technologies",
      "One radix-2 FFT in C++, OpenMP, CUDA, OpenCL, OpenGL and Vulkan, compared with the libraries");
  command->footer(kTechnologyExamples);
  command->add_option("--json", line.common.json, "Write the rows for bench/tables.py");
  command->add_option("--from-bits", technologies.bits_from, "Lengths from 2^BITS")->check(CLI::Range(1, 26));
  command->add_option("--bits", technologies.bits_to, "Lengths up to 2^BITS (default: 26, with --quick 14)")
      ->check(CLI::Range(1, 26));
  command
      ->add_option("--bits-2d", technologies.bits_2d_to,
                   "In 2D from 64x64 up to extents of 2^BITS (default: 13, with --quick 7); 5: none")
      ->check(CLI::Range(5, 13));
  command
      ->add_option("--batch-bits", technologies.batch_bits,
                   "Points of a batch, 2^BITS (default: 24, with --quick 16); 5: none")
      ->check(CLI::Range(5, 26));
  command
      ->add_option("--threads", technologies.threads,
                   "Threads per group of the sweeps, powers of two (default: 32 … 1024, with --quick 64,256)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({16, 32, 64, 128, 256, 512, 1024}));
  command->add_option("--tiles", technologies.tiles, "Tiles of the transposition (default: 16,32,64)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({16, 32, 64}));
  command->add_option(
      "--only", technologies.only,
      "Only the technology of this name, or else those whose name contains it; may be repeated");
  command
      ->add_option("--keep-code", technologies.keep_code,
                   "Write what drivers make of the kernels (PTX, SPIR-V) to this folder")
      ->check(CLI::ExistingDirectory);
  command->add_flag("--all-devices", technologies.all_devices,
                    "Every device, or only the first of each technology");
  command
      ->add_option("--patience", technologies.patience_seconds,
                   "Seconds without a sign of life after which a technology is given up")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  command->add_flag("--quick", line.common.quick, "Smaller and fewer: under a minute");
  command->add_flag("--quiet", line.common.quiet, "No progress and no table");
}

template <class T>
std::vector<T> distinct(const std::vector<T>& given, std::vector<T> otherwise) {
  std::vector<T> once;
  for (const T& value : given) {
    if (std::find(once.begin(), once.end(), value) == once.end()) once.push_back(value);
  }
  return once.empty() ? std::move(otherwise) : once;
}

Lineup lineup_of(const Settings& settings, const std::string& subcommand, bool quick) {
  const bool noise = subcommand == "noise";
  const Lineup usual;
  Lineup lineup;
  std::vector<FftwPlanner> planners;
  for (const std::string& name : settings.planners) planners.push_back(fftw_planner(name));
  std::vector<PlanEffort> efforts;
  for (const std::string& name : settings.efforts) efforts.push_back(plan_effort(name));
  lineup.efforts = distinct(efforts, usual.efforts);
  lineup.threads = distinct(settings.threads, noise || quick ? std::vector<int>{1} : usual.threads);
  lineup.planners =
      distinct(planners, noise ? std::vector<FftwPlanner>{FftwPlanner::measure} : usual.planners);
  return lineup;
}

}  // namespace

std::optional<int> parse(int argc, char** argv, CommandLine& line) {
  CLI::App app{kDescription, "sfft-bench"};
  app.footer(kExamples);
  app.set_version_flag("--version",
                       [] { return fmt::format("sfft-bench {}\n{}", sfft::version(), sfft::build_info()); });
  app.require_subcommand(1);
  Settings settings;
  add_sparse(app, line, settings);
  add_noise(app, line, settings);
  add_dense(app, line, settings);
  add_video(app, line, settings);
  add_technologies(app, line);
  try {
    app.parse(argc, argv);
    line.subcommand = app.get_subcommands().front()->get_name();
    line.common.lineup = lineup_of(settings, line.subcommand, line.common.quick);
  } catch (const CLI::ParseError& error) {
    if (const std::string unknown = unknown_word(app); error.get_exit_code() != 0 && !unknown.empty()) {
      fmt::print(stderr, "{}", unknown);
      return kUsage;
    }
    return app.exit(error) == 0 ? kFine : kUsage;
  } catch (const Error& error) {
    fmt::print(stderr, "sfft-bench: {}\n", error.what());
    return kUsage;
  }
  return {};
}

}  // namespace sfft::apps
