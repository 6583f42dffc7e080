// SPDX-License-Identifier: Apache-2.0
// Declares the options of run, learn, vibration and info with CLI11, with the limits on their values and
// which of them exclude each other.
#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "sfft/sfft.hpp"
#include "video/report/spectra_file.hpp"
#include "video/sources/source.hpp"

namespace sfft::apps {

namespace {

constexpr const char* kDescription =
    "Learns which frequencies of a recording matter and transforms every frame at those alone, from a few "
    "per cent of its\n"
    "pixels, with an account of the error.";

constexpr const char* kExamples = R"(Examples:
  sfft-video run street.mp4                              transform a recording, checking every 10th frame
  sfft-video run street.mp4 --html street.html           the same, with a page of pictures
  sfft-video run street.mp4 --k 500 --json report.json   500 frequencies, numbers for scripts
  sfft-video run 0 --frames 300                          300 frames of the first camera
  sfft-video run frames/%04d.png --spectra out.h5        an image sequence; every frame's coefficients as HDF5
  ffmpeg -i in.mkv -f yuv4mpegpipe -pix_fmt gray -strict -1 - | sfft-video run -
  sfft-video learn street.mp4 -o street.sfft --frames 20 && sfft-video run 0 --template street.sfft
  sfft-video vibration motor.mp4 --fps 500 --html motor.html   what vibrates, where, and at which frequency

Exit codes: 0 fine, 2 wrong usage, 3 input unreadable or damaged (what was read is reported), 4 no usable GPU,
its failure or no memory on it, 130 interrupted (what was done is reported).)";

std::string version_text() {
  const char* const cameras = video::has_opencv() ? "yes" : "no: reads no cameras and no image sequences";
  const char* const recordings = video::has_libav()    ? "yes"
                                 : video::has_opencv() ? "no: OpenCV reads recordings, which takes longer"
                                                       : "no: reads YUV4MPEG2 only";
  return fmt::format("sfft-video {}\n{}FFmpeg     {}\nOpenCV     {}\nHDF5       {}", version(), build_info(),
                     recordings, cameras, video::has_hdf5() ? "yes" : "no: no --spectra");
}

constexpr const char* kInputHelp =
    "A recording, a directory or printf pattern of images, a camera's number, an rtsp:// or http:// address, "
    "a .y4m file, or - "
    "for YUV4MPEG2 on standard input";

/// Replaces CLI11's own checks, whose messages name the largest representable number.
CLI::Validator number_check(const char* what, bool (*good)(double)) {
  return {[what, good](std::string& text) {
            double value = 0;
            const bool number = CLI::detail::lexical_cast(text, value);
            return number && good(value) ? std::string() : fmt::format("'{}' is not {}", text, what);
          },
          ""};
}
CLI::Validator positive() {
  return number_check("a number above 0", [](double value) { return value > 0; });
}
CLI::Validator not_negative() {
  return number_check("a number of at least 0", [](double value) { return value >= 0; });
}

void add_backend(CLI::App* command, Backend& backend, int& device) {
  static const std::map<std::string, Backend> names{
      {"auto", Backend::automatic}, {"cpu", Backend::cpu}, {"cuda", Backend::cuda}};
  command
      ->add_option_function<std::string>(
          "--backend", [&backend](const std::string& name) { backend = names.at(name); }, "Where to run")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->default_str("auto");
  command->add_option("--device", device, "Which GPU, as the driver counts them")
      ->check(not_negative())
      ->capture_default_str();
}

void add_transfer(CLI::App* command, Transfer& transfer) {
  static const std::map<std::string, Transfer> names{{"auto", Transfer::automatic},
                                                     {"whole", Transfer::whole},
                                                     {"gather", Transfer::gather},
                                                     {"mapped", Transfer::mapped},
                                                     {"rows", Transfer::rows}};
  command
      ->add_option_function<std::string>(
          "--transfer", [&transfer](const std::string& name) { transfer = names.at(name); },
          "How pixels reach a GPU: whole frames, gathered by the host, read in place, or the rows they are "
          "in")
      ->check(CLI::IsMember({"auto", "whole", "gather", "mapped", "rows"}))
      ->default_str("auto");
}

/// Seconds, M:SS or H:MM:SS, or a number of frames with an f.
struct Moment {
  double seconds = 0;
  std::int64_t frame = -1;  ///< at least 0: this was given instead
};

std::optional<Moment> parse_moment(const std::string& text) {
  Moment moment;
  if (text.ends_with('f')) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size() - 1, moment.frame);
    const bool whole = code == std::errc() && end == text.data() + text.size() - 1 && moment.frame >= 0;
    return whole ? std::optional(moment) : std::nullopt;
  }
  int parts = 0;
  for (std::size_t at = 0; at <= text.size(); ++parts) {
    const std::size_t colon = std::min(text.find(':', at), text.size());
    double value = 0;
    const auto [end, code] =
        std::from_chars(text.data() + at, text.data() + colon, value, std::chars_format::fixed);
    const bool last = colon == text.size();
    if (code != std::errc() || end != text.data() + colon || !(value >= 0) || !std::isfinite(value))
      return {};
    if (parts > 0 && value >= 60) return {};
    if (!last && value != std::floor(value)) return {};
    moment.seconds = 60 * moment.seconds + value;
    at = colon + 1;
  }
  return parts <= 3 ? std::optional(moment) : std::nullopt;
}

