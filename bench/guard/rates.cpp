// SPDX-License-Identifier: Apache-2.0
// Every scenario is drawn as a function of time; a camera samples it.
#include "bench/guard/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "bench/guard/drawn_scene.hpp"
#include "bench/guard/tamper.hpp"
#include "video/guard/guard.hpp"

namespace sfft::bench {

namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kLength = 16, kLongLength = 28;
const cv::Size kSize(320, 240);

/// How a camera takes its pictures.
struct Camera {
  std::string name;
  double fps = 25;
  double shown_fps = 0;  ///< rate to which the stream is padded by repeating frames; 0 means no padding
  bool variable = false;
};

struct Scenario {
  std::string kind;
  std::vector<Stretch> truth;
  double from_s = 8, until_s = kLength, length_s = kLength;
  double size = 0;
  double angle = 0;
  double noise = 1.2;
  double step = 0;  ///< quantizer step of the codec
};

Scenario drawn_scenario(int index, cv::RNG& random) {
  static const std::vector<std::string> kinds{"nothing", "lorry",     "cover",  "slow cover",
                                              "moved",   "defocused", "frozen", "loop",
                                              "in turn", "dark",      "flare",  "creep"};
  Scenario s;
  s.kind = kinds[static_cast<std::size_t>(index) % kinds.size()];
  s.from_s = random.uniform(7.0, 9.0);
  s.until_s = s.from_s + random.uniform(3.0, 5.0);
  s.angle = random.uniform(0.0, 6.28);
  s.noise = random.uniform(0.8, 2.5);
  if (random.uniform(0, 3) == 0) s.step = random.uniform(4.0, 9.0);
  s.size = 1;
  if (s.kind == "lorry") s.until_s = s.from_s + random.uniform(0.5, 0.8);
  if (s.kind == "flare") s.until_s = s.from_s + random.uniform(0.3, 0.8);
  if (s.kind == "moved") s.size = random.uniform(4.0, 16.0);
  if (s.kind == "defocused") s.size = random.uniform(2.5, 5.0);
  if (s.kind == "creep") {
    s.size = random.uniform(4.0, 14.0);
    s.length_s = s.until_s = kLongLength;
  }
  if (s.kind == "slow cover") s.size = random.uniform(1.0, 2.5);
  if (s.kind == "loop") s.size = random.uniform(2.0, 5.0);  // its period
  if (s.kind == "loop") s.until_s = s.from_s + 6;
  const auto truth = [&](const char* kind) { s.truth.push_back({kind, s.from_s, s.until_s, {}}); };
  if (s.kind == "cover" || s.kind == "slow cover" || s.kind == "creep") truth("covered");
  if (s.kind == "moved") truth("moved");
  if (s.kind == "defocused") truth("defocused");
  if (s.kind == "frozen" || s.kind == "loop" || s.kind == "in turn") truth("frozen");
  if (s.kind == "dark") truth("dark");
  return s;
}

/// The scene at a moment, without noise.
cv::Mat drawn_at(const cv::Mat& place, const Scenario& s, const std::vector<Walker>& walkers,
                 double seconds) {
  cv::Mat picture = place.clone();
  for (const Walker& walker : walkers) draw_walker(picture, walker, seconds);
  if (seconds < s.from_s || seconds >= s.until_s) return picture;
  const double way = (seconds - s.from_s) / (s.until_s - s.from_s);
  if (s.kind == "lorry") {
    const int left = static_cast<int>(kSize.width * (1.75 * way - 0.75));
    const cv::Rect lorry = cv::Rect(left, 40, kSize.width * 3 / 4, 180) & cv::Rect({}, kSize);
    if (lorry.area() > 0) {
      picture(lorry) = 150;
      for (int x = left + 20; x < left + kSize.width * 3 / 4; x += 40) {
        const cv::Rect stripe = cv::Rect(x, 60, 12, 140) & cv::Rect({}, kSize);
        if (stripe.area() > 0) picture(stripe) = 90;
      }
    }
  }
  if (s.kind == "cover" || s.kind == "slow cover" || s.kind == "creep") {
    const double reach = s.kind == "cover" ? 1 : std::min(1.0, (seconds - s.from_s) / s.size);
    const int edge = static_cast<int>(reach * kSize.width * 0.85);
    if (edge > 0) picture(cv::Rect(0, 0, edge, kSize.height)) = 60 + 20 * std::sin(s.angle);
  }
  if (s.kind == "moved") picture = warped(picture, s.size * std::cos(s.angle), s.size * std::sin(s.angle));
  if (s.kind == "defocused") picture = blurred(picture, s.size);
  if (s.kind == "dark") picture *= 0.03;
  if (s.kind == "flare")  // headlights that turn
    cv::circle(picture, {kSize.width / 2, kSize.height / 2},
               static_cast<int>(std::sqrt(0.75 * kSize.area() / CV_PI * std::sin(CV_PI * way))), 255.0,
               cv::FILLED);
  return picture;
}

struct Outcome {
  std::vector<Stretch> events;
};

Outcome run(const Scenario& s, const Camera& camera, std::uint64_t seed) {
  cv::RNG random(seed);
  const cv::Mat place = drawn_place(kSize, random);
  std::vector<Walker> walkers;
  for (double t = random.uniform(0.0, 3.0); t < s.length_s; t += random.uniform(2.0, 6.0)) {
    const bool right = random.uniform(0, 2) == 0;
    const double y = random.uniform(90.0, 190.0);
    walkers.push_back({t, t + random.uniform(3.0, 7.0), right ? -15.0 : kSize.width + 15.0, y,
                       right ? kSize.width + 15.0 : -15.0, y + random.uniform(-20.0, 20.0), 14, 40,
                       random.uniform(0, 2) == 0 ? -35.0 : 40.0});
  }
  cv::RNG noise(seed + 7);
  DrawnCodec codec(s.step, static_cast<int>(std::max(12.0, 2 * camera.fps)));
  video::Guard guard({.source = "drawn"});
  Outcome outcome;
  std::vector<cv::Mat> kept;  // frames that a frozen or looped stream repeats
  std::size_t period = 0;     // period of a loop, in frames
  std::vector<double> times;
  cv::Mat latest;
  double next = 0;
  const double shown = camera.shown_fps > 0 ? camera.shown_fps : camera.fps;
  double wait = 0;
  for (double t = 0; t < s.length_s; t += wait) {
    wait = camera.variable ? noise.uniform(0.5, 1.8) / shown : 1 / shown;
    if (latest.empty() || t >= next - 1e-9) {
      if (camera.shown_fps > 0) next += 1 / camera.fps;
      const bool stands = s.kind == "frozen" || s.kind == "loop" || s.kind == "in turn";
      if (stands && t >= s.from_s && t < s.until_s) {
        if (s.kind == "loop") {
          // A loop's period is a whole number of frames.
          if (period == 0) {
            const auto back = std::ranges::lower_bound(times, t - s.size - 1e-9);
            period = std::max<std::size_t>(2, static_cast<std::size_t>(times.end() - back));
          }
          latest = kept[kept.size() - period];
        } else if (s.kind == "in turn") {
          latest = kept[kept.size() - 2];
        } else {
          latest = kept.back();
        }
      } else {
        latest = exposed(drawn_at(place, s, walkers, t), s.noise, noise);
      }
      kept.push_back(latest);
      times.push_back(t);
      if (kept.size() > 1000) {
        kept.erase(kept.begin());
        times.erase(times.begin());
      }
    }
    const cv::Mat coded = codec.code(latest);
    for (const auto& [phase, event] : guard.push(view(coded), t).events) {
      if (event.kind == video::EventKind::light) continue;
      if (phase == video::EventPhase::start) {
        outcome.events.push_back({video::to_string(event.kind), event.start_s, kForever, event.detail});
      } else {
        for (Stretch& one : outcome.events)
          if (one.kind == video::to_string(event.kind) && std::isinf(one.end_s)) one.end_s = event.end_s;
      }
    }
  }
  return outcome;
}

}  // namespace

