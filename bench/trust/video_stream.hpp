// SPDX-License-Identifier: Apache-2.0
// One synthetic camera: its canvases, its path over them, the effects on each frame, and the rounding of its
// sensor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "bench/trust/effects.hpp"
#include "bench/trust/scene.hpp"
#include "bench/trust/stream.hpp"

namespace sfft::trust {

/// Row and column of the camera's corner on the canvas at a frame.
using Path2D = std::function<std::pair<double, double>(std::int64_t index, Random& random)>;

struct VideoSettings {
  Shape shape{240, 320};
  ElementType type = ElementType::u8;  ///< u8, u16 (256 times finer) or f32 (neither rounded nor clipped)
  double margin = 1;                   ///< the canvas is this many times as high and wide as the picture
  SceneSettings scene;
  std::shared_ptr<const Image> picture;  ///< replaces the scene if set
  Path2D path;                           ///< if empty, the camera stands still
  std::vector<std::int64_t> cuts;        ///< frames where another scene begins
  std::vector<Effect> effects;
  std::uint64_t seed = 1;
};

std::unique_ptr<Stream> make_video(VideoSettings settings);

}  // namespace sfft::trust
