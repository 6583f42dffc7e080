// SPDX-License-Identifier: Apache-2.0
// Compares reported with true errors on video streams that are transformed as by sfft-video.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "bench/timing.hpp"
#include "bench/trust/commands.hpp"
#include "bench/trust/error_ratios.hpp"
#include "bench/trust/video_streams.hpp"

namespace sfft::trust {

namespace {

/// Limits that the error estimates must keep (docs/accuracy.md).
constexpr double kLowestRatio = 0.9;
constexpr double kHighestRatio = 1.35;
constexpr double kMinCoverage = 0.95;
/// A stream that changes to dense transforms after fewer sparse frames is judged only by all of its frames
/// together.
constexpr std::int64_t kFewestFrames = 10;

/// video::default_k(): the number of frequencies that sfft-video learns when none is given.
std::int64_t default_k(const Shape& shape) {
  return std::clamp<std::int64_t>(shape.points() / 64, 1, 1000);
}

/// The first frames, kept for learning.
struct Kept {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<SignalView> views;

  void add(const SignalView& frame) {
    bytes.emplace_back(frame.bytes());
    std::memcpy(bytes.back().data(), frame.data(), frame.bytes());
    views.emplace_back(bytes.back().data(), static_cast<std::size_t>(frame.shape().points()), frame.type(),
                       frame.shape());
  }
};

std::vector<FrameRecord> watch(Stream& stream, const VideoOptions& options) {
  Kept first;
  while (static_cast<std::int64_t>(first.views.size()) < options.learn_frames && stream.more())
    first.add(stream.next());
  const Shape shape = first.views.front().shape();
  LearnOptions learning;
  learning.keep = Largest{default_k(shape)};
  learning.reference = options.reference;
  const Template tmpl =
      first.views.size() == 1 ? learn(first.views.front(), learning) : learn(first.views, learning);
  TrackerOptions tracking;
  tracking.reference = options.reference;
  tracking.accuracy = options.accuracy;
  if (options.check > 0)
    tracking.check = [every = options.check](std::int64_t frame) { return (frame + 1) % every == 0; };
  Truth truth(shape, true);
  std::vector<FrameRecord> records;
  if (options.plan_alone) {
    const Plan<float> plan(
        tmpl, {.device = Device::cpu(), .accuracy = options.accuracy, .use_reference = options.reference});
    Workspace workspace = plan.make_workspace();
    Spectrum<float> spectrum = plan.make_spectrum();
    for (std::int64_t i = 0; i < options.frames && stream.more(); ++i) {
      const SignalView frame = stream.next();
      if (i % options.every != 0) continue;
      plan.execute(frame, spectrum, workspace);
      truth.transform(frame);
      records.push_back(
          {i, TrackedFrame::Action::sparse, spectrum.path == Path::dense, truth.compare(spectrum)});
    }
    return records;
  }
  Tracker<float> tracker(tmpl, tracking);
  for (std::int64_t i = 0; i < options.frames && stream.more(); ++i) {
    const SignalView frame = stream.next();
    const Tracker<float>::Frame& tracked = tracker.push(frame);
    if (i % options.every != 0) continue;
    truth.transform(frame);
    records.push_back(record(tracked, i, truth));
  }
  return records;
}

struct Verdict {
  bool ratio = true, relative = true, coverage = true;

