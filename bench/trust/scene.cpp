// SPDX-License-Identifier: Apache-2.0
// An inverse real FFT of random coefficients makes a power-law field, which is scaled, overlaid with sharp
// edges and blurred as by a lens.
#include "bench/trust/scene.hpp"

#include <algorithm>
#include <cmath>

#include "sfft/dense.hpp"

namespace sfft::trust {

namespace {

std::int64_t wrap(std::int64_t index, std::int64_t extent) {
  index %= extent;
  return index < 0 ? index + extent : index;
}

void normalise(Image& image, double wanted_mean, double contrast) {
  double mean = 0;
  double power = 0;
  for (const float value : image.values) {
    mean += value;
    power += static_cast<double>(value) * value;
  }
  const auto count = static_cast<double>(image.values.size());
  mean /= count;
  const double scale = contrast / std::sqrt(std::max(power / count - mean * mean, 1e-30));
  for (float& value : image.values) {
    value = std::clamp(static_cast<float>(wanted_mean + scale * (value - mean)), 0.0F, 255.0F);
  }
}

/// Separable Gaussian blur of an image that repeats periodically.
void blur(Image& image, double sigma) {
  const auto reach = static_cast<std::int64_t>(std::ceil(3 * sigma));
  std::vector<float> weights;
  float sum = 0;
  for (std::int64_t i = -reach; i <= reach; ++i) {
    const double distance = static_cast<double>(i) / sigma;
    weights.push_back(static_cast<float>(std::exp(-distance * distance / 2)));
    sum += weights.back();
  }
  for (const bool down : {true, false}) {
    const Image sharp = image;
    for (std::int64_t r = 0; r < image.rows; ++r) {
      for (std::int64_t c = 0; c < image.columns; ++c) {
        float value = 0;
        for (std::int64_t i = -reach; i <= reach; ++i) {
          const float source =
              down ? sharp.at(wrap(r + i, image.rows), c) : sharp.at(r, wrap(c + i, image.columns));
          value += weights[static_cast<std::size_t>(i + reach)] * source;
        }
        image.at(r, c) = value / sum;
      }
    }
  }
}

Image power_law_field(std::int64_t rows, std::int64_t columns, double exponent, Random& random) {
  const dense::Plan<double> plan(Shape{rows, columns}, Domain::real);
  const std::int64_t half = columns / 2 + 1;
  std::vector<std::complex<double>> spectrum(plan.spectrum_points());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < half; ++c) {
      const double cycles_down = static_cast<double>(std::min(r, rows - r)) / static_cast<double>(rows);
      const double cycles_across = static_cast<double>(c) / static_cast<double>(columns);
      const double f = std::hypot(cycles_down, cycles_across);
      if (f > 0)
        spectrum[static_cast<std::size_t>(r * half + c)] = random.normal_pair() / std::pow(f, exponent);
    }
  }
  // Inverse real transforms need the symmetry of a real signal in the columns that are their own mirror
  // image.
  for (const std::int64_t c : {std::int64_t{0}, columns % 2 == 0 ? columns / 2 : std::int64_t{0}}) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t mirror = (rows - r) % rows;
      std::complex<double>& value = spectrum[static_cast<std::size_t>(r * half + c)];
      if (mirror == r) value = value.real();
      if (mirror > r) spectrum[static_cast<std::size_t>(mirror * half + c)] = std::conj(value);
    }
  }
  std::vector<double> field(static_cast<std::size_t>(rows * columns));
  plan.inverse(spectrum, field);
  Image image(rows, columns);
  std::copy(field.begin(), field.end(), image.values.begin());
  return image;
}

}  // namespace

float Image::sample(double row, double column) const {
  const double top = std::floor(row);
  const double left = std::floor(column);
  const auto down = static_cast<float>(row - top);
  const auto right = static_cast<float>(column - left);
  const std::int64_t r0 = wrap(static_cast<std::int64_t>(top), rows);
  const std::int64_t c0 = wrap(static_cast<std::int64_t>(left), columns);
  const std::int64_t r1 = r0 + 1 == rows ? 0 : r0 + 1;
  const std::int64_t c1 = c0 + 1 == columns ? 0 : c0 + 1;
  const float upper = at(r0, c0) + right * (at(r0, c1) - at(r0, c0));
  const float lower = at(r1, c0) + right * (at(r1, c1) - at(r1, c0));
  return upper + down * (lower - upper);
}

Image natural_scene(std::int64_t rows, std::int64_t columns, const SceneSettings& settings, Random& random) {
  Image image = power_law_field(rows, columns, settings.exponent, random);
  normalise(image, settings.mean, settings.contrast);
  const auto extent = static_cast<double>(std::min(rows, columns));
  for (int i = 0; i < settings.edges; ++i) {
    const double row = random.uniform(0, static_cast<double>(rows));
    const double column = random.uniform(0, static_cast<double>(columns));
    const double size = random.log_uniform(0.04, 0.3) * extent;
    const auto value = static_cast<float>(random.uniform(5, 250));
    if (random.chance(0.5)) {
      draw_disk(image, row, column, size / 2, value, 0.7F);
    } else {
      draw_rectangle(image, row, column, size, size * random.uniform(0.4, 2.5), value);
    }
  }
  if (settings.blur > 0) blur(image, settings.blur);
  return image;
}

void crop(const Image& canvas, double row, double column, Image& out) {
  const bool whole = row == std::floor(row) && column == std::floor(column);
  for (std::int64_t r = 0; r < out.rows; ++r) {
    for (std::int64_t c = 0; c < out.columns; ++c) {
      const double y = row + static_cast<double>(r);
      const double x = column + static_cast<double>(c);
      out.at(r, c) = whole ? canvas.at(wrap(static_cast<std::int64_t>(y), canvas.rows),
                                       wrap(static_cast<std::int64_t>(x), canvas.columns))
                           : canvas.sample(y, x);
    }
  }
}

void draw_disk(Image& image, double row, double column, double radius, float value, float weight) {
  const auto first = [](double low) { return std::max<std::int64_t>(0, static_cast<std::int64_t>(low)); };
  const auto last = [](double high, std::int64_t extent) {
    return std::min(extent, static_cast<std::int64_t>(high) + 1);
  };
  for (std::int64_t r = first(row - radius - 1); r < last(row + radius + 1, image.rows); ++r) {
    for (std::int64_t c = first(column - radius - 1); c < last(column + radius + 1, image.columns); ++c) {
      const double distance = std::hypot(static_cast<double>(r) - row, static_cast<double>(c) - column);
      const auto inside = static_cast<float>(std::clamp(radius - distance + 0.5, 0.0, 1.0));
      image.at(r, c) += weight * inside * (value - image.at(r, c));
    }
  }
}

void draw_rectangle(Image& image, double row, double column, double height, double width, float value) {
  const auto bottom = std::min(image.rows, static_cast<std::int64_t>(row + height));
  const auto right = std::min(image.columns, static_cast<std::int64_t>(column + width));
  for (std::int64_t r = std::max<std::int64_t>(0, static_cast<std::int64_t>(row)); r < bottom; ++r) {
    for (std::int64_t c = std::max<std::int64_t>(0, static_cast<std::int64_t>(column)); c < right; ++c) {
      image.at(r, c) = value;
    }
  }
}

}  // namespace sfft::trust
