// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands, and the CLI11 options of run, learn, merge and info with their limits and
// exclusions.
#include "commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string_view>

#include "apps/unknown_word.hpp"
#include "options.hpp"
#include "sfft/error.hpp"
#include "sfft/sfft.hpp"
#include "video/report/hdf5_file.hpp"
#include "video/shards/shard.hpp"
#include "video/sources/source.hpp"

namespace sfft::apps {

namespace {

constexpr const char* kDescription =
    "Learns which frequencies of a recording matter and transforms every frame at those alone, from a few "
    "per cent of its\n"
    "pixels, with an estimate of the error.";

constexpr std::string_view kExamples =
    R"(  sfft-video run street.mp4                              transform a recording, checking every 10th frame
  sfft-video run street.mp4 --html street.html           the same, with a page of pictures
  sfft-video run street.mp4 --k 500 --json report.json   500 frequencies, numbers for scripts
  sfft-video run 0 --frames 300                          300 frames of the first camera
  sfft-video run frames/%04d.png --spectra out.h5        an image sequence; every frame's coefficients as HDF5
  ffmpeg -i in.mkv -f yuv4mpegpipe -pix_fmt gray -strict -1 - | sfft-video run -
  sfft-video learn street.mp4 -o street.sfft --frames 20 && sfft-video run 0 --template street.sfft
  sfft-video guard rtsp://camera/1 rtsp://camera/2       tell when a camera is moved, covered, frozen, ...
  sfft-video guard night.mp4 --fail-on alarms --json night.json   exit code 5 if anything but the light changed
  sfft-video vibration motor.mp4 --fps 500 --html motor.html   what vibrates, where, and at which frequency
  sfft-video vibration fork.mp4 --fps 250 --expect 128   names the alias at 122 Hz
  mpirun -n 4 sfft-video run week/ --shard auto --results out && sfft-video merge out --json week.json
  sfft-video triage yard.mp4                             when anything happens: a line of JSON per event
  sfft-video triage week/ --html week.html --state week.state  the same for days of recordings, with a page
  sfft-video info street.mp4                             size, rate and length of an input
)";

constexpr const char* kVerboseHelp =
    "Say on standard error what the library decides: plans, engines, what a tracker does, and why";

constexpr const char* kExitCodes =
    R"(Exit codes: 0 fine, 1 no memory or threads left (what was done is reported), 2 wrong usage, 3 input unreadable or damaged (what was read is reported), 4 no usable GPU,
its failure or no memory on it, 5 events that guard's --fail-on names, 130 interrupted (what was done is reported).)";

/// Examples of one subcommand, or of all, and the exit codes.
std::string footer(const std::string& command) {
  std::string text;
  std::string_view left = kExamples;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n') + 1);
    left.remove_prefix(line.size());
    if (line.find("sfft-video " + command) != std::string_view::npos) text += line;
  }
  return (text.empty() ? text : "Examples:\n" + text + '\n') + kExitCodes;
}

std::string version_text() {
  const char* const cameras = video::has_opencv() ? "yes" : "no: reads no cameras and no image sequences";
  const char* const recordings = video::has_libav()    ? "yes"
                                 : video::has_opencv() ? "no: OpenCV reads recordings, which takes longer"
                                                       : "no: reads YUV4MPEG2 only";
  return fmt::format("sfft-video {}\n{}FFmpeg     {}\nOpenCV     {}\nHDF5       {}", version(), build_info(),
                     recordings, cameras, video::has_hdf5() ? "yes" : "no: no --spectra");
}

void add_backend(CLI::App* command, DeviceChoice& where) {
  static const std::map<std::string, Backend> names{
      {"auto", Backend::automatic}, {"cpu", Backend::cpu}, {"cuda", Backend::cuda}};
  command
      ->add_option_function<std::string>(
          "--backend", [&where](const std::string& name) { where.backend = names.at(name); }, "Where to run")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->default_str("auto");
  command->add_option("--device", where.gpu, "Which GPU, as the driver counts them")
      ->check(not_negative())
      ->capture_default_str();
}

void add_transfer(CLI::App* command, PlanOptions::Transfer& transfer) {
  static const std::map<std::string, PlanOptions::Transfer> names{{"auto", PlanOptions::Transfer::automatic},
                                                                  {"whole", PlanOptions::Transfer::whole},
                                                                  {"gather", PlanOptions::Transfer::gather},
                                                                  {"mapped", PlanOptions::Transfer::mapped},
                                                                  {"rows", PlanOptions::Transfer::rows}};
  command
      ->add_option_function<std::string>(
          "--transfer", [&transfer](const std::string& name) { transfer = names.at(name); },
          "How pixels reach a GPU: whole frames, gathered by the host, read in place, or the rows they are "
          "in")
      ->check(CLI::IsMember({"auto", "whole", "gather", "mapped", "rows"}))
      ->default_str("auto");
}

