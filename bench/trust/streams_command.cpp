// SPDX-License-Identifier: Apache-2.0
// Runs signal streams through trackers as in README, and counts how often the true error exceeds twice the
// report.
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <map>

#include "bench/timing.hpp"
#include "bench/trust/commands.hpp"
#include "bench/trust/error_ratios.hpp"
#include "bench/trust/signal_streams.hpp"

namespace sfft::trust {

namespace {

constexpr double kLargestShare = 0.05;

struct Way {
  std::string name;
  TrackerOptions options;
};

std::vector<Way> ways(double accuracy) {
  TrackerOptions accurate;
  accurate.accuracy = accuracy;
  TrackerOptions no_reference;
  no_reference.reference = false;
  return {{"defaults", {}},
          {fmt::format("accuracy {}", accuracy), accurate},
          {"reference = false", no_reference}};
}

/// Results of the streams of one family in one way of tracking.
struct Tally {
  std::int64_t streams = 0, frames = 0, sparse = 0, beyond = 0, sparse_beyond = 0, relative_beyond = 0,
               bad_streams = 0;
  double worst = 0;
  std::vector<double> ratios;

  void add(const ErrorSummary& summary) {
    ++streams;
    frames += summary.frames;
    sparse += summary.sparse;
    beyond += summary.beyond_twice;
    sparse_beyond += summary.sparse_beyond;
    relative_beyond += summary.relative_beyond;
    bad_streams += summary.coverage() < 1 - kLargestShare;
    worst = std::max(worst, summary.worst_true);
    if (summary.ratio == summary.ratio) ratios.push_back(summary.ratio);
  }
  double share() const { return frames > 0 ? ErrorSummary::share(beyond, frames) : 0; }
  double sparse_share() const { return sparse > 0 ? ErrorSummary::share(sparse_beyond, sparse) : 0; }
  bool relative_kept() const { return relative_beyond <= kLargestShare * frames; }
  bool kept() const { return share() <= kLargestShare && sparse_share() <= kLargestShare; }
};

/// Watches one stream in every way at once, so that its frames are made only once.
std::vector<ErrorSummary> watch(const StreamRecipe& recipe, const std::vector<Way>& each,
                                std::int64_t frames) {
  const std::unique_ptr<Stream> stream = recipe.make();
  const SignalView first = stream->next();
  const Template tmpl = learn(first, {.keep = Largest{recipe.k}});
  std::vector<Tracker<float>> trackers;
  for (const Way& way : each) trackers.emplace_back(tmpl, way.options);
  Truth truth(first.shape(), tmpl.domain() == Domain::real);
  std::vector<std::vector<FrameRecord>> records(each.size());
  for (std::int64_t i = 0; i < frames; ++i) {
    const SignalView frame = stream->next();
    truth.transform(frame);
    for (std::size_t w = 0; w < each.size(); ++w)
      records[w].push_back(record(trackers[w].push(frame), i, truth));
  }
  std::vector<ErrorSummary> summaries;
  for (const auto& list : records) summaries.push_back(summarise(list));
  return summaries;
}

void print(const std::vector<Way>& each, const std::vector<std::map<std::string, Tally>>& tallies,
           nlohmann::json& rows) {
  for (std::size_t w = 0; w < each.size(); ++w) {
    fmt::print("\n{}\n{:<24} {:>7} {:>7} {:>7} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8}\n", each[w].name, "family",
               "streams", "frames", "sparse", "beyond", "of sparse", "relative", "bad str.", "rep/true",
               "worst");
    for (const auto& [family, tally] : tallies[w]) {
      const double ratio = median(tally.ratios);
      fmt::print("{:<24} {:>7} {:>7} {:>7} {:>8.2f}% {:>8.2f}% {:>8.2f}% {:>8} {:>8.3g} {:>7.3g}%{}\n",
                 family, tally.streams, tally.frames, tally.sparse, 100 * tally.share(),
                 100 * tally.sparse_share(),
                 100 * ErrorSummary::share(tally.relative_beyond, std::max<std::int64_t>(1, tally.frames)),
                 tally.bad_streams, ratio, 100 * tally.worst,
                 tally.kept() ? tally.relative_kept() ? "" : "  RELATIVE ABOVE 5 %" : "  ABOVE 5 %");
      rows.push_back({{"way", each[w].name},
                      {"family", family},
                      {"streams", tally.streams},
                      {"frames", tally.frames},
                      {"sparse", tally.sparse},
                      {"beyond_twice", tally.beyond},
                      {"relative_beyond_twice", tally.relative_beyond},
                      {"bad_streams", tally.bad_streams},
                      {"share", tally.share()},
                      {"sparse_share", tally.sparse_share()},
                      {"kept", tally.kept()}});
    }
  }
}

}  // namespace

nlohmann::json run_streams(const StreamsOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Way> each = ways(options.accuracy);
  std::vector<std::map<std::string, Tally>> tallies(each.size());
  std::int64_t frames = 0;
  for (std::int64_t i = 0; i < options.count; ++i) {
    const StreamRecipe recipe = signal_recipe(options.seed, i, options.frames);
    if (recipe.family.find(options.only) == std::string::npos) continue;
    const std::vector<ErrorSummary> summaries = watch(recipe, each, options.frames);
    for (std::size_t w = 0; w < each.size(); ++w) {
      const ErrorSummary& s = summaries[w];
      tallies[w][recipe.family].add(s);
      tallies[w]["(all)"].add(s);
      frames += s.frames;
      if (options.verbose) {
        fmt::print(
            "{:>5} {:<20} {:<18} beyond {:>3} of {:>3} ({:>3} sparse), true {:.3g}, reported {:.3g}, worst "
            "{:.3g}  {}\n",
            i, recipe.family, each[w].name, s.beyond_twice, s.frames, s.sparse, s.true_error,
            s.reported_error, s.worst_true, recipe.parameters);
      }
    }
  }
  nlohmann::json rows = nlohmann::json::array();
  print(each, tallies, rows);
  const double seconds = bench::seconds_since(start);
  std::int64_t failures = 0;
  for (const auto& row : rows) failures += !row["kept"].get<bool>();
  fmt::print(
      "\n{} families and ways above {:.0f} % (of all frames, or of the sparse ones); {:.1f} s, {:.0f} "
      "tracked frames "
      "per second\n",
      failures, 100 * kLargestShare, seconds, static_cast<double>(frames) / seconds);
  return {{"families", rows}, {"failures", failures}, {"seconds", seconds}};
}

}  // namespace sfft::trust