nlohmann::ordered_json rates(const PopulationOptions& options) {
  std::vector<Camera> cameras{{"5", 5},
                              {"6", 6},
                              {"8", 8},
                              {"10", 10},
                              {"12.5", 12.5},
                              {"15", 15},
                              {"20", 20},
                              {"25", 25},
                              {"30", 30},
                              {"50", 50},
                              {"60", 60},
                              {"100", 100},
                              {"120", 120},
                              {"variable 10", 10, 0, true},
                              {"variable 25", 25, 0, true},
                              {"2 as 25", 2, 25},
                              {"5 as 30", 5, 30},
                              {"10 as 60", 10, 60}};
  if (!options.cameras.empty())
    std::erase_if(cameras,
                  [&](const Camera& one) { return std::ranges::count(options.cameras, one.name) == 0; });
  struct Row {
    int scenes = 0, right = 0, missed = 0, late = 0, extra = 0;
  };
  std::map<std::string, Row> by_camera, by_kind;
  std::vector<std::string> order;
  std::mutex mutex;
  const int jobs = options.count * static_cast<int>(cameras.size());
  each_of(jobs, options.threads, [&](int job) {
    const int scene = job / static_cast<int>(cameras.size());
    const Camera& camera = cameras[static_cast<std::size_t>(job) % cameras.size()];
    const std::uint64_t seed = options.seed * 1000003 + static_cast<std::uint64_t>(scene);
    cv::RNG random(seed);
    for (int i = 0; i < 8; ++i) random.next();
    const Scenario s = drawn_scenario(scene, random);
    if (!options.kinds.empty() && std::ranges::count(options.kinds, s.kind) == 0) return;
    const Outcome outcome = run(s, camera, seed);
    const double tolerance =
        std::max(0.2, 1.05 / camera.fps) +
        (s.truth.size() == 1 && s.truth[0].kind == "covered" && s.kind != "cover" ? s.size : 0);
    Row row;
    row.scenes = 1;
    std::vector<bool> used(outcome.events.size());
    bool right = true;
    for (const Stretch& one : s.truth) {
      bool found = false;
      for (std::size_t i = 0; i < outcome.events.size(); ++i) {
        const Stretch& event = outcome.events[i];
        if (used[i] || event.kind != one.kind || event.start_s > one.end_s || event.end_s < one.start_s)
          continue;
        used[i] = found = true;
        const bool exact = std::abs(event.start_s - one.start_s) <= tolerance &&
                           (std::abs(event.end_s - one.end_s) <= tolerance ||
                            (std::isinf(event.end_s) && one.end_s >= s.length_s - 0.5));
        row.late += exact ? 0 : 1;
        right = right && exact;
        break;
      }
      row.missed += found ? 0 : 1;
      right = right && found;
    }
    // A black picture may also be reported as covered.
    for (std::size_t i = 0; i < used.size(); ++i)
      row.extra += used[i] || (s.kind == "dark" && outcome.events[i].kind == "covered") ? 0 : 1;
    right = right && row.extra == 0;
    row.right = right ? 1 : 0;
    const std::lock_guard lock(mutex);
    if (options.verbose && !right) {
      fmt::print("  {} at {}, scene {} (codec {:.1f}), {:.2f} to {:.2f} s:", s.kind, camera.name, scene,
                 s.step, s.from_s, s.until_s);
      for (const Stretch& event : outcome.events)
        fmt::print(" {} {:.2f}-{:.2f} ({})", event.kind, event.start_s, event.end_s, event.detail);
      fmt::print("\n");
    }
    for (Row* sum : {&by_camera[camera.name], &by_kind[s.kind]}) {
      sum->scenes += row.scenes;
      sum->right += row.right;
      sum->missed += row.missed;
      sum->late += row.late;
      sum->extra += row.extra;
    }
  });
  nlohmann::ordered_json out;
  const auto put = [&](const char* what, const std::string& name, const Row& row) {
    fmt::print("{:<12} {:<14} {:>4} of {:>4} right, {} missed, {} at another time, {} that are none\n", what,
               name, row.right, row.scenes, row.missed, row.late, row.extra);
    out[what][name] = {{"right", row.right},
                       {"scenes", row.scenes},
                       {"missed", row.missed},
                       {"another_time", row.late},
                       {"false", row.extra}};
  };
  for (const Camera& camera : cameras) put("rate", camera.name, by_camera[camera.name]);
  for (const auto& [kind, row] : by_kind) put("kind", kind, row);
  return out;
}

}  // namespace sfft::bench