CLI::Validator moment_check() {
  return {[](std::string& text) {
            return parse_moment(text)
                       ? std::string()
                       : fmt::format("'{}' is not a time (90, 1:30, 1:02:03.5) or a frame (250f)", text);
          },
          ""};
}

std::optional<video::Region> parse_region(const std::string& text) {
  std::int64_t numbers[4] = {};
  const char* at = text.data();
  const char* const last = text.data() + text.size();
  for (int i = 0; i < 4; ++i) {
    const auto [end, code] = std::from_chars(at, last, numbers[i]);
    if (code != std::errc() || numbers[i] < (i < 2 ? 0 : 1) || numbers[i] > 1000000) return {};
    if (i < 3 && (end == last || *end != ',')) return {};
    at = i < 3 ? end + 1 : end;
  }
  return at == last ? std::optional(video::Region{numbers[0], numbers[1], numbers[2], numbers[3]})
                    : std::nullopt;
}

CLI::Validator region_check() {
  return {[](std::string& text) {
            return parse_region(text) ? std::string()
                                      : fmt::format("'{}' is not X,Y,WIDTH,HEIGHT in pixels", text);
          },
          ""};
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

/// How an input is read, and which part of it.
void add_source(CLI::App* command, video::SourceOptions& source) {
  video::Selection& selection = source.selection;
  command
      ->add_option_function<std::string>(
          "--start",
          [&selection](const std::string& text) {
            const Moment moment = *parse_moment(text);
            selection.start_seconds = moment.seconds;
            selection.start_frame = std::max<std::int64_t>(0, moment.frame);
          },
          "Begin there: seconds, M:SS or H:MM:SS after the first frame, or a number of frames as in 250f")
      ->check(moment_check());
  command
      ->add_option_function<std::string>(
          "--end",
          [&selection](const std::string& text) {
            const Moment moment = *parse_moment(text);
            if (moment.frame >= 0) {
              selection.end_frame = moment.frame;
            } else {
              selection.end_seconds = moment.seconds;
            }
          },
          "End before that time or frame of the input")
      ->check(moment_check());
  command->add_option("--every", selection.every, "Read every N-th frame only")
      ->check(number_check("a number of at least 1", [](double value) { return value >= 1; }));
  command
      ->add_option_function<std::string>(
          "--roi", [&selection](const std::string& text) { selection.roi = parse_region(text); },
          "Read a region of the frames: X,Y,WIDTH,HEIGHT in pixels from the upper left corner")
      ->check(region_check());
  command
      ->add_option("--reconnect", source.reconnect_seconds,
                   "How many seconds to try to get back a network stream that broke off, 0 for not at all")
      ->check(not_negative())
      ->capture_default_str();
  command->add_option("--decode-threads", source.decode_threads, "Threads that decode, 0 for one per core")
      ->check(number_check("a number from 0 to 64", [](double value) { return value >= 0 && value <= 64; }))
      ->capture_default_str();
  command->add_flag("--skip-loop-filter", source.skip_loop_filter,
                    "Decode H.264, HEVC, VP8 and VP9 without their deblocking filter: faster, and slightly "
                    "wrong");
}

PlanEffort effort_named(const std::string& name) {
  return name == "quick" ? PlanEffort::quick : name == "thorough" ? PlanEffort::thorough : PlanEffort::normal;
}

void add_run(CLI::App& app, RunCommand& command) {
  CLI::App* run = app.add_subcommand("run", "Transform every frame of an input");
  run->add_option("INPUT", command.inputs,
                  std::string(kInputHelp) +
                      ". Several are read one after another; a directory without images "
                      "stands for the recordings in it")
      ->required();
  add_source(run, command.source);
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
  add_backend(run, command.options.backend, command.options.device);
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
      ->check(
          number_check("a number from 1 to 1024", [](double value) { return value >= 1 && value <= 1024; }));
  run->add_option(
         "--learn-frames", command.options.learn_frames,
         "Learn from the first N frames, which are kept in memory until then. More than one helps where the "
         "first frame is not like the others, and tells how frames differ")
      ->check(number_check("a number from 1 to 256", [](double value) { return value >= 1 && value <= 256; }))
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
                  "Write a film in which each frame stands beside what its coefficients describe: NAME.y4m, "
                  "YUV4MPEG2 in grey; - for standard output")
      ->check(y4m_name());
  run->add_flag("--quiet", command.quiet, "No progress and no summary");
}