CLI::Validator y4m_name() {
  return {[](std::string& text) {
            const bool good = text == "-" || text.ends_with(".y4m") || text.starts_with("/dev/");
            return good ? std::string()
                        : fmt::format(
                              "'{}' is not NAME.y4m; other formats are made from that, as in  ffmpeg -i "
                              "NAME.y4m NAME.mp4",
                              text);
          },
          ""};
}

PlanEffort effort_named(const std::string& name) {
  return name == "quick" ? PlanEffort::quick : name == "thorough" ? PlanEffort::thorough : PlanEffort::normal;
}

CLI::Validator shard_check() {
  return {[](std::string& text) {
            if (text == "auto") return std::string();
            try {
              video::parse_shard(text);
            } catch (const Error& error) {
              return std::string(error.what());
            }
            return std::string();
          },
          ""};
}

/// Adds --shard and --results.
void add_shard(CLI::App* run, RunCommand& command) {
  auto* results = run->add_option(
      "--results", command.results,
      "Keep each recording's report in this folder as soon as it is finished, and leave out what an earlier "
      "start has finished; 'sfft-video merge' makes one report");
  run->add_option("--shard", command.shard,
                  "Read part I of N of the recordings, as in 2/8; 'auto' takes both from mpirun or srun")
      ->check(shard_check())
      ->needs(results);
}

void add_run(CLI::App& app, RunCommand& command) {
  CLI::App* run = app.add_subcommand("run", "Transform every frame of an input");
  run->add_option("INPUT", command.inputs,
                  std::string(kInputHelp) +
                      ". Several are read one after another; a directory without images "
                      "stands for the recordings in it")
      ->required();
  add_source(run, command.source);
  add_region(run, command.source);
  auto* k =
      run->add_option("--k", command.options.k, "Frequencies to keep (default: 1000, fewer for small frames)")
          ->check(positive());
  auto* energy = run->add_option("--energy", command.options.energy,
                                 "Instead: the fewest with this share of the first frame's energy, 0 to 1")
                     ->check(CLI::Range(1e-9, 1.0));
  auto* given =
      run->add_option("--template", command.template_path, "Instead: a template file from 'sfft-video learn'")
          ->check(CLI::ExistingFile);
  k->excludes(energy)->excludes(given);
  energy->excludes(given);
  run->add_option("--accuracy", command.options.accuracy,
                  "Relative error that is good enough; frames above it are transformed densely")
      ->check(positive());
  run->add_option("--samples", command.options.max_samples,
                  "Share of the pixels that may be read, 0 to 1 (default: automatic, at most 1/12)")
      ->check(CLI::Range(1e-9, 1.0));
  add_backend(run, command.where);
  run->add_option("--devices", command.where.gpus,
                  "Several GPUs that share the frames, as 0,1: implies --backend cuda")
      ->delimiter(',')
      ->check(not_negative())
      ->excludes("--device");
  add_transfer(run, command.options.transfer);
  run->add_option("--threads", command.options.threads,
                  "Threads, 0 for one per core; the dense transform gets as many")
      ->check(not_negative())
      ->capture_default_str();
  auto* effort =
      run->add_option_function<std::string>(
             "--effort", [&command](const std::string& name) { command.options.effort = effort_named(name); },
             "How long to search for a plan; 'quick' pays in the first frames, 'thorough' in long "
             "recordings")
          ->check(CLI::IsMember({"quick", "normal", "thorough"}))
          ->default_str("normal");
  run->add_flag("--refine", command.options.refine,
                "Start with a quick plan and change to a thorough one, which another thread searches for")
      ->excludes(effort);
  run->add_option("--verify", command.options.verify,
                  "Check every N-th frame against a dense transform, 0 for none")
      ->check(not_negative())
      ->capture_default_str();
  run->add_option("--frames", command.options.frames, "Stop after N frames")->check(positive());
  run->add_option("--batch", command.options.batch,
                  "Frames to transform together at most (default: 64 on a GPU, 4 per thread on a CPU with "
                  "several, else 1); a camera, a stream or a pipe is never waited for")
      ->check(between(1, 1024));
  run->add_option(
         "--learn-frames", command.options.learn_frames,
         "Learn from the first N frames, which are kept in memory until then. More than one helps where the "
         "first frame is not like the others, and tells how frames differ")
      ->check(between(1, 256))
      ->capture_default_str();
  run->add_flag("--no-reference", command.no_reference,
                "Transform frames themselves, not their difference to a reference frame");
  run->add_flag("--similarity", command.options.similarity,
                "Say for every frame how similar it is to the template; each is transformed densely, too");
  run->add_option(
      "--json", command.json,
      "Write the report for scripts; - for standard output. In this name and in those of the other "
      "outputs {} stands for the name of the input");
  run->add_option("--csv", command.csv, "Write a line per frame; - for standard output");
  run->add_option("--spectra", command.spectra, "Write every frame's coefficients as HDF5");
  run->add_option("--save-template", command.save_template,
                  "Write the template as it is at the end, with the plans that were used: the next run with "
                  "--template and the same options starts without a search");
  run->add_option("--html", command.html, "Write a page with pictures; - for standard output");
  run->add_option("--reconstruct", command.reconstruct,
                  "Write a video that shows each frame next to its reconstruction: NAME.y4m, "
                  "YUV4MPEG2 in grey; - for standard output")
      ->check(y4m_name());
  add_shard(run, command);
  run->add_flag("--quiet", command.quiet, "No progress and no summary");
  run->add_flag("--verbose", command.verbose, kVerboseHelp);
}

