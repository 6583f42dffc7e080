// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands share: numbers, times, regions, and how a source is read.
#include "options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "sfft/error.hpp"

namespace sfft::apps {

namespace {

/// A time as seconds, M:SS or H:MM:SS, or a frame number followed by f.
struct Moment {
  double seconds = 0;
  std::int64_t frame = -1;  ///< frame number if given instead, else -1
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

template <class Good>
CLI::Validator number_check(const std::string& what, const Good& good) {
  return {[what, good](std::string& text) {
            double value = 0;
            const bool number = CLI::detail::lexical_cast(text, value);
            return number && good(value) ? std::string() : fmt::format("'{}' is not {}", text, what);
          },
          ""};
}

}  // namespace

CLI::Validator positive() {
  return number_check("a number above 0", [](double value) { return value > 0; });
}
CLI::Validator not_negative() {
  return number_check("a number of at least 0", [](double value) { return value >= 0; });
}
CLI::Validator between(double low, double high, const char* what) {
  return number_check(fmt::format("{} from {:g} to {:g}", what, low, high),
                      [low, high](double value) { return value >= low && value <= high; });
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
      ->add_option(
          "--reconnect", source.reconnect_seconds,
          "How many seconds to try to get back a network stream that broke off (guard: or that is not there "
          "yet), 0 for not at all")
      ->check(not_negative())
      ->capture_default_str();
  command->add_option("--decode-threads", source.decode_threads, "Threads that decode, 0 for one per core")
      ->check(between(0, 64))
      ->capture_default_str();
  static const std::map<std::string, video::DecodeOn> kDecoders{
      {"auto", video::DecodeOn::automatic}, {"cpu", video::DecodeOn::cpu}, {"nvdec", video::DecodeOn::nvdec}};
  command
      ->add_option_function<std::string>(
          "--decoder", [&source](const std::string& name) { source.decode_on = kDecoders.at(name); },
          "What decodes recordings: cpu (auto is the same), or nvdec, an NVIDIA GPU where it can; a plan on "
          "that GPU then reads frames without a copy")
      ->check(CLI::IsMember({"auto", "cpu", "nvdec"}))
      ->default_str("auto");
  command
      ->add_option(
          "--track", source.track,
          "Which video track of a recording is read, from 1 (default: the one marked as default, then "
          "the largest)")
      ->check(between(1, 1000));
  command->add_flag("--skip-loop-filter", source.skip_loop_filter,
                    "Decode H.264, HEVC, VP8 and VP9 without their deblocking filter: faster, and slightly "
                    "wrong");
}

void add_thresholds(CLI::App* command, video::Thresholds& thresholds) {
  command
      ->add_option_function<std::vector<std::string>>(
          "--threshold",
          [&thresholds](const std::vector<std::string>& settings) {
            for (const std::string& setting : settings) {
              try {
                video::set_threshold(thresholds, setting);
              } catch (const Error& error) {
                throw CLI::ValidationError("--threshold", error.what());
              }
            }
          },
          "Set a threshold or a waiting time: NAME=NUMBER, in seconds where NAME ends in -s")
      ->delimiter(',');
}

void add_areas(CLI::App* command, video::AreaOptions& areas) {
  using Add = void (*)(video::AreaOptions&, const std::string&);
  const auto add = [command, &areas](const char* name, Add add_one, const char* help) {
    command
        ->add_option_function<std::vector<std::string>>(
            name,
            [&areas, name, add_one](const std::vector<std::string>& texts) {
              for (const std::string& text : texts) {
                try {
                  add_one(areas, text);
                } catch (const Error& error) {
                  throw CLI::ValidationError(name, error.what());
                }
              }
            },
            help)
        ->allow_extra_args(false);
  };
  add("--mask", video::add_mask,
      "Ignore a part of the frames: a polygon 'x,y x,y x,y' in pixels, or in shares from 0 to 1, or a "
      "picture "
      "in which black is ignored; any number of them");
  add("--zone", video::add_zone,
      "Events say in which zones they are: NAME=x,y x,y x,y, as for --mask; any number of them");
  command->add_flag("--only-zones", areas.only_zones, "Ignore what is in no zone");
}

void add_region(CLI::App* command, video::SourceOptions& source) {
  video::Selection& selection = source.selection;
  command
      ->add_option_function<std::string>(
          "--roi", [&selection](const std::string& text) { selection.roi = parse_region(text); },
          "Read a region of the frames: X,Y,WIDTH,HEIGHT in pixels from the upper left corner")
      ->check(region_check());
}

}  // namespace sfft::apps
