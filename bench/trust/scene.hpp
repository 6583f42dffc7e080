// SPDX-License-Identifier: Apache-2.0
// Images with spectra like those of photographs; video streams take their pixels from them.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/trust/random.hpp"

namespace sfft::trust {

/// Grey values, row-major.
struct Image {
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values;

  Image() = default;
  Image(std::int64_t height, std::int64_t width)
      : rows(height), columns(width), values(static_cast<std::size_t>(height * width)) {}
  float& at(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  float at(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  /// Bilinear interpolation; the image repeats in both directions.
  float sample(double row, double column) const;
};

/// Parameters of a scene.
struct SceneSettings {
  double exponent = 1;   ///< amplitudes fall as 1/f^exponent; natural images have exponents near 1
  int edges = 12;        ///< rectangles and disks with sharp edges
  double mean = 110;     ///< grey value
  double contrast = 40;  ///< standard deviation of the field; values outside 0 … 255 are clipped
  double blur = 0;       ///< blur of the lens, standard deviation in pixels
};
Image natural_scene(std::int64_t rows, std::int64_t columns, const SceneSettings& settings, Random& random);

/// Fills `out` from (row, column) of a canvas, to fractions of a pixel.
void crop(const Image& canvas, double row, double column, Image& out);

/// Blends a disk with a soft edge of one pixel into the image. Weight 1 replaces the pixels.
void draw_disk(Image& image, double row, double column, double radius, float value, float weight = 1);
void draw_rectangle(Image& image, double row, double column, double height, double width, float value);

}  // namespace sfft::trust
