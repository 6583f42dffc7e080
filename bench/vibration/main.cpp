// SPDX-License-Identifier: Apache-2.0
// bench_vibration counts peaks that light causes in drawn stills, and drawn vibrations that are found.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "bench/command_line.hpp"
#include "bench/threads.hpp"
#include "bench/vibration/films.hpp"
#include "video/vibration/analysis.hpp"

namespace {

using namespace sfft;
using namespace sfft::bench;

constexpr std::array<double, 6> kAmplitudes = {0.02, 0.05, 0.1, 0.2, 0.5, 1.0};

struct Options {
  std::uint64_t seed = 1;
  int count = 300;  ///< number of stills; a tenth of it is the number of vibrations per amplitude and noise
  int threads = 0;
  bool verbose = false;
  int only = -1;
  bool no_stills = false, no_vibrations = false;
};

struct Seen {
  int undoubted = 0;   ///< peaks
  bool peak = false;   ///< one is at the true frequency
  bool clear = false;  ///< one at the true frequency is not doubted
  bool first = false;  ///< and that one comes first
  std::string sentence;
};

Seen watch(DrawnFilm film) {
  const std::atomic<bool> stop{false};
  video::VibrationOptions options;
  const video::VibrationSeries series = video::follow(
      *film.source, options, [](std::int64_t, std::int64_t) {}, stop);
  const video::VibrationReport report = video::analyse(series, options);
  std::vector<video::VibrationPeak> peaks = report.regions[0].motion.peaks;
  const std::size_t whole = peaks.size();
  for (const auto& one : report.elsewhere) peaks.push_back(one.peak);
  Seen seen;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const video::VibrationPeak& peak = peaks[i];
    seen.undoubted += peak.doubted() ? 0 : 1;
    const bool right = std::abs(peak.frequency_hz - film.vibration.hz) < 2 / report.duration_s;
    seen.peak = seen.peak || right;
    seen.clear = seen.clear || (right && !peak.doubted());
    const bool is_first = report.in_a_part_alone() ? i == whole : i == 0;
    seen.first = seen.first || (right && !peak.doubted() && is_first);
  }
  seen.sentence = video::verdict(report);
  return seen;
}

void stills(const Options& options) {
  std::vector<Seen> seen(static_cast<std::size_t>(options.count));
  const int kinds = static_cast<int>(kLightNames.size());
  const auto kind_of = [&](int i) { return options.only >= 0 ? options.only : i % kinds; };
  each_of(options.count, options.threads, [&](int i) {
    const auto seed = options.seed * 1000003 + static_cast<std::uint64_t>(i);
    seen[static_cast<std::size_t>(i)] = watch(still_under(static_cast<Light>(kind_of(i)), seed));
  });
  fmt::print("{:12} {:>7} {:>15}\n", "stills", "drawn", "undoubted peak");
  int all = 0;
  for (int kind = 0; kind < kinds; ++kind) {
    int drawn = 0;
    int undoubted = 0;
    for (int i = 0; i < options.count; ++i) {
      if (kind_of(i) != kind) continue;
      const Seen& one = seen[static_cast<std::size_t>(i)];
      ++drawn;
      undoubted += one.undoubted > 0 ? 1 : 0;
      if (options.verbose && one.undoubted > 0)
        fmt::print("  {} {}: {}\n", kLightNames[static_cast<std::size_t>(kind)], i, one.sentence);
    }
    if (drawn > 0)
      fmt::print("{:12} {:7} {:15}\n", kLightNames[static_cast<std::size_t>(kind)], drawn, undoubted);
    all += undoubted;
  }
  fmt::print("{:12} {:7} {:15}   {:.2f} %\n", "all", options.count, all, 100.0 * all / options.count);
}

void vibrations(const Options& options) {
  const int each = std::max(1, options.count / 10);
  const int cells = static_cast<int>(kAmplitudes.size() * kNoiseLevels.size());
  std::vector<Seen> seen(static_cast<std::size_t>(each * cells));
  each_of(each * cells, options.threads, [&](int i) {
    const auto amplitude = kAmplitudes[static_cast<std::size_t>(i / each) % kAmplitudes.size()];
    const std::size_t noise = static_cast<std::size_t>(i / each) / kAmplitudes.size();
    const auto seed = options.seed * 1000003 + static_cast<std::uint64_t>(i);
    seen[static_cast<std::size_t>(i)] = watch(vibrating(amplitude, noise, seed));
  });
  fmt::print("{:>7} {:>13} {:>6} {:>6} {:>10} {:>6}\n", "noise", "amplitude px", "drawn", "peak", "undoubted",
             "first");
  std::array<int, 3> all{};
  for (int cell = 0; cell < cells; ++cell) {
    std::array<int, 3> found{};
    for (int i = 0; i < each; ++i) {
      const Seen& one = seen[static_cast<std::size_t>(cell * each + i)];
      found[0] += one.peak ? 1 : 0;
      found[1] += one.clear ? 1 : 0;
      found[2] += one.first ? 1 : 0;
      if (options.verbose && !one.first)
        fmt::print("  {} ({}): {}\n", cell * each + i,
                   !one.peak   ? "not found"
                   : one.clear ? "not first"
                               : "doubted",
                   one.sentence);
    }
    fmt::print("{:7.1f} {:13.2f} {:6} {:6} {:10} {:6}\n",
               kNoiseLevels[static_cast<std::size_t>(cell) / kAmplitudes.size()],
               kAmplitudes[static_cast<std::size_t>(cell) % kAmplitudes.size()], each, found[0], found[1],
               found[2]);
    for (std::size_t k = 0; k < 3; ++k) all[k] += found[k];
  }
  fmt::print("{:7} {:13} {:6} {:6} {:10} {:6}\n", "all", "", each * cells, all[0], all[1], all[2]);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string kind;
  try {
    parse_options(argc, argv,
                  {{"--seed", options.seed},
                   {"--count", options.count},
                   {"--threads", options.threads},
                   {"--light", kind},
                   {"--verbose", options.verbose},
                   {"--no-stills", options.no_stills},
                   {"--no-vibrations", options.no_vibrations}});
    for (std::size_t i = 0; i < kLightNames.size(); ++i)
      if (kind == kLightNames[i]) options.only = static_cast<int>(i);
    if (!kind.empty() && options.only < 0) throw std::invalid_argument("no such light: " + kind);
    if (options.threads <= 0) options.threads = static_cast<int>(std::thread::hardware_concurrency());
    if (!options.no_stills) stills(options);
    if (!options.no_vibrations && options.only < 0) vibrations(options);
  } catch (const std::exception& error) {
    fmt::print(stderr,
               "{}\nusage: bench_vibration [--seed N] [--count N] [--threads N] [--light KIND] [--verbose] "
               "[--no-stills] [--no-vibrations]\n",
               error.what());
    return 2;
  }
  return 0;
}
