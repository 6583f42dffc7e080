// SPDX-License-Identifier: Apache-2.0
// Tracks streams whose kind of change switches, and counts for every pair of kinds how often the true error
// after the switch exceeds the report.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "bench/threads.hpp"
#include "bench/timing.hpp"
#include "bench/trust/changes.hpp"
#include "bench/trust/commands.hpp"
#include "bench/trust/error_ratios.hpp"
#include "bench/trust/switch_streams.hpp"

namespace sfft::trust {

namespace {

constexpr double kLargestShare = 0.05, kFar = 5;
constexpr std::int64_t kLongestRun = 8;
/// Pairs with fewer sparse frames count only in the total.
constexpr std::int64_t kFewestFrames = 100;

/// The frames of one kind that follow frames of another.
struct Tally {
  std::int64_t frames = 0, sparse = 0, beyond = 0, far = 0, longest_far = 0;
  std::int64_t above = 0;  ///< sparse frames whose error exceeds the requested accuracy
  double worst = 0;        ///< true over reported error
  double worst_true = 0;   ///< relative error of a sparse frame
  std::vector<double> ratios;

  void operator+=(const Tally& other) {
    frames += other.frames;
    sparse += other.sparse;
    beyond += other.beyond;
    far += other.far;
    above += other.above;
    longest_far = std::max(longest_far, other.longest_far);
    worst = std::max(worst, other.worst);
    worst_true = std::max(worst_true, other.worst_true);
    ratios.insert(ratios.end(), other.ratios.begin(), other.ratios.end());
  }
  double share() const { return sparse > 0 ? ErrorSummary::share(beyond, sparse) : 0; }
  double dense_share() const { return frames > 0 ? ErrorSummary::share(frames - sparse, frames) : 0; }
  bool kept() const {
    return (sparse < kFewestFrames || share() <= kLargestShare) && longest_far <= kLongestRun;
  }
};

/// The kind before and the kind now.
using Pair = std::pair<std::string, std::string>;
using Tallies = std::map<Pair, Tally>;

/// Counts one stream in one way of tracking.
class Judge {
 public:
  explicit Judge(double accuracy) : accuracy_(accuracy) {}

  void add(Tally& tally, const FrameRecord& frame) {
    ++tally.frames;
    const Comparison& errors = frame.errors;
    if (frame.dense) {
      run_ = 0;
      return;
    }
    ++tally.sparse;
    tally.beyond += !errors.covered();
    const double rounding = Comparison::kRounding * errors.norm;
    const bool far = errors.true_l2 > kFar * errors.reported_l2 + rounding;
    tally.far += far;
    run_ = far ? run_ + 1 : 0;
    tally.longest_far = std::max(tally.longest_far, run_);
    tally.above += accuracy_ > 0 && errors.true_relative() > 2 * accuracy_;
    tally.worst_true = std::max(tally.worst_true, errors.true_relative());
    if (errors.rounding_only() || errors.reported_l2 == 0) return;
    tally.worst = std::max(tally.worst, errors.true_l2 / errors.reported_l2);
    tally.ratios.push_back(errors.reported_l2 / errors.true_l2);
  }