void add_learn(CLI::App& app, LearnCommand& command) {
  CLI::App* learn = app.add_subcommand("learn", "Learn a template and save it");
  learn->add_option("INPUT", command.input, kInputHelp)->required();
  add_source(learn, command.source);
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
  add_backend(learn, command.backend, command.device);
  learn->add_flag("--no-reference", command.no_reference, "Leave the reference frame out of the file");
  learn->add_flag("--no-plan", command.no_plan,
                  "Leave out the plan with which 'run' and its default options start at once");
}

/// "X,Y,W,H"; throws what CLI11 turns into an error message.
video::Region parse_region(const std::string& text) {
  std::array<std::int64_t, 4> numbers{};
  const char* at = text.data();
  const char* const end = at + text.size();
  bool good = true;
  for (std::size_t i = 0; i < numbers.size() && good; ++i) {
    const auto [next, code] = std::from_chars(at, end, numbers[i]);
    good = code == std::errc() && (i == 3 ? next == end : next != end && *next == ',');
    at = good && i < 3 ? next + 1 : next;
  }
  const auto [x, y, width, height] = numbers;
  if (!good || x < 0 || y < 0 || width < 8 || height < 8)
    throw CLI::ValidationError("--roi",
                               fmt::format("'{}' is not X,Y,W,H: a corner inside the picture, and at least "
                                           "8 by 8 pixels",
                                           text));
  return {x, y, width, height};
}

/// "COLUMNSxROWS", or 0 for none.
void parse_tiles(const std::string& text, video::VibrationOptions& options) {
  const std::size_t cross = text.find('x');
  const auto number = [&](std::string_view part) {
    int value = -1;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
    return code == std::errc() && end == part.data() + part.size() && value >= 0 && value <= 64 ? value : -1;
  };
  const std::string_view view = text;
  options.tile_columns = number(view.substr(0, cross));
  options.tile_rows = cross == std::string::npos ? options.tile_columns : number(view.substr(cross + 1));
  if (options.tile_columns < 0 || options.tile_rows < 0 ||
      (cross == std::string::npos && options.tile_columns != 0))
    throw CLI::ValidationError("--tiles",
                               fmt::format("'{}' is not COLUMNSxROWS, such as 8x6, nor 0 for none", text));
}

