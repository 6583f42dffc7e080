// SPDX-License-Identifier: Apache-2.0
// Draws size, type, tones and noise for every stream in the same way. Then the stream's family, a function of
// a Draft, sets how tones and noise evolve.
#include "bench/trust/signal_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "bench/trust/signal_stream.hpp"

namespace sfft::trust {

namespace {

constexpr double kPi = std::numbers::pi;

/// The settings of one stream while it is drawn, with the words that describe it.
struct Draft {
  SignalSettings settings;
  Random random;
  std::int64_t frames;
  std::string words;

  bool real() const { return !is_complex(settings.type); }
  /// A frequency on the grid that no tone has.
  double free_frequency(const std::vector<Tone>& tones, Random& source) const {
    const std::int64_t bins = real() ? settings.points / 2 - 1 : settings.points - 1;
    for (;;) {
      const auto frequency = static_cast<double>(source.integer(1, bins));
      const auto taken = [&](const Tone& tone) { return tone.frequency == frequency; };
      if (std::none_of(tones.begin(), tones.end(), taken)) return frequency;
    }
  }
};

std::int64_t draw_points(Random& random) {
  // Short streams are drawn more often: they test equally well, and 2^16 points take fifty times as long as
  // 2^10.
  static constexpr std::int64_t kPoints[] = {1024,  1024,  2048, 2048, 4096, 4096, 8192,  8192, 16384, 16384,
                                             32768, 65536, 1000, 1536, 1500, 6000, 15000, 1021, 10007};
  return kPoints[random.below(static_cast<std::int64_t>(std::size(kPoints)))];
}

void draw_tones(Draft& draft) {
  Random& random = draft.random;
  const std::int64_t max = std::min<std::int64_t>(256, draft.settings.points / 32);
  const auto k = static_cast<std::int64_t>(random.log_uniform(8, static_cast<double>(max) + 0.99));
  const double spread = random.chance(0.5) ? 1 : random.log_uniform(1, 10);  // strongest over weakest
  for (std::int64_t i = 0; i < k; ++i) {
    Tone tone;
    tone.frequency = draft.free_frequency(draft.settings.tones, random);
    tone.amplitude = random.log_uniform(1, spread * 1.000001);
    tone.phase = random.phase();
    draft.settings.tones.push_back(tone);
  }
}

void draw_noise(Draft& draft) {
  double power = 0;
  for (const Tone& tone : draft.settings.tones) power += tone.amplitude * tone.amplitude;
  if (draft.real()) power /= 2;
  const bool none = draft.random.chance(0.15);
  const double snr_db = draft.random.uniform(10, 60);
  draft.settings.noise = none ? 0 : std::sqrt(power * std::pow(10, -snr_db / 10));
  draft.words = none ? "no noise" : fmt::format("{:.0f} dB", snr_db);
}

/// The phase of every tone advances at a different rate; the rates of a stream have one scale.
void turn_phases(Draft& draft) {
  const double scale = draft.random.log_uniform(1e-3, kPi);
  for (Tone& tone : draft.settings.tones) tone.turn = draft.random.uniform(-scale, scale);
  draft.words += fmt::format(", turning by up to {:.2g}", scale);
}

void maybe_turn_phases(Draft& draft) {
  if (draft.random.chance(0.6)) turn_phases(draft);
}

void phases_random(Draft& draft) {
  draft.settings.evolve = [](std::vector<Tone>& tones, std::int64_t, Random& random) {
    for (Tone& tone : tones) tone.phase = random.phase();
  };
}

/// A course that goes up or down by `factor` once and then stays, or goes there and back repeatedly.
std::function<double(std::int64_t)> amplitude_course(Random& random, double factor, double frames,
                                                     bool back) {
  const double start =
      random.chance(0.5) ? 0 : 0.5;  // a course there and back starts at the bottom or the top
  return [=](std::int64_t index) {
    const double along = static_cast<double>(index) / frames;
    if (!back) return std::pow(factor, std::min(along, 1.0));
    const auto exponent = [&](double t) { return 0.5 - 0.5 * std::cos(2 * kPi * (start + t)); };
    return std::pow(factor, exponent(along) - exponent(0));
  };
}

void common_amplitude(Draft& draft) {
  maybe_turn_phases(draft);
  const double factor = draft.random.chance(0.5) ? 100 : 0.01;
  const double frames = draft.random.uniform(0.3, 1) * static_cast<double>(draft.frames);
  const bool back = draft.random.chance(0.4);
  const auto course = amplitude_course(draft.random, factor, frames, back);
  draft.settings.evolve = [=](std::vector<Tone>& tones, std::int64_t index, Random&) {
    for (Tone& tone : tones) tone.amplitude *= course(index) / course(index - 1);
  };
  draft.words += fmt::format(", times {} in {:.0f} frames{}", factor, frames, back ? ", there and back" : "");
}

void own_amplitudes(Draft& draft) {
  maybe_turn_phases(draft);
  const bool back = draft.random.chance(0.4);
  std::vector<std::function<double(std::int64_t)>> courses;
  for (std::size_t i = 0; i < draft.settings.tones.size(); ++i) {
    const double frames = draft.random.uniform(0.3, 1) * static_cast<double>(draft.frames);
    courses.push_back(amplitude_course(draft.random, draft.random.log_uniform(0.01, 100), frames, back));
  }
  draft.settings.evolve = [=](std::vector<Tone>& tones, std::int64_t index, Random&) {
    for (std::size_t i = 0; i < tones.size(); ++i)
      tones[i].amplitude *= courses[i](index) / courses[i](index - 1);
  };
  if (back) draft.words += ", there and back";
}

void births_and_deaths(Draft& draft) {
  maybe_turn_phases(draft);
  const double rate = draft.random.log_uniform(0.02, 0.5);
  const auto free = [draft](const std::vector<Tone>& tones, Random& random) {
    return draft.free_frequency(tones, random);
  };
  const std::size_t max = 2 * draft.settings.tones.size();
  draft.settings.evolve = [=](std::vector<Tone>& tones, std::int64_t, Random& random) {
    if (tones.size() > 4 && random.chance(rate)) {
      tones.erase(tones.begin() + random.below(static_cast<std::int64_t>(tones.size())));
    }
    if (tones.size() < max && random.chance(rate)) {
      tones.push_back({free(tones, random), random.uniform(0.7, 1.5), random.phase(), random.uniform(-1, 1)});
    }
  };
  draft.words += fmt::format(", {:.2g} births and deaths per frame", rate);
}

void one_tone_moves(Draft& draft) {
  maybe_turn_phases(draft);
  const std::int64_t when = draft.random.integer(5, draft.frames - 10);
  const auto free = [draft](const std::vector<Tone>& tones, Random& random) {
    return draft.free_frequency(tones, random);
  };
  draft.settings.evolve = [=](std::vector<Tone>& tones, std::int64_t index, Random& random) {
    if (index == when) tones.front().frequency = free(tones, random);
  };
}

void amplitude_jitter(Draft& draft) {
  maybe_turn_phases(draft);
  const double jitter = draft.random.log_uniform(0.01, 0.5);
  const std::vector<Tone> first = draft.settings.tones;
  draft.settings.evolve = [=](std::vector<Tone>& tones, std::int64_t, Random& random) {
    for (std::size_t i = 0; i < tones.size(); ++i) {
      tones[i].amplitude = first[i].amplitude * std::exp(jitter * random.normal());
    }
  };
  draft.words += fmt::format(", jitter {:.2g}", jitter);
}

void silent_gaps(Draft& draft) {
  maybe_turn_phases(draft);
  const std::int64_t start = draft.random.integer(3, 20);
  const std::int64_t period = draft.random.integer(10, 30);
  const std::int64_t length = draft.random.integer(1, period / 2);
  draft.settings.gain = [=](std::int64_t index) {
    return index >= start && (index - start) % period < length ? 0.0 : 1.0;
  };
  draft.words += fmt::format(", {} of every {} frames", length, period);
}

void growing_interferer(Draft& draft) {
  maybe_turn_phases(draft);
  Random& random = draft.random;
  Tone interferer{draft.free_frequency(draft.settings.tones, random), 1e-3, random.phase(),
                  random.uniform(-1, 1)};
  if (random.chance(0.5)) interferer.frequency += random.uniform(0.1, 0.9);
  const double growth = std::pow(random.log_uniform(100, 10000), 1 / static_cast<double>(draft.frames));
  const std::size_t tones_of_template = draft.settings.tones.size();
  draft.settings.evolve = [=](std::vector<Tone>& tones, std::int64_t index, Random&) {
    if (index == 1) tones.push_back(interferer);
    tones[tones_of_template].amplitude *= growth;
  };
  draft.words += fmt::format(", at {:.1f}", interferer.frequency);
}

void noise_changes(Draft& draft) {
  maybe_turn_phases(draft);
  const std::int64_t when = draft.random.integer(5, draft.frames - 10);
  const double factor =
      draft.random.chance(0.7) ? draft.random.log_uniform(3, 100) : draft.random.log_uniform(0.01, 0.3);
  if (draft.settings.noise == 0) draft.settings.noise = 0.01;
  draft.settings.noise_gain = [=](std::int64_t index) { return index >= when ? factor : 1.0; };
  draft.words += fmt::format(", noise times {:.2g} at frame {}", factor, when);
}

void chirps(Draft& draft) {
  maybe_turn_phases(draft);
  auto& tones = draft.settings.tones;
  const auto max =
      std::max<std::int64_t>(1, std::min<std::int64_t>(8, static_cast<std::int64_t>(tones.size()) / 4));
  const auto moving = static_cast<std::size_t>(draft.random.integer(1, max));
  const double rate = draft.random.log_uniform(1e-3, 0.3);
  const double bins = static_cast<double>(draft.settings.points) / (draft.real() ? 2 : 1);
  draft.settings.evolve = [=](std::vector<Tone>& now, std::int64_t, Random&) {
    for (std::size_t i = 0; i < moving; ++i) {
      now[i].frequency = std::fmod(now[i].frequency + (i % 2 == 0 ? rate : -rate) + bins, bins);
    }
  };
  draft.words += fmt::format(", {} tones by {:.2g} bins per frame", moving, rate);
}

/// A machine room: a little of everything.
void mixture(Draft& draft) {
  turn_phases(draft);
  const double jitter = draft.random.log_uniform(0.01, 0.2);
  const double rate = draft.random.log_uniform(0.01, 0.1);
  const auto free = [draft](const std::vector<Tone>& tones, Random& random) {
    return draft.free_frequency(tones, random);
  };
  draft.settings.evolve = [=](std::vector<Tone>& tones, std::int64_t, Random& random) {
    for (Tone& tone : tones) tone.amplitude *= std::exp(jitter * random.normal());
    if (random.chance(rate)) {
      tones.push_back({free(tones, random), random.uniform(0.7, 1.5), random.phase(), random.uniform(-1, 1)});
    }
    if (random.chance(rate)) {
      Tone& moved = tones[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(tones.size())))];
      moved.frequency = free(tones, random);
    }
  };
  const double hum = draft.random.log_uniform(3, 50);
  draft.settings.noise_gain = [=](std::int64_t index) {
    return 1 + 0.5 * std::sin(2 * kPi * static_cast<double>(index) / hum);
  };
  draft.words += fmt::format(", jitter {:.2g}, {:.2g} births and moves per frame", jitter, rate);
}

