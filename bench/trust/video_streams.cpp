// SPDX-License-Identifier: Apache-2.0
// Draws each family in turn from one seed, with the parameter ranges of real cameras, lamps, weather and
// codecs.
#include "bench/trust/video_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/trust/video_stream.hpp"

namespace sfft::trust {

namespace {

/// Draws the streams one after another: a scene, a size, and the parameters of the family.
class Population {
 public:
  explicit Population(std::uint64_t seed) : seed_(seed) {}

  std::vector<StreamRecipe> draw();

 private:
  /// Returns the settings that all families share.
  VideoSettings scene(ElementType type = ElementType::u8) {
    random_ = Random(seed_, ++drawn_);
    VideoSettings settings;
    const std::int64_t sizes[3][2] = {{180, 240}, {240, 320}, {270, 480}};
    const auto& size = sizes[random_.below(3)];
    settings.shape = Shape{size[0], size[1]};
    settings.type = type;
    settings.scene.exponent = random_.uniform(0.8, 1.3);
    settings.scene.edges = static_cast<int>(random_.integer(2, 24));
    settings.scene.mean = random_.uniform(60, 190);
    settings.scene.contrast = random_.log_uniform(8, 70);
    settings.scene.blur = random_.chance(0.5) ? random_.uniform(0.4, 1.5) : 0;
    settings.seed = random_.bits();
    return settings;
  }
  double camera_noise() { return random_.log_uniform(0.5, 3); }

  void add(const std::string& family, VideoSettings settings, const std::string& parameters) {
    StreamRecipe recipe;
    recipe.family = family;
    recipe.parameters =
        fmt::format("{} {}, {}", settings.shape.to_string(), to_string(settings.type), parameters);
    recipe.make = [settings = std::move(settings)] { return make_video(settings); };
    recipes_.push_back(std::move(recipe));
  }
  /// Adds a stream with the effect, followed by a camera's noise.
  void add_noisy(const std::string& family, VideoSettings settings, Effect effect,
                 const std::string& parameters) {
    const double sigma = camera_noise();
    settings.effects.push_back(std::move(effect));
    settings.effects.push_back(gaussian_noise(sigma));
    add(family, std::move(settings), fmt::format("{}, sigma {:.2g}", parameters, sigma));
  }

