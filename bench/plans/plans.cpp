// SPDX-License-Identifier: Apache-2.0
// What the search for a comb finds, and how long it takes. Templates come from drawn scenes, lines and
// recordings. Each is planned with every effort for a CPU core and for batches on a GPU (only the cost model
// is needed).
//   bench_plans [--seed S] [--count N] [--efforts quick,normal,thorough] [--compare FILE.json]
//   [--out FILE.json] [[LABEL=]FILE.y4m …]
// Scenes are images with a power spectrum of 1/f^0.6 to 1/f^1.4 and edges. Lines are tones in white or pink
// noise. `error` is the relative error that all buckets of the plan predict, `us` the predicted time per
// frame, and `plan_us` the minimum CPU time of three searches on one thread. --compare compares with the
// output of another build plan by plan: the ratio of errors at the same time, where time has the planner's
// weight.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>

#include "bench/command_line.hpp"
#include "bench/recording.hpp"
#include "bench/result_file.hpp"
#include "bench/timing.hpp"
#include "bench/trust/random.hpp"
#include "bench/trust/scene.hpp"
#include "sfft/plan/plan_costs.hpp"
#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"
#include "sfft_commit.hpp"
#include "template/comb/comb_planner.hpp"

namespace {

using namespace sfft;
using nlohmann::json;
using trust::Random;

struct Arguments {
  std::uint64_t seed = 1;
  int count = 40;
  std::string efforts = "quick,normal", compare, out;
  std::vector<std::string> recordings;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  bench::parse_options(argc, argv,
                       {{"--seed", arguments.seed},
                        {"--count", arguments.count},
                        {"--efforts", arguments.efforts},
                        {"--compare", arguments.compare},
                        {"--out", arguments.out}},
                       &arguments.recordings);
  return arguments;
}

/// A template and its name.
struct Subject {
  std::string name;
  Template tmpl;
};

Subject drawn_scene(Random& random, int number) {
  static const std::vector<Shape> kShapes{{240, 320}, {360, 640}, {420, 640},  {432, 768},
                                          {480, 640}, {576, 768}, {720, 1280}, {1080, 1920}};
  const Shape& shape =
      kShapes[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(kShapes.size())))];
  trust::SceneSettings settings;
  settings.exponent = random.uniform(0.6, 1.4);
  settings.edges = static_cast<int>(random.integer(0, 24));
  settings.blur = random.chance(0.3) ? random.uniform(0.5, 2) : 0;
  const double noise = random.log_uniform(0.1, 5);
  const trust::Image image = trust::natural_scene(shape[0], shape[1], settings, random);
  std::vector<std::uint8_t> grey;
  for (const float value : image.values)
    grey.push_back(static_cast<std::uint8_t>(std::clamp(value + noise * random.normal(), 0.0, 255.0)));
  const auto k = static_cast<std::int64_t>(random.log_uniform(100, 2000));
  return {fmt::format("scene {} {} k={}", number, shape.to_string(), k),
          learn(SignalView(std::span<const std::uint8_t>(grey), shape),
                {.keep = Largest{k}, .reference = random.chance(0.5)})};
}

Subject drawn_line(Random& random, int number) {
  const std::int64_t points = std::int64_t{1} << random.integer(16, 19);
  const auto k = static_cast<std::int64_t>(random.log_uniform(50, 1000));
  const bool pink = random.chance(0.5);
  std::vector<std::complex<float>> line(static_cast<std::size_t>(points));
  double kept = 0;  // pink noise, approximately: white noise through a leaky sum
  for (auto& sample : line) {
    kept = 0.98 * kept + random.normal();
    sample = static_cast<float>(pink ? kept : random.normal());
  }
  for (std::int64_t i = 0; i < k; ++i) {
    const double turn =
        2 * std::numbers::pi * static_cast<double>(random.below(points)) / static_cast<double>(points);
    const std::complex<double> step = std::polar(1.0, turn);
    std::complex<double> tone = std::polar(random.log_uniform(0.05, 1), random.phase());
    for (auto& sample : line) {
      sample += std::complex<float>(tone);
      tone *= step;
    }
  }
  return {fmt::format("line {} {}{} k={}", number, points, pink ? " pink" : "", k),
          learn(SignalView(std::span<const std::complex<float>>(line), Shape{points}), {.keep = Largest{k}})};
}

PlanEffort effort_called(const std::string& name) {
  return name == "quick" ? PlanEffort::quick : name == "thorough" ? PlanEffort::thorough : PlanEffort::normal;
}

