// SPDX-License-Identifier: Apache-2.0
// Runs streams of changing tones through trackers, and counts the frames until the template has a lost tone
// again.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "bench/threads.hpp"
#include "bench/timing.hpp"
#include "bench/trust/changing_tones.hpp"
#include "bench/trust/commands.hpp"
#include "bench/trust/tone_losses.hpp"

namespace sfft::trust {

namespace {

/// The number of frames within which a template must have its tones again, and the share of frames that may
/// be dense.
constexpr std::int64_t kLongest = 64;
constexpr std::int64_t kMedian = 3;
constexpr double kLargestDense = 0.05;

using bench::lower_quantile;

void print_frame(const Tracker<float>::Frame& frame, bool lost) {
  if (frame.action == TrackedFrame::Action::sparse && !lost) return;
  fmt::print("  {:>5} {} {:<10} k {} residual {:.3g} error {:.3g} {}\n", frame.index, lost ? "LOST" : "    ",
             to_string(frame.action), frame.spectrum.values.size(), frame.spectrum.quality.residual,
             frame.spectrum.quality.relative_error, frame.reason);
}

/// Results of the streams of one family, or of one way of tracking.
struct Tally {
  std::int64_t streams = 0, frames = 0, relearned = 0, lost_frames = 0, late = 0;
  std::int64_t planned_dense = 0;  ///< streams; only the others count in the share of dense frames
  std::int64_t sparse_frames = 0, dense = 0, dense_by_plan = 0, often_dense = 0;
  std::vector<std::int64_t> since_change, since_comparison;