 private:
  double accuracy_;
  std::int64_t run_ = 0;
};

std::vector<Tallies> watch(SwitchStream& stream, const SwitchOptions& options,
                           const std::vector<double>& accuracies) {
  const SignalView first = stream.stream->next();
  const Template tmpl = learn(first, {.keep = Largest{stream.k}, .reference = options.reference});
  std::vector<Tracker<float>> trackers;
  std::vector<Judge> judges;
  for (const double accuracy : accuracies) {
    TrackerOptions tracking;
    tracking.reference = options.reference;
    tracking.accuracy = accuracy;
    trackers.emplace_back(tmpl, tracking);
    judges.emplace_back(accuracy);
  }
  Truth truth(first.shape(), true);
  std::vector<Tallies> tallies(accuracies.size());
  for (std::int64_t i = 1; i < options.frames; ++i) {
    const SignalView frame = stream.stream->next();
    truth.transform(frame);
    const std::size_t segment = stream.segment_of(i);
    const auto name = [&](std::size_t s) { return change_kinds()[stream.segments[s].kind].name; };
    const Pair pair{segment == 0 ? "(start)" : name(segment - 1), name(segment)};
    for (std::size_t w = 0; w < trackers.size(); ++w)
      judges[w].add(tallies[w][pair], record(trackers[w].push(frame), i, truth));
  }
  return tallies;
}

nlohmann::json to_json(double accuracy, const Pair& pair, const Tally& tally) {
  return {{"accuracy", accuracy},
          {"from", pair.first},
          {"to", pair.second},
          {"frames", tally.frames},
          {"sparse", tally.sparse},
          {"beyond_twice", tally.beyond},
          {"beyond_five_times", tally.far},
          {"longest_run_beyond_five_times", tally.longest_far},
          {"beyond_twice_the_accuracy", tally.above},
          {"worst", tally.worst},
          {"worst_true_error", tally.worst_true},
          {"kept", tally.kept()}};
}

void print(const std::string& name, const Tally& tally) {
  fmt::print("{:<30} {:>8} {:>8} {:>7.2f}% {:>6} {:>4} {:>6.3g} {:>6.3f} {:>6.1f}% {:>6} {:>6.3g}%{}\n", name,
             tally.frames, tally.sparse, 100 * tally.share(), tally.far, tally.longest_far, tally.worst,
             median(tally.ratios), 100 * tally.dense_share(), tally.above, 100 * tally.worst_true,
             tally.kept() ? "" : "  NOT KEPT");
}

/// Prints the pairs, largest shares first, and returns how many exceed the limits.
std::int64_t print(double accuracy, const Tallies& tallies, const SwitchOptions& options,
                   nlohmann::json& rows) {
  fmt::print("\n{}\n{:<30} {:>8} {:>8} {:>8} {:>6} {:>4} {:>6} {:>6} {:>7} {:>6} {:>7}\n",
             accuracy > 0 ? fmt::format("accuracy {}", accuracy) : "defaults", "from > to", "frames",
             "sparse", "beyond", "far", "run", "worst", "rep/tr", "dense", "above", "true");
  std::vector<std::pair<Pair, Tally>> sorted(tallies.begin(), tallies.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) { return a.second.share() > b.second.share(); });
  constexpr std::size_t kShown = 20;
  std::int64_t failures = 0;
  Tally all;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [pair, tally] = sorted[i];
    if (i < kShown || options.verbose || !tally.kept())
      print(fmt::format("{} > {}", pair.first, pair.second), tally);
    failures += !tally.kept();
    all += tally;
    rows.push_back(to_json(accuracy, pair, tally));
  }
  print(fmt::format("(all {} pairs)", sorted.size()), all);
  return failures;
}

}  // namespace

nlohmann::json run_switch(const SwitchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<double> accuracies{0, options.accuracy};
  std::vector<Tallies> tallies(accuracies.size());
  std::atomic<std::int64_t> next{options.first};
  std::mutex mutex;
  const auto work = [&](int) {
    for (std::int64_t i = next++; i < options.first + options.count; i = next++) {
      SwitchStream stream = switch_stream(options.seed, i, options.frames, options.recordings);
      const std::vector<Tallies> found = watch(stream, options, accuracies);
      const std::lock_guard lock(mutex);
      Tally all;
      for (std::size_t w = 0; w < accuracies.size(); ++w) {
        for (const auto& [pair, tally] : found[w]) {
          tallies[w][pair] += tally;
          if (w == 0) all += tally;
          if (options.verbose && tally.share() > kLargestShare)
            print(fmt::format("{} {}{} > {}", i, w == 0 ? "" : "accuracy, ", pair.first, pair.second), tally);
        }
      }
      if (options.verbose) print(fmt::format("{} ({})", i, stream.parameters), all);
    }
  };
  bench::on_threads(options.threads, work);
  nlohmann::json rows = nlohmann::json::array();
  std::int64_t failures = 0;
  for (std::size_t w = 0; w < accuracies.size(); ++w)
    failures += print(accuracies[w], tallies[w], options, rows);
  const double seconds = bench::seconds_since(start);
  fmt::print(
      "\n{} pairs of kinds above {:.0f} % beyond twice, or beyond {} times for more than {} frames; {:.1f} "
      "s\n",
      failures, 100 * kLargestShare, kFar, kLongestRun, seconds);
  return {{"pairs", rows}, {"failures", failures}, {"seconds", seconds}};
}

}  // namespace sfft::trust