using Family = std::pair<std::string, void (*)(Draft&)>;
const std::vector<Family>& families() {
  static const std::vector<Family> list{
      {"steady", [](Draft&) {}},
      {"phases advance", turn_phases},
      {"phases random", phases_random},
      {"amplitude x100, common", common_amplitude},
      {"amplitude x100, own", own_amplitudes},
      {"births and deaths", births_and_deaths},
      {"one tone moves", one_tone_moves},
      {"amplitude jitter", amplitude_jitter},
      {"silent gaps", silent_gaps},
      {"growing interferer", growing_interferer},
      {"noise level changes", noise_changes},
      {"chirps", chirps},
      {"mixture", mixture},
  };
  return list;
}

}  // namespace

const std::vector<std::string>& signal_families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Family& family : families()) list.push_back(family.first);
    return list;
  }();
  return names;
}

StreamRecipe signal_recipe(std::uint64_t seed, std::int64_t index, std::int64_t frames) {
  const Family& family = families()[static_cast<std::size_t>(index) % families().size()];
  Draft draft{{}, Random(seed, static_cast<std::uint64_t>(index)), frames, {}};
  static constexpr ElementType kTypes[] = {ElementType::c64, ElementType::c64,  ElementType::f32,
                                           ElementType::f32, ElementType::c128, ElementType::f64};
  draft.settings.points = draw_points(draft.random);
  draft.settings.type = kTypes[draft.random.below(6)];
  draft.settings.seed = draft.random.bits();
  draw_tones(draft);
  draw_noise(draft);
  family.second(draft);
  const auto k = static_cast<std::int64_t>(draft.settings.tones.size());
  StreamRecipe recipe;
  recipe.family = family.first;
  recipe.parameters =
      fmt::format("N {} {}, k {}, {}", draft.settings.points, to_string(draft.settings.type), k, draft.words);
  recipe.k = k;
  recipe.make = [settings = std::move(draft.settings)] { return make_signal(settings); };
  return recipe;
}

}  // namespace sfft::trust
