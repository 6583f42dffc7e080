// SPDX-License-Identifier: Apache-2.0
// Tracks tones whose amplitudes and phases take a random step per frame, as differences to a learned
// reference. Errors stay the same while the change grows from zero.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "bench/threads.hpp"
#include "bench/timing.hpp"
#include "bench/trust/commands.hpp"
#include "bench/trust/error_ratios.hpp"
#include "bench/trust/signal_stream.hpp"

namespace sfft::trust {

namespace {

constexpr double kLargestShare = 0.005, kFar = 5;

struct Walk {
  SignalSettings settings;
  std::string parameters;
};

/// Stream `index` of a seed: mostly steps of 1 % and 20 dB of noise, the others around these.
Walk draw(std::uint64_t seed, std::int64_t index) {
  Random random(seed, static_cast<std::uint64_t>(index));
  constexpr std::int64_t kPoints[] = {2048, 4096, 4096, 8192, 6000, 16384};
  constexpr ElementType kTypes[] = {ElementType::c64, ElementType::f32};
  Walk walk;
  SignalSettings& settings = walk.settings;
  settings.points = kPoints[random.below(6)];
  settings.type = kTypes[random.below(2)];
  settings.seed = random.bits();
  const bool real = !is_complex(settings.type);
  const std::int64_t k = random.integer(8, std::min<std::int64_t>(64, settings.points / 64));
  std::vector<bool> taken(static_cast<std::size_t>(settings.points));
  double power = 0;
  while (static_cast<std::int64_t>(settings.tones.size()) < k) {
    const std::int64_t frequency = random.integer(1, settings.points / (real ? 2 : 1) - 1);
    if (taken[static_cast<std::size_t>(frequency)]) continue;
    taken[static_cast<std::size_t>(frequency)] = true;
    settings.tones.push_back({static_cast<double>(frequency), random.uniform(0.5, 2), random.phase(), 0});
    power += settings.tones.back().amplitude * settings.tones.back().amplitude / (real ? 2 : 1);
  }
  const bool usual = random.chance(0.6);
  const double snr_db = usual ? 20 : random.uniform(10, 40);
  const double step = usual ? 0.01 : random.log_uniform(0.001, 0.05);
  settings.noise = std::sqrt(power * std::pow(10, -snr_db / 10));
  settings.evolve = [=](std::vector<Tone>& tones, std::int64_t, Random& of_frame) {
    for (Tone& tone : tones) {
      tone.amplitude *= std::exp(step * of_frame.normal());
      tone.phase += step * of_frame.normal();
    }
  };
  walk.parameters = fmt::format("N {} {}, k {}, {:.0f} dB, steps of {:.2g}", settings.points,
                                to_string(settings.type), k, snr_db, step);
  return walk;
}

struct Tally {
  std::int64_t frames = 0, sparse = 0, beyond = 0, far = 0;
  double worst = 0;
  std::vector<double> ratios;

  void operator+=(const Tally& other) {
    frames += other.frames;
    sparse += other.sparse;
    beyond += other.beyond;
    far += other.far;
    worst = std::max(worst, other.worst);
    ratios.insert(ratios.end(), other.ratios.begin(), other.ratios.end());
  }
  bool kept() const {
    return static_cast<double>(beyond) <= kLargestShare * static_cast<double>(sparse) && far == 0;
  }
};

Tally watch(const Walk& walk, std::int64_t frames) {
  const std::unique_ptr<Stream> stream = make_signal(walk.settings);
  const SignalView first = stream->next();
  const Template tmpl = learn(
      first, {.keep = Largest{static_cast<std::int64_t>(walk.settings.tones.size())}, .reference = true});
  Tracker<float> tracker(tmpl);
  Truth truth(first.shape(), tmpl.domain() == Domain::real);
  Tally tally;
  for (std::int64_t i = 1; i < frames; ++i) {
    const SignalView frame = stream->next();
    const FrameRecord found = [&] {
      const Tracker<float>::Frame& tracked = tracker.push(frame);
      truth.transform(frame);
      return record(tracked, i, truth);
    }();
    ++tally.frames;
    if (found.dense) continue;
    const Comparison& errors = found.errors;
    ++tally.sparse;
    tally.beyond += !errors.covered();
    tally.far += errors.true_l2 > kFar * errors.reported_l2 + Comparison::kRounding * errors.norm;
    tally.worst = std::max(tally.worst, errors.true_l2 / errors.reported_l2);
    tally.ratios.push_back(errors.reported_l2 / errors.true_l2);
  }
  return tally;
}

void print(const std::string& name, const Tally& tally) {
  const auto of_sparse = [&](std::int64_t part) {
    return tally.sparse > 0 ? 100 * ErrorSummary::share(part, tally.sparse) : 0;
  };
  fmt::print("{:<48} {:>8} {:>8} {:>7.3f}% {:>7.3f}% {:>6.3g} {:>6.3f}\n", name, tally.frames, tally.sparse,
             of_sparse(tally.beyond), of_sparse(tally.far), tally.worst, median(tally.ratios));
}

}  // namespace

nlohmann::json run_walk(const WalkOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  fmt::print("{:<48} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6}\n", "stream", "frames", "sparse", "beyond", "far",
             "worst", "rep/tr");
  Tally all;
  std::mutex mutex;
  bench::each_of(options.count, options.threads, [&](std::int64_t i) {
    const Walk walk = draw(options.seed, i);
    const Tally tally = watch(walk, options.frames);
    const std::lock_guard lock(mutex);
    all += tally;
    if (options.verbose) print(fmt::format("{} ({})", i, walk.parameters), tally);
  });
  print("(all)", all);
  const double seconds = bench::seconds_since(start);
  fmt::print("\nwanted: at most {} % beyond twice, none beyond {} times; {:.1f} s\n", 100 * kLargestShare,
             kFar, seconds);
  return {
      {"frames", all.frames},           {"sparse", all.sparse}, {"beyond_twice", all.beyond},
      {"beyond_five_times", all.far},   {"worst", all.worst},   {"reported_over_true", median(all.ratios)},
      {"failures", all.kept() ? 0 : 1}, {"seconds", seconds}};
}

}  // namespace sfft::trust
