// SPDX-License-Identifier: Apache-2.0
// Most kinds are effects of the video population with drawn parameters; the others are written here.
#include "bench/trust/changes.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

namespace sfft::trust {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

/// Varies slowly between 0.2 and 1.
double swell(std::int64_t index, double period, double phase) {
  return 0.6 + 0.4 * std::sin(kTurn * static_cast<double>(index) / period + phase);
}

/// Applies the share `weight` of an effect.
Effect blend(Effect effect, double weight) {
  return [=](Image& image, std::int64_t index, Random& random) {
    Image changed = image;
    effect(changed, index, random);
    for (std::size_t i = 0; i < image.values.size(); ++i)
      image.values[i] += static_cast<float>(weight) * (changed.values[i] - image.values[i]);
  };
}

Effect light(double strength, std::uint64_t seed) {
  Random random(seed);
  const double period = random.log_uniform(60, 300), phase = random.phase();
  return [=](Image& image, std::int64_t index, Random&) {
    const auto gain = static_cast<float>(1 + strength * swell(index, period, phase));
    for (float& value : image.values) value *= gain;
  };
}

Effect lamp(double strength, std::uint64_t seed) {
  Random random(seed);
  const double top = random.uniform(), left = random.uniform(), radius = random.log_uniform(0.05, 0.4);
  const double period = random.log_uniform(20, 200), phase = random.phase();
  return [=](Image& image, std::int64_t index, Random&) {
    const double height = static_cast<double>(image.rows), reach = radius * height;
    const double gain = strength * swell(index, period, phase);
    for (std::int64_t r = 0; r < image.rows; ++r) {
      for (std::int64_t c = 0; c < image.columns; ++c) {
        const double down = (static_cast<double>(r) - top * height) / reach;
        const double across = (static_cast<double>(c) - left * static_cast<double>(image.columns)) / reach;
        image.at(r, c) *= static_cast<float>(1 + gain * std::exp(-(down * down + across * across) / 2));
      }
    }
  };
}

Effect shadow(double strength, std::uint64_t seed) {
  Random random(seed);
  const double radius = random.uniform(0.2, 0.5);
  return moving_shadow(strength, radius, random.log_uniform(80, 300));
}

Effect blocks(double strength, std::uint64_t seed) {
  Random random(seed);
  const Effect noise = gaussian_noise(random.uniform(0.7, 4));
  const auto quality = static_cast<int>(random.integer(15, 60));
  const Effect code = block_compression(quality, static_cast<int>(random.integer(6, 30)));
  return blend(
      [=](Image& image, std::int64_t index, Random& of_frame) {
        noise(image, index, of_frame);
        code(image, index, of_frame);
      },
      strength);
}

Effect specks(double strength, std::uint64_t seed) {
  Random random(seed);
  const double share = random.log_uniform(5e-4, 1e-2);
  return [=](Image& image, std::int64_t, Random& of_frame) {
    const auto points = static_cast<std::int64_t>(image.values.size());
    const auto count = static_cast<std::int64_t>(share * static_cast<double>(points));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto place = static_cast<std::size_t>(of_frame.below(points));
      image.values[place] += static_cast<float>(of_frame.chance(0.5) ? strength : -strength);
    }
  };
}

/// A texture that moves over a part of the picture: water, foliage, a conveyor belt.
Effect texture(double strength, std::uint64_t seed) {
  Random random(seed);
  constexpr std::int64_t kSide = 128;
  const double exponent = random.uniform(0, 0.8);
  auto tile = std::make_shared<Image>(natural_scene(kSide, kSide, {exponent, 0, 128, 32, 0}, random));
  const double top = random.uniform(0, 0.5), left = random.uniform(0, 0.5), share = random.uniform(0.3, 0.5);
  const double heading = random.phase(), speed = random.log_uniform(0.2, 5);
  return [=](Image& image, std::int64_t index, Random&) {
    const double down = speed * std::sin(heading) * static_cast<double>(index);
    const double across = speed * std::cos(heading) * static_cast<double>(index);
    const auto rows = static_cast<double>(image.rows), columns = static_cast<double>(image.columns);
    for (auto r = static_cast<std::int64_t>(top * rows); r < static_cast<std::int64_t>((top + share) * rows);
         ++r) {
      for (auto c = static_cast<std::int64_t>(left * columns);
           c < static_cast<std::int64_t>((left + share) * columns); ++c) {
        const float value = tile->sample(static_cast<double>(r) + down, static_cast<double>(c) + across);
        image.at(r, c) += static_cast<float>(strength / 32) * (value - 128);
      }
    }
  };
}