void add_vibration(CLI::App& app, VibrationCommand& command) {
  CLI::App* vibration =
      app.add_subcommand("vibration", "Say what in the picture vibrates, at which frequency, and how far");
  video::VibrationOptions& options = command.options;
  vibration->add_option("RECORDING", command.input, kInputHelp)->required();
  vibration
      ->add_option(
          "--fps", options.fps,
          "Frames per second of the camera, where the recording is stored at another rate (high-speed "
          "cameras)")
      ->check(positive());
  vibration
      ->add_option_function<std::vector<std::string>>(
          "--roi",
          [&options](const std::vector<std::string>& regions) {
            for (const std::string& region : regions) options.regions.push_back(parse_region(region));
          },
          "Look at the region X,Y,W,H in pixels instead of the whole picture; may be given several times")
      ->allow_extra_args(false);
  vibration
      ->add_option_function<std::string>(
          "--tiles", [&options](const std::string& text) { parse_tiles(text, options); },
          "Grid of the map, COLUMNSxROWS; 0 for none (default: tiles of about 64 pixels, at most 10x10)")
      ->default_str("auto");
  vibration
      ->add_option("--expect", options.expect_hz,
                   "A frequency in Hz that a peak may be an alias of; may be given several times")
      ->allow_extra_args(false)
      ->check(positive());
  vibration
      ->add_option("--false-alarm", options.false_alarm_probability,
                   "Probability that noise alone makes any peak, for each region; the tiles share one")
      ->check(number_check("a number from 1e-12 to 0.5",
                           [](double value) { return value >= 1e-12 && value <= 0.5; }))
      ->capture_default_str();
  vibration
      ->add_option("--k", options.k, "Frequencies of the template (default: 1000, fewer for small regions)")
      ->check(positive());
  vibration
      ->add_option("--samples", options.max_samples,
                   "Share of a region's pixels that may be read, 0 to 1 (default: 1): fewer take less time "
                   "and find the same "
                   "frequencies, but see less and rate amplitudes too low in noise")
      ->check(CLI::Range(1e-9, 1.0));
  vibration->add_option("--frames", options.frames, "Stop after N frames")->check(positive());
  vibration->add_option("--json", command.json, "Write the report for scripts; - for standard output");
  vibration->add_option("--csv", command.csv, "Write the place in every frame; - for standard output");
  vibration->add_option("--html", command.html, "Write a page with plots and the map; - for standard output");
  vibration->add_option("--svg", command.svg, "Write a picture of the spectrum; - for standard output");
  vibration->add_option("--hdf5", command.hdf5, "Write time series and spectra as HDF5");
  vibration->add_flag("--quiet", command.quiet, "No progress and no summary");
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv, std::ostream& out, std::ostream& error) {
  CommandLine line;
  CLI::App app{kDescription, "sfft-video"};
  app.footer(kExamples);
  app.set_version_flag("--version", version_text);
  app.require_subcommand(1);
  app.fallthrough();  // --config may stand behind the command
  app.set_config("--config", "",
                 "Read options from a file: a section per command, a line per option, as in\n"
                 "[run]\nk = 500");
  add_run(app, line.run);
  add_learn(app, line.learn);
  add_vibration(app, line.vibration);
  app.add_subcommand("info", "Describe a template file or an input")
      ->add_option("PATH", line.info, "A template file, or any INPUT of 'run'")
      ->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    line.exit_code = app.exit(problem, out, error) == 0 ? kFine : kUsage;
    return line;
  }
  line.command = app.got_subcommand("run")         ? CommandLine::Command::run
                 : app.got_subcommand("learn")     ? CommandLine::Command::learn
                 : app.got_subcommand("vibration") ? CommandLine::Command::vibration
                                                   : CommandLine::Command::info;
  return line;
}

}  // namespace sfft::apps