void add_learn(CLI::App& app, LearnCommand& command) {
  CLI::App* learn = app.add_subcommand("learn", "Learn a template and save it");
  learn->add_option("INPUT", command.input, kInputHelp)->required();
  add_source(learn, command.source);
  add_region(learn, command.source);
  learn->add_option("-o,--output", command.output, "The template file to write; - for standard output")
      ->required();
  auto* k = learn->add_option("--k", command.k, "Frequencies to keep (default: 1000, fewer for small frames)")
                ->check(positive());
  auto* energy =
      learn->add_option("--energy", command.energy, "Instead: the fewest with this share of the energy")
          ->check(CLI::Range(1e-9, 1.0));
  auto* threshold = learn
                        ->add_option("--threshold", command.threshold,
                                     "Instead: all this many standard deviations above the noise floor")
                        ->check(positive());
  k->excludes(energy)->excludes(threshold);
  energy->excludes(threshold);
  learn->add_option("--frames", command.frames, "Learn from the mean power of the first N frames")
      ->check(positive())
      ->capture_default_str();
  learn->add_option("--threads", command.threads, "Threads, 0 for one per core")
      ->check(not_negative())
      ->capture_default_str();
  add_backend(learn, command.where);
  learn->add_flag("--no-reference", command.no_reference, "Leave the reference frame out of the file");
  learn->add_flag("--no-plan", command.no_plan,
                  "Leave out the plan with which 'run' and its default options start at once");
  learn->add_flag("--verbose", command.verbose, kVerboseHelp);
}

void add_merge(CLI::App& app, MergeCommand& command) {
  CLI::App* merge = app.add_subcommand("merge", "Make one report of the shards of a run");
  merge
      ->add_option("SHARD", command.shards,
                   "The folder that 'run --results' was given, or the shards' files, one from each")
      ->required();
  merge->add_option("--json", command.json,
                    "Write the report for scripts, as a run over all recordings does; - for standard output");
  merge->add_option("--csv", command.csv, "Write a line per recording; - for standard output");
  merge->add_flag("--partial", command.partial,
                  "Report what there is, where shards are missing or have not finished; the exit code is 3");
  merge->add_flag("--quiet", command.quiet, "No summary");
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv, std::ostream& out, std::ostream& error) {
  CommandLine line;
  CLI::App app{kDescription, "sfft-video"};
  app.footer(footer(""));
  app.set_version_flag("--version", version_text);
  app.require_subcommand(1);
  app.fallthrough();                                        // --config may follow the command
  app.allow_config_extras(CLI::config_extras_mode::error);  // a misspelt option is an error
  app.set_config("--config", "",
                 "Read options from a file: a section per command, a line per option, as in\n"
                 "[run]\nk = 500");
  add_run(app, line.run);
  add_learn(app, line.learn);
  add_vibration(app, line.vibration);
  add_guard(app, line.guard);
  add_triage(app, line.triage);
  add_merge(app, line.merge);
  app.add_subcommand("info", "Describe a template file or an input")
      ->add_option("PATH", line.info, "A template file, or any INPUT of 'run'")
      ->required();
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    command->footer(footer(command->get_name()));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ConfigError& problem) {
    error << "--config: " << problem.what()
          << "\nA section has the name of a command, and a line that of one of its options: see --help.\n";
    line.exit_code = kUsage;
    return line;
  } catch (const CLI::ParseError& problem) {
    if (const std::string unknown = unknown_word(app); problem.get_exit_code() != 0 && !unknown.empty()) {
      error << unknown;
      line.exit_code = kUsage;
      return line;
    }
    line.exit_code = app.exit(problem, out, error) == 0 ? kFine : kUsage;
    return line;
  }
  line.command = app.got_subcommand("run")         ? CommandLine::Command::run
                 : app.got_subcommand("learn")     ? CommandLine::Command::learn
                 : app.got_subcommand("vibration") ? CommandLine::Command::vibration
                 : app.got_subcommand("guard")     ? CommandLine::Command::guard
                 : app.got_subcommand("triage")    ? CommandLine::Command::triage
                 : app.got_subcommand("merge")     ? CommandLine::Command::merge
                                                   : CommandLine::Command::info;
  return line;
}

}  // namespace sfft::apps