json planned(const Subject& subject, bool on_gpu, const std::string& effort, std::uint64_t seed) {
  constexpr int kBatch = 128, kMultiprocessors = 132;
  const detail::TemplateData& data = *detail::data_of(subject.tmpl);
  const detail::SupportSet support(data);
  const detail::SpectralPrior prior = detail::make_prior(data, support, !data.reference.empty());
  detail::CombRequest request;
  request.max_samples = detail::sample_budget(0, data.shape.points(), support.k, prior.least_squares());
  request.epsilon = std::numeric_limits<float>::epsilon();
  request.limit_us = std::numeric_limits<double>::infinity();
  request.seed = seed;
  request.effort = effort_called(effort);
  if (on_gpu) {
    request.time_weight = detail::device_time_weight(kBatch);
    request.cost = [](const detail::CombCost& cost) {
      return detail::predict_comb_device_us(cost, kMultiprocessors, kBatch);
    };
  }
  json row{{"name", subject.name}, {"on", on_gpu ? "gpu" : "cpu"}, {"effort", effort}, {"seed", seed}};
  std::optional<detail::CombPlan> plan;
  double min_us = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    std::vector<detail::Rejection> rejected;
    const double start = bench::thread_cpu_seconds();
    plan = detail::plan_comb(support, prior, request, rejected);
    min_us = std::min(min_us, 1e6 * (bench::thread_cpu_seconds() - start));
  }
  row["plan_us"] = min_us;
  if (!plan) return row;
  row["buckets"] = plan->data.buckets;
  row["delays"] = plan->data.delay_count();
  row["samples"] = plan->data.samples();
  row["error"] = plan->predicted_error;
  row["us"] = plan->predicted_us;
  row["cost"] = plan->predicted_error * std::pow(plan->predicted_us, request.time_weight);
  return row;
}

std::string key_of(const json& row) {
  return fmt::format("{} {} {} {}", row["name"].get<std::string>(), row["on"].get<std::string>(),
                     row["effort"].get<std::string>(), row["seed"].get<std::uint64_t>());
}

/// Quantiles of the ratios to the other build's plans, for each effort.
void compare(const json& rows, const std::string& path) {
  std::map<std::string, json> others;
  const json other_build = json::parse(std::ifstream(path));
  for (const json& row : other_build.at("rows")) others[key_of(row)] = row;
  struct Ratios {
    std::vector<std::pair<double, std::string>> costs;
    double plan_us = 0, other_us = 0;
  };
  std::map<std::string, Ratios> by_effort;
  for (const json& row : rows) {
    const auto other = others.find(key_of(row));
    if (other == others.end()) continue;
    Ratios& of = by_effort[row["effort"]];
    of.plan_us += row["plan_us"].get<double>();
    of.other_us += other->second["plan_us"].get<double>();
    if (row.contains("cost") && other->second.contains("cost"))
      of.costs.emplace_back(row["cost"].get<double>() / other->second["cost"].get<double>(), key_of(row));
  }
  for (auto& [effort, of] : by_effort) {
    if (of.costs.empty()) continue;
    std::sort(of.costs.begin(), of.costs.end());
    double sum = 0;
    for (const auto& [ratio, name] : of.costs) sum += ratio;
    const auto at = [&](double share) {
      return of.costs[static_cast<std::size_t>(share * static_cast<double>(of.costs.size() - 1))].first;
    };
    const auto over = [&](double limit) {
      return std::count_if(of.costs.begin(), of.costs.end(),
                           [&](const auto& one) { return one.first > limit; });
    };
    fmt::print(
        "{}: {} plans, error at the same time: median {:.3f}, mean {:.3f}, 95 % {:.3f}, worst {:.3f} ({}); "
        "{} above 1.05, {} above 1.15; planning {:.3f} times as long\n",
        effort, of.costs.size(), at(0.5), sum / static_cast<double>(of.costs.size()), at(0.95),
        of.costs.back().first, of.costs.back().second, over(1.05), over(1.15), of.plan_us / of.other_us);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse(argc, argv);
    std::vector<std::string> efforts;
    for (std::size_t at = 0; at <= arguments.efforts.size();) {
      const std::size_t end = std::min(arguments.efforts.find(',', at), arguments.efforts.size());
      efforts.push_back(arguments.efforts.substr(at, end - at));
      at = end + 1;
    }
    json rows = json::array();
    const auto plan_all = [&](const Subject& subject, const std::vector<std::uint64_t>& seeds) {
      for (const std::uint64_t seed : seeds) {
        for (const bool on_gpu : {false, true}) {
          for (const std::string& effort : efforts) rows.push_back(planned(subject, on_gpu, effort, seed));
        }
      }
    };
    for (const std::string& path : arguments.recordings) {
      const auto recording = bench::read_recording(path);
      for (const std::int64_t k : {250, 1000, 1500}) {
        for (const bool reference : {false, true}) {
          plan_all({fmt::format("{} k={}{}", recording->name, k, reference ? " reference" : ""),
                    learn(recording->frame(0), {.keep = Largest{k}, .reference = reference})},
                   {1});
        }
      }
    }
    for (int number = 0; number < arguments.count; ++number) {
      Random random(arguments.seed, static_cast<std::uint64_t>(number));
      plan_all(number % 4 == 3 ? drawn_line(random, number) : drawn_scene(random, number), {arguments.seed});
    }
    json result = bench::result_file(SFFT_COMMIT, bench::joined(argc, argv));
    result["rows"] = rows;
    bench::write_json(arguments.out, result);
    if (!arguments.compare.empty()) compare(rows, arguments.compare);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_plans: {}\n", error.what());
    return 2;
  }
  return 0;
}