  bool kept() const { return ratio && relative && coverage; }
  std::string words() const {
    return fmt::format("{}{}{}", ratio ? "" : "  RATIO", relative ? "" : "  RELATIVE",
                       coverage ? "" : "  COVERAGE");
  }
};

Verdict judge(const ErrorSummary& summary) {
  const bool enough = summary.sparse >= kFewestFrames;
  const auto within = [&](double ratio) {
    return !enough || std::isnan(ratio) || (ratio >= kLowestRatio && ratio <= kHighestRatio);
  };
  const double coverage =
      enough ? std::min(summary.coverage(), summary.sparse_coverage()) : summary.coverage();
  return {within(summary.ratio), within(summary.relative_ratio), coverage >= kMinCoverage};
}

void print_header() {
  fmt::print("{:<15} {:>6} {:>6} {:>6} {:>6} {:>8} {:>8} {:>7} {:>5} {:>5} {:>5} {:>5} {:>5}  {}\n", "family",
             "rep/tr", "rel", "cover", "cov.sp", "true", "reported", "worst", "dense", "refr", "relrn",
             "exact", "settl", "stream");
}

void print(const StreamRecipe& recipe, const ErrorSummary& s, const Verdict& verdict) {
  const auto percent = [](double share) { return fmt::format("{:.3g}%", 100 * share); };
  fmt::print("{:<15} {:>6.3f} {:>6.3f} {:>6} {:>6} {:>8} {:>8} {:>7} {:>5} {:>5} {:>5} {:>5} {:>5}  {}{}\n",
             recipe.family, s.ratio, s.relative_ratio, percent(s.coverage()), percent(s.sparse_coverage()),
             percent(s.true_error), percent(s.reported_error), percent(s.worst_true), s.dense, s.refreshed,
             s.relearned, s.rounding_only, s.settled < 0 ? "-" : std::to_string(s.settled), recipe.parameters,
             verdict.words());
  std::fflush(stdout);
}

nlohmann::json to_json(const StreamRecipe& recipe, const ErrorSummary& s, const Verdict& verdict) {
  const auto number = [](double value) {
    return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
  };
  return {{"family", recipe.family},
          {"stream", recipe.parameters},
          {"frames", s.frames},
          {"reported_over_true", number(s.ratio)},
          {"relative_reported_over_true", number(s.relative_ratio)},
          {"coverage", s.coverage()},
          {"sparse_coverage", s.sparse_coverage()},
          {"relative_beyond_twice", s.relative_beyond},
          {"true_error", number(s.true_error)},
          {"reported_error", number(s.reported_error)},
          {"worst_true_error", s.worst_true},
          {"sparse", s.sparse},
          {"dense", s.dense},
          {"refreshed", s.refreshed},
          {"relearned", s.relearned},
          {"exact", s.rounding_only},
          {"settled", s.settled},
          {"ratio_in_bounds", verdict.ratio},
          {"relative_in_bounds", verdict.relative},
          {"coverage_in_bounds", verdict.coverage}};
}

std::vector<StreamRecipe> chosen_streams(const VideoOptions& options) {
  std::vector<StreamRecipe> recipes;
  if (options.synthetic) recipes = video_population(options.seed);
  for (const std::string& path : options.recordings) recipes.push_back(recording(path));
  std::erase_if(recipes,
                [&](const StreamRecipe& r) { return r.family.find(options.only) == std::string::npos; });
  if (!options.quick) return recipes;
  std::vector<StreamRecipe> few;  // one stream of each family
  for (StreamRecipe& recipe : recipes) {
    if (few.empty() || few.back().family != recipe.family) few.push_back(std::move(recipe));
  }
  return few;
}

}  // namespace

nlohmann::json run_video(const VideoOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  nlohmann::json rows = nlohmann::json::array();
  std::vector<std::string> failures;
  double lowest = 1e300;
  double highest = 0;
  std::int64_t frames = 0;
  std::int64_t beyond = 0;
  std::int64_t sparse = 0;
  std::vector<double> ratios;  // ratios of single frames
  print_header();
  for (const StreamRecipe& recipe : chosen_streams(options)) {
    const std::unique_ptr<Stream> stream = recipe.make();
    const std::vector<FrameRecord> records = watch(*stream, options);
    const ErrorSummary summary = summarise(records);
    for (const FrameRecord& record : records) {
      if (!record.dense && !record.errors.rounding_only())
        ratios.push_back(record.errors.reported_l2 / record.errors.true_l2);
    }
    const Verdict verdict = judge(summary);
    print(recipe, summary, verdict);
    rows.push_back(to_json(recipe, summary, verdict));
    if (!std::isnan(summary.ratio)) {
      lowest = std::min(lowest, summary.ratio);
      highest = std::max(highest, summary.ratio);
    }
    frames += summary.frames;
    beyond += summary.beyond_twice;
    sparse += summary.sparse;
    if (verdict.kept()) continue;
    failures.push_back(fmt::format("{} ({}): {:.3f}, relative {:.3f}, covered {:.1f} %", recipe.family,
                                   recipe.parameters, summary.ratio, summary.relative_ratio,
                                   100 * summary.coverage()));
  }
  fmt::print(
      "\n{} streams, {} frames compared, {} of them sparse, {} beyond twice the report; medians of "
      "reported/true {:.3f} to {:.3f}\n",
      rows.size(), frames, sparse, beyond, lowest, highest);
  if (!ratios.empty()) {
    const auto quantile = [&](double share) { return bench::lower_quantile(ratios, share); };
    fmt::print(
        "reported/true of single sparse frames: {:.2f}, 1 % below {:.2f}, median {:.2f}, 1 % above {:.2f}, "
        "{:.2f}\n",
        quantile(0), quantile(0.01), quantile(0.5), quantile(0.99), quantile(1));
  }
  fmt::print("{} streams outside {} to {} or covered below {:.0f} %:\n", failures.size(), kLowestRatio,
             kHighestRatio, 100 * kMinCoverage);
  for (const std::string& failure : failures) fmt::print("  {}\n", failure);
  const double seconds = bench::seconds_since(start);
  fmt::print("{:.1f} s, {:.0f} frames per second\n", seconds, static_cast<double>(frames) / seconds);
  return {{"streams", rows}, {"failures", failures.size()}, {"seconds", seconds}};
}

}  // namespace sfft::trust
