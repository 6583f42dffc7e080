// SPDX-License-Identifier: Apache-2.0
// Each factory returns a function of image and frame index; effects that need lasting objects draw them once
// from their own seed.
#include "bench/trust/effects.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace sfft::trust {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

void scale(Image& image, double gain, double offset) {
  for (float& value : image.values) value = static_cast<float>(gain * value + offset);
}

/// A position that moves on a straight line and re-enters on the other side.
double travel(double start, double step, std::int64_t index, double low, double high) {
  const double span = high - low;
  const double position = start + step * static_cast<double>(index) - low;
  return low + position - span * std::floor(position / span);
}

}  // namespace

Effect gaussian_noise(double sigma) {
  return [=](Image& image, std::int64_t, Random& random) {
    for (float& value : image.values) value += static_cast<float>(sigma * random.normal());
  };
}

Effect shot_noise(double gain, double floor) {
  return [=](Image& image, std::int64_t, Random& random) {
    for (float& value : image.values) {
      value += static_cast<float>(std::sqrt(gain * std::max(value, 0.0F) + floor) * random.normal());
    }
  };
}

Effect light_ramp(double slope, double offset, std::int64_t frames) {
  return [=](Image& image, std::int64_t index, Random&) {
    const auto along = static_cast<double>(std::min(index, frames));
    scale(image, 1 + slope * along, offset * along);
  };
}

Effect light_sinusoid(double amplitude, double period_frames) {
  return [=](Image& image, std::int64_t index, Random&) {
    scale(image, 1 + amplitude * std::sin(kTurn * static_cast<double>(index) / period_frames), 0);
  };
}

Effect moving_shadow(double depth, double radius, double frames) {
  return [=](Image& image, std::int64_t index, Random&) {
    const double radius_pixels = radius * static_cast<double>(image.rows);
    const double row = 0.55 * static_cast<double>(image.rows);
    const double column =
        travel(-radius_pixels, (static_cast<double>(image.columns) + 2 * radius_pixels) / frames, index,
               -radius_pixels, static_cast<double>(image.columns) + radius_pixels);
    for (std::int64_t r = 0; r < image.rows; ++r) {
      for (std::int64_t c = 0; c < image.columns; ++c) {
        const double distance = std::hypot(static_cast<double>(r) - row, static_cast<double>(c) - column);
        const double inside = std::clamp((radius_pixels - distance) / (0.3 * radius_pixels), 0.0, 1.0);
        image.at(r, c) *= static_cast<float>(1 - depth * inside);
      }
    }
  };
}

Effect rain(int streaks, double brightness, double length, double slant) {
  return [=](Image& image, std::int64_t, Random& random) {
    for (int i = 0; i < streaks; ++i) {
      const double top = random.uniform(-length, static_cast<double>(image.rows));
      const double left = random.uniform(0, static_cast<double>(image.columns));
      const auto strength = static_cast<float>(brightness * random.uniform(0.5, 1));
      for (int step = 0; step < static_cast<int>(length * random.uniform(0.5, 1)); ++step) {
        const auto row = static_cast<std::int64_t>(std::floor(top)) + step;
        const auto column = static_cast<std::int64_t>(left + slant * step);
        if (row < 0 || row >= image.rows || column < 0 || column >= image.columns) continue;
        image.at(row, column) += strength;
      }
    }
  };
}

Effect flicker(double depth, double cycles_per_frame, double bands) {
  return [=](Image& image, std::int64_t index, Random&) {
    for (std::int64_t r = 0; r < image.rows; ++r) {
      const double along = static_cast<double>(r) / static_cast<double>(image.rows);
      const double cycles = cycles_per_frame * static_cast<double>(index) + bands * along;
      const auto gain = static_cast<float>(1 + depth * std::sin(kTurn * cycles));
      for (std::int64_t c = 0; c < image.columns; ++c) image.at(r, c) *= gain;
    }
  };
}

Effect moving_objects(int count, double smallest, double largest, double speed, std::uint64_t seed) {
  struct Object {
    double row, column, down, across, share;
    float value;
    bool box;
  };
  Random random(seed, 77);
  std::vector<Object> objects;
  for (int i = 0; i < count; ++i) {
    const double heading = random.chance(0.7) ? random.uniform(-0.2, 0.2) : random.phase();
    const double pace = speed * random.uniform(0.5, 1.5) * (random.chance(0.5) ? 1 : -1);
    objects.push_back({random.uniform(), random.uniform(), pace * std::sin(heading), pace * std::cos(heading),
                       random.log_uniform(smallest, largest), static_cast<float>(random.uniform(15, 240)),
                       random.chance(0.5)});
  }
  return [objects](Image& image, std::int64_t index, Random&) {
    const auto rows = static_cast<double>(image.rows);
    const auto columns = static_cast<double>(image.columns);
    for (const Object& object : objects) {
      const double radius = std::sqrt(object.share * rows * columns / std::numbers::pi);
      const double row = travel(object.row * rows, object.down, index, -radius, rows + radius);
      const double column =
          travel(object.column * columns, object.across, index, -2 * radius, columns + radius);
      if (object.box) {
        draw_rectangle(image, row, column, radius * 1.25, radius * 2.5, object.value);
      } else {
        draw_disk(image, row, column, radius, object.value);
      }
    }
  };
}

Effect waving(double amplitude, double period_frames, double wavelength, std::uint64_t seed) {
  Random random(seed, 78);
  const double top = random.uniform(0.05, 0.5);
  const double left = random.uniform(0.05, 0.5);
  const double height = random.uniform(0.25, 0.45);
  const double width = random.uniform(0.25, 0.45);
  return [=](Image& image, std::int64_t index, Random&) {
    const Image still = image;
    const auto rows = static_cast<double>(image.rows);
    const auto columns = static_cast<double>(image.columns);
    const auto last_row = static_cast<std::int64_t>((top + height) * rows);
    const auto last_column = static_cast<std::int64_t>((left + width) * columns);
    for (auto r = static_cast<std::int64_t>(top * rows); r < last_row; ++r) {
      const double cycles = static_cast<double>(index) / period_frames + static_cast<double>(r) / wavelength;
      const double shift = amplitude * std::sin(kTurn * cycles);
      for (auto c = static_cast<std::int64_t>(left * columns); c < last_column; ++c) {
        image.at(r, c) = still.sample(static_cast<double>(r), static_cast<double>(c) + shift);
      }
    }
  };
}

Effect fade(double frames, bool there_and_back) {
  return [=](Image& image, std::int64_t index, Random&) {
    const double along = static_cast<double>(index + 1) / frames;
    const double gain =
        there_and_back ? 0.5 - 0.5 * std::cos(std::numbers::pi * along) : std::min(along, 1.0);
    scale(image, std::max(gain, 0.02), 0);
  };
}

Effect scale_by(double factor, double frames) {
  return [=](Image& image, std::int64_t index, Random&) {
    scale(image, std::pow(factor, std::min(static_cast<double>(index) / frames, 1.0)), 0);
  };
}

Effect white_noise_only(double sigma) {
  return [=](Image& image, std::int64_t, Random& random) {
    for (float& value : image.values) value = static_cast<float>(128 + sigma * random.normal());
  };
}

}  // namespace sfft::trust