  void still();
  void light();
  void weather_and_codecs();
  void camera();
  void contents();
  void no_picture();

  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  Random random_{0};
  std::vector<StreamRecipe> recipes_;
};

void Population::still() {
  for (const double sigma : {0.5, 1.0, 2.0, 5.0, 10.0, 20.0}) {
    VideoSettings settings = scene();
    settings.effects.push_back(gaussian_noise(sigma));
    add("still", std::move(settings), fmt::format("sigma {}", sigma));
  }
  for (int i = 0; i < 2; ++i) {
    VideoSettings settings = scene(ElementType::u16);
    const double sigma = random_.log_uniform(0.05, 10);
    settings.effects.push_back(gaussian_noise(sigma));
    add("still", std::move(settings), fmt::format("sigma {:.2g}", sigma));
  }
  for (int i = 0; i < 3; ++i) {
    VideoSettings settings = scene(i == 2 ? ElementType::u16 : ElementType::u8);
    const double gain = random_.log_uniform(0.02, 1);
    settings.effects.push_back(shot_noise(gain, random_.uniform(0.2, 2)));
    add("shot noise", std::move(settings), fmt::format("variance {:.2g} of the grey value", gain));
  }
}

void Population::light() {
  for (int i = 0; i < 3; ++i) {
    VideoSettings settings = scene();
    const double slope = random_.log_uniform(1e-4, 2e-3) * (random_.chance(0.5) ? 1 : -1);
    const double offset = i == 2 ? random_.uniform(-0.1, 0.1) : 0;
    add_noisy("light drift", std::move(settings), light_ramp(slope, offset, 200),
              fmt::format("gain {:.2g} and offset {:.2g} per frame", slope, offset));
  }
  for (int i = 0; i < 2; ++i) {
    VideoSettings settings = scene();
    const double amplitude = random_.log_uniform(0.01, 0.3);
    const double period = random_.log_uniform(40, 400);
    add_noisy("light drift", std::move(settings), light_sinusoid(amplitude, period),
              fmt::format("sinusoid {:.2g}, period {:.0f}", amplitude, period));
  }
  for (int i = 0; i < 2; ++i) {
    VideoSettings settings = scene();
    const double depth = random_.uniform(0.2, 0.7);
    const double radius = random_.uniform(0.15, 0.5);
    add_noisy("local light", std::move(settings), moving_shadow(depth, radius, random_.log_uniform(60, 300)),
              fmt::format("shadow of depth {:.2g}, radius {:.2g}", depth, radius));
  }
  for (int i = 0; i < 3; ++i) {
    VideoSettings settings = scene();
    const double depth = random_.log_uniform(0.01, 0.15);
    const double bands = i == 0 ? 0 : random_.uniform(0.3, 4);
    // A 50 or 60 Hz mains lights lamps at 100 or 120 Hz; cameras take 25, 30, 50 or 60 frames per second.
    const double rates[4] = {100.0 / 30, 120.0 / 25, 120.0 / 50, 100.0 / 59.94};
    const double cycles = rates[random_.below(4)];
    add_noisy("flicker", std::move(settings), flicker(depth, cycles, bands),
              fmt::format("depth {:.2g}, {:.3g} cycles per frame, {:.2g} bands", depth, cycles, bands));
  }
}

void Population::weather_and_codecs() {
  for (int i = 0; i < 3; ++i) {
    VideoSettings settings = scene();
    const auto streaks = static_cast<int>(random_.log_uniform(20, 1000));
    const double brightness = random_.uniform(15, 60);
    add_noisy("rain", std::move(settings),
              rain(streaks, brightness, random_.uniform(6, 25), random_.uniform(-0.4, 0.4)),
              fmt::format("{} streaks of {:.0f}", streaks, brightness));
  }
  for (int i = 0; i < 4; ++i) {
    VideoSettings settings = scene();
    const auto quality = static_cast<int>(random_.integer(20, 80));
    const auto period = static_cast<int>(random_.integer(4, 30));
    const double sigma = random_.log_uniform(0.7, 8);
    settings.effects.push_back(gaussian_noise(sigma));
    if (i == 3) settings.effects.push_back(moving_objects(2, 0.01, 0.04, 2, settings.seed));
    settings.effects.push_back(block_compression(quality, period));
    add("compression", std::move(settings),
        fmt::format("quality {}, every {}th better, sigma {:.2g} before{}", quality, period, sigma,
                    i == 3 ? ", 2 objects" : ""));
  }
}

void Population::camera() {
  for (int i = 0; i < 4; ++i) {
    VideoSettings settings = scene();
    settings.margin = 1.5;
    const bool whole = i % 2 == 1;
    double speed = i < 2 ? random_.log_uniform(0.02, 1) : random_.uniform(1, 5);
    if (whole) speed = std::ceil(speed);
    const double heading = whole ? 0 : random_.phase();
    settings.path = [=](std::int64_t index, Random&) {
      const double along = speed * static_cast<double>(index);
      return std::pair{along * std::sin(heading), along * std::cos(heading)};
    };
    const double sigma = camera_noise();
    settings.effects.push_back(gaussian_noise(sigma));
    add("pan", std::move(settings), fmt::format("{:.2g} pixels per frame, sigma {:.2g}", speed, sigma));
  }
  for (int i = 0; i < 2; ++i) {
    VideoSettings settings = scene();
    settings.margin = 1.2;
    const double amplitude = random_.log_uniform(0.1, 3);
    settings.path = [=](std::int64_t, Random& random) {
      return std::pair{10 + amplitude * random.normal(), 10 + amplitude * random.normal()};
    };
    const double sigma = camera_noise();
    settings.effects.push_back(gaussian_noise(sigma));
    add("handheld", std::move(settings), fmt::format("jitter {:.2g} pixels, sigma {:.2g}", amplitude, sigma));
  }
  for (int i = 0; i < 2; ++i) {
    VideoSettings settings = scene();
    settings.cuts =
        i == 0 ? std::vector<std::int64_t>{60, 120} : std::vector<std::int64_t>{random_.integer(20, 200)};
    const double sigma = camera_noise();
    settings.effects.push_back(gaussian_noise(sigma));
    add("cut", std::move(settings), fmt::format("{} cuts, sigma {:.2g}", i == 0 ? 2 : 1, sigma));
  }
}

void Population::contents() {
  for (int i = 0; i < 4; ++i) {
    VideoSettings settings = scene();
    const int count = i == 0 ? 1 : static_cast<int>(random_.integer(2, 8));
    const double speed = random_.log_uniform(0.3, 6);
    Effect objects = moving_objects(count, 0.01, 0.1, speed, settings.seed);
    add_noisy("moving objects", std::move(settings), std::move(objects),
              fmt::format("{} at {:.2g} pixels per frame", count, speed));
  }
  for (int i = 0; i < 2; ++i) {
    VideoSettings settings = scene();
    const double amplitude = random_.log_uniform(0.3, 5);
    Effect leaves = waving(amplitude, random_.log_uniform(6, 80), random_.uniform(10, 60), settings.seed);
    add_noisy("waving", std::move(settings), std::move(leaves), fmt::format("{:.2g} pixels", amplitude));
  }
  for (int i = 0; i < 2; ++i) {
    VideoSettings settings = scene();
    settings.effects.push_back(moving_objects(3, 0.01, 0.05, 2, settings.seed));
    settings.effects.push_back(light_sinusoid(random_.log_uniform(0.01, 0.1), random_.log_uniform(60, 300)));
    settings.effects.push_back(rain(i == 0 ? 0 : 100, 30, 12, 0.2));
    settings.effects.push_back(shot_noise(random_.log_uniform(0.01, 0.2), 1));
    add("street", std::move(settings), fmt::format("3 objects, light, shot noise{}", i == 0 ? "" : ", rain"));
  }
}

void Population::no_picture() {
  for (int i = 0; i < 3; ++i) {
    VideoSettings settings = scene(i == 1 ? ElementType::u16 : i == 2 ? ElementType::f32 : ElementType::u8);
    const double sigma = random_.uniform(10, 40);
    settings.effects.push_back(white_noise_only(sigma));
    add("white", std::move(settings), fmt::format("sigma {:.0f}", sigma));
  }
  for (int i = 0; i < 2; ++i) {
    VideoSettings settings = scene();
    const double frames = random_.log_uniform(30, 150);
    add_noisy("fade", std::move(settings), fade(frames, i == 1), fmt::format("{:.0f} frames", frames));
  }
  for (const double factor : {100.0, 0.01}) {
    VideoSettings settings = scene(ElementType::f32);
    const double frames = random_.uniform(100, 250);
    settings.effects.push_back(gaussian_noise(random_.log_uniform(0.5, 5)));
    settings.effects.push_back(scale_by(factor, frames));
    add("amplitude x100", std::move(settings), fmt::format("times {} in {:.0f} frames", factor, frames));
  }
  add("frozen", scene(), "the same frame for ever");
}

std::vector<StreamRecipe> Population::draw() {
  still();
  light();
  weather_and_codecs();
  camera();
  contents();
  no_picture();
  return std::move(recipes_);
}

}  // namespace

std::vector<StreamRecipe> video_population(std::uint64_t seed) {
  return Population(seed).draw();
}

}  // namespace sfft::trust