/// The picture moves by a part of a pixel or a few.
void move(Image& image, double down, double across) {
  const Image still = image;
  for (std::int64_t r = 0; r < image.rows; ++r) {
    const double row = std::clamp(static_cast<double>(r) + down, 0.0, static_cast<double>(image.rows - 1));
    for (std::int64_t c = 0; c < image.columns; ++c) {
      const double column =
          std::clamp(static_cast<double>(c) + across, 0.0, static_cast<double>(image.columns - 1));
      image.at(r, c) = still.sample(row, column);
    }
  }
}

Effect jitter(double strength, std::uint64_t) {
  return [=](Image& image, std::int64_t, Random& of_frame) {
    move(image, strength * of_frame.normal(), strength * of_frame.normal());
  };
}

Effect sway(double strength, std::uint64_t seed) {
  Random random(seed);
  const double period = random.log_uniform(8, 100), phase = random.phase(), heading = random.phase();
  return [=](Image& image, std::int64_t index, Random&) {
    const double along = strength * swell(index, period, phase);
    move(image, along * std::sin(heading), along * std::cos(heading));
  };
}

Effect tone(double strength, std::uint64_t seed) {
  Random random(seed);
  const double down = random.uniform(-0.5, 0.5), across = random.uniform(0, 0.5);
  const double turn = random.uniform(-0.5, 0.5), start = random.uniform();
  return [=](Image& image, std::int64_t index, Random&) {
    for (std::int64_t r = 0; r < image.rows; ++r) {
      const double before = start + turn * static_cast<double>(index) + down * static_cast<double>(r);
      for (std::int64_t c = 0; c < image.columns; ++c) {
        const double cycles = before + across * static_cast<double>(c);
        image.at(r, c) += static_cast<float>(strength * std::cos(kTurn * cycles));
      }
    }
  };
}

/// Each row of the sensor is read out with an offset.
Effect read_out(double strength, std::uint64_t) {
  return [=](Image& image, std::int64_t, Random& of_frame) {
    for (std::int64_t r = 0; r < image.rows; ++r) {
      const auto offset = static_cast<float>(strength * of_frame.normal());
      for (std::int64_t c = 0; c < image.columns; ++c) image.at(r, c) += offset;
    }
  };
}

Effect drops(double strength, std::uint64_t seed) {
  Random random(seed);
  const auto streaks = static_cast<int>(random.log_uniform(30, 400));
  const double length = random.uniform(6, 25);
  return rain(streaks, strength, length, random.uniform(-0.4, 0.4));
}

Effect mains(double strength, std::uint64_t seed) {
  Random random(seed);
  const double cycles = random.uniform(0.1, 4);
  return flicker(strength, cycles, random.chance(0.3) ? 0 : random.uniform(0.3, 4));
}

Effect objects(double strength, std::uint64_t seed) {
  Random random(seed);
  const auto count = static_cast<int>(random.integer(1, 6));
  return blend(moving_objects(count, 0.005, 0.05, random.log_uniform(0.3, 5), seed), strength);
}

Effect leaves(double strength, std::uint64_t seed) {
  Random random(seed);
  const double period = random.log_uniform(6, 80);
  return waving(strength, period, random.uniform(10, 60), seed);
}

}  // namespace

const std::vector<ChangeKind>& change_kinds() {
  static const std::vector<ChangeKind> kinds{
      {"grain", 0.3, 40, [](double s, std::uint64_t) { return gaussian_noise(s); }},
      {"shot noise", 0.3, 40, [](double s, std::uint64_t) { return shot_noise(s * s / 110, 0); }},
      {"cloud shadow", 0.003, 0.9, shadow},
      {"lamp", 0.003, 2, lamp},
      {"light drift", 0.001, 0.6, light},
      {"flicker", 0.001, 0.6, mains},
      {"blocks", 0.03, 1.5, blocks},
      {"specks", 2, 255, specks},
      {"texture", 0.3, 80, texture},
      {"rain", 1, 250, drops},
      {"jitter", 0.005, 4, jitter},
      {"sway", 0.005, 6, sway},
      {"objects", 0.01, 1, objects},
      {"leaves", 0.03, 12, leaves},
      {"tone", 0.1, 80, tone},
      {"row offsets", 0.1, 40, read_out},
  };
  return kinds;
}

}  // namespace sfft::trust