  void add(const ToneStreamResult& result) {
    ++streams;
    frames += result.frames;
    planned_dense += result.planned_dense;
    sparse_frames += result.planned_dense ? 0 : result.frames;
    dense += result.planned_dense ? 0 : result.dense;
    dense_by_plan += result.planned_dense ? 0 : result.dense_by_plan;
    relearned += result.relearned;
    lost_frames += result.lost_frames;
    late += result.longest > kLongest;
    often_dense += !result.planned_dense && result.dense_share() > kLargestDense;
    since_change.insert(since_change.end(), result.since_change.begin(), result.since_change.end());
    since_comparison.insert(since_comparison.end(), result.since_comparison.begin(),
                            result.since_comparison.end());
  }
  double share(std::int64_t frames_of_sparse) const {
    return sparse_frames > 0 ? static_cast<double>(frames_of_sparse) / static_cast<double>(sparse_frames) : 0;
  }
  double dense_share() const { return share(dense); }
  bool kept() const {
    return late == 0 && dense_share() <= kLargestDense && lower_quantile(since_comparison, 0.5) <= kMedian;
  }
};

void print(const std::map<std::string, Tally>& tallies, const char* what, nlohmann::json& rows) {
  fmt::print(
      "\n{:<28} {:>7} {:>7} {:>6} | {:>7} {:>5} {:>5} {:>5} | {:>7} {:>5} {:>5} | {:>5} {:>7} {:>8} {:>8} "
      "{:>7}\n",
      what, "streams", "frames", "losses", "change", "95 %", "99 %", "max", "compar.", "95 %", "max", "late",
      "planned", "dense", "by plan", "strm>5%");
  for (const auto& [name, tally] : tallies) {
    fmt::print(
        "{:<28} {:>7} {:>7} {:>6} | {:>7} {:>5} {:>5} {:>5} | {:>7} {:>5} {:>5} | {:>5} {:>7} {:>7.2f}% "
        "{:>7.2f}% {:>7}{}\n",
        name, tally.streams, tally.frames, tally.since_change.size(), lower_quantile(tally.since_change, 0.5),
        lower_quantile(tally.since_change, 0.95), lower_quantile(tally.since_change, 0.99),
        lower_quantile(tally.since_change, 1), lower_quantile(tally.since_comparison, 0.5),
        lower_quantile(tally.since_comparison, 0.95), lower_quantile(tally.since_comparison, 1), tally.late,
        tally.planned_dense, 100 * tally.dense_share(), 100 * tally.share(tally.dense_by_plan),
        tally.often_dense, tally.kept() ? "" : "  *");
    rows.push_back({{"name", name},
                    {"streams", tally.streams},
                    {"frames", tally.frames},
                    {"losses", tally.since_change.size()},
                    {"median_since_change", lower_quantile(tally.since_change, 0.5)},
                    {"max_since_change", lower_quantile(tally.since_change, 1)},
                    {"median_since_comparison", lower_quantile(tally.since_comparison, 0.5)},
                    {"late_streams", tally.late},
                    {"planned_dense", tally.planned_dense},
                    {"dense_share", tally.dense_share()},
                    {"dense_by_plan_share", tally.share(tally.dense_by_plan)},
                    {"streams_often_dense", tally.often_dense},
                    {"kept", tally.kept()}});
  }
}

}  // namespace

nlohmann::json run_tones(const TonesOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<ToneStreamResult> results(static_cast<std::size_t>(options.count));
  std::atomic<std::int64_t> next{0};
  std::mutex printing;
  const auto wanted = [&](std::int64_t i) {
    const ToneChange change = kToneChanges[static_cast<std::size_t>(i) % kToneChanges.size()];
    const bool one = options.index < 0 || options.index == i;
    return one && std::string(to_string(change)).find(options.only) != std::string::npos;
  };
  std::exception_ptr failed;
  const auto work = [&](int) {
    for (std::int64_t i = next++; i < options.count; i = next++) {
      if (!wanted(i)) continue;
      try {
        ChangingTones stream(options.seed, i, options.frames);
        ToneStreamResult& result = results[static_cast<std::size_t>(i)];
        result = watch(stream, options.frames, options.index >= 0 ? print_frame : WatchFrame{});
        if (!options.verbose) continue;
        const std::lock_guard lock(printing);
        fmt::print("{:>5} {:<12} lost {:>4}, longest {:>4}, relearned {:>3}, dense {:>5.1f} %  {}\n", i,
                   to_string(stream.change()), result.lost_frames, result.longest, result.relearned,
                   100 * result.dense_share(), stream.words());
      } catch (...) {
        const std::lock_guard lock(printing);
        failed = std::current_exception();
        next = options.count;
      }
    }
  };
  bench::on_threads(options.threads, work);
  if (failed) std::rethrow_exception(failed);

  std::map<std::string, Tally> families, ways;
  for (std::int64_t i = 0; i < options.count; ++i) {
    const ToneStreamResult& result = results[static_cast<std::size_t>(i)];
    if (result.frames == 0) continue;
    const ChangingTones stream(options.seed, i, options.frames);
    const LearnOptions& learning = stream.learning();
    const std::string asked = stream.tracking().accuracy > 0 ? ", accuracy" : "";
    families[to_string(stream.change()) + asked].add(result);
    families["(all)" + asked].add(result);
    ways[std::holds_alternative<Largest>(*learning.keep)  ? "learned by k"
         : std::holds_alternative<Energy>(*learning.keep) ? "learned by energy"
                                                          : "learned by threshold"]
        .add(result);
    ways[learning.reference            ? "learned with reference"
         : stream.tracking().reference ? "reference"
                                       : "no reference"]
        .add(result);
    ways[fmt::format("accuracy {}", stream.tracking().accuracy)].add(result);
    if (stream.tracking().background_learning) ways["background_learning"].add(result);
    if (stream.frames_per_push() > 1) ways["pushes of 16"].add(result);
  }
  nlohmann::json by_family = nlohmann::json::array(), by_way = nlohmann::json::array();
  print(families, "family", by_family);
  print(ways, "way", by_way);
  const double seconds = bench::seconds_since(start);
  fmt::print(
      "\n* more than {} frames from a change, {} from a comparison (median) or {:.0f} % dense; {:.1f} s\n",
      kLongest, kMedian, 100 * kLargestDense, seconds);
  return {{"families", by_family}, {"ways", by_way}, {"seconds", seconds}};
}

}  // namespace sfft::trust
