// SPDX-License-Identifier: Apache-2.0
// A tile with structure has changed when it no longer correlates with the reference, whatever the light does.
// A tile without structure can only say whether its level follows the light of the others.
#include "video/guard/tiles.hpp"

#include <algorithm>
#include <cmath>

#include "video/guard/least_squares.hpp"
#include "video/guard/registration.hpp"

namespace sfft::video {

namespace {

/// Structure at which a tile's structure counts half, in 255ths of the full range.
constexpr double kFaint = 1.5;
/// Minimum deviation that no change of light explains, in 255ths of the full range.
constexpr double kOff = 14;

/// Weight of a tile whose structure is gone but whose level has stayed.
constexpr double kTakenOut = 0.38;

/// Factor within which structure and detail belong to the same objects; the same for levels.
constexpr double kAlike = 1.7;
constexpr double kAsBright = 1.25;
/// Minimum structure of objects, in units of kFaint.
constexpr double kObjects = 4;

/// Relative contrast over relative level: a veil of paint, dirt or plastic leaves less than kVeiled, light
/// leaves more than kClearEnough.
constexpr double kVeiled = 0.25;
constexpr double kClearEnough = 0.45;

/// 0 at `none` and beyond, 1 at `all` and beyond.
double ramp(double value, double none, double all) {
  return std::clamp((value - none) / (all - none), 0.0, 1.0);
}

bool shows_the_scene(const TileComparison& tile, double faint) {
  return tile.correlation > 0.7 && tile.expected > faint;
}

double allowance(double expected, double full) {
  return 0.05 * expected + 0.015 * full;
}

/// Share of a tile's landmarks that are there; -1: it has none.
double share_there(const LandmarkReport& landmarks, std::size_t tile) {
  if (landmarks.usable[tile] == 0) return -1;
  return 1 - static_cast<double>(landmarks.gone[tile]) / landmarks.usable[tile];
}

/// Finds the change of light that most tiles agree with. Each tile proposes a factor and an offset. Tiles
/// that show the scene count twice, or up to three times by their landmarks.
void common_light(const TileComparisons& tiles, const LandmarkReport& landmarks, double faint, double full,
                  SceneComparison& scene) {
  double max = 0;
  double votes = 0;
  std::array<double, 2> best{1, 0};
  // A tile whose landmarks are present shows the scene; one that has lost them shows something else.
  const auto vote = [&](std::size_t t) {
    const double there = share_there(landmarks, t);
    return 0.1 + (there < 0 ? (shows_the_scene(tiles[t], faint) ? 2 : 1) : 3 * there);
  };
  const auto support = [&](const std::array<double, 2>& line) {
    double sum = 0;
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      const double expected = std::clamp(line[0] * tiles[t].expected_level + line[1], 0.0, full);
      if (std::abs(tiles[t].level - expected) < allowance(expected, full)) sum += vote(t);
    }
    return sum;
  };
  const auto consider = [&](const std::array<double, 2>& line) {
    // If two changes explain equally much, the smaller one is the better explanation.
    const double sum = support(line) - 0.5 * std::abs(std::log(line[0])) - 4 * std::abs(line[1]) / full;
    if (sum <= max) return;
    max = sum;
    best = line;
  };
  consider({1, 0});
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    const TileComparison& tile = tiles[t];
    votes += vote(t);
    if (tile.expected_level > 0.02 * full && tile.level > 0.005 * full)
      consider({tile.level / tile.expected_level, 0});
    consider({1, tile.level - tile.expected_level});
  }
  scene.light_known = max > 0.3 * votes;
  if (!scene.light_known) return;
  SmallLeastSquares<2> equations;
  equations.add({1, 0}, best[0], 0.05 * full * full);
  equations.add({0, 1}, best[1], 1);
  for (const TileComparison& tile : tiles) {
    const double expected = std::clamp(best[0] * tile.expected_level + best[1], 0.0, full);
    if (std::abs(tile.level - expected) < allowance(expected, full))
      equations.add({tile.expected_level, 1}, tile.level, 1);
  }
  equations.solve(best);
  scene.gain = std::clamp(best[0], 0.02, 20.0);
  scene.offset = best[1];
}

/// How much of its fine detail a tile has lost relative to the others, 0 to 1: 1 if three quarters or more
/// are lost.
double lost_detail(double ratio, double usual) {
  return usual > 0 ? ramp(-ratio / usual, -0.5, -0.25) : 0;
}

/// Certainty, 0 to 1, that something transparent lies over a tile: paint, dirt or plastic. The tile's
/// structure and landmarks are present, with less contrast than the light leaves them.
double veil(const TileComparison& tile, double landmarks_contrast, double full) {
  const bool clipped = tile.level > 0.9 * full || tile.level < 0.06 * full;
  if (clipped || !(landmarks_contrast > 0)) return 0;
  const double light = std::min(1.0, tile.level / std::max(0.02 * full, tile.expected_level));
  const double contrast = std::max(tile.contrast, landmarks_contrast) / light;
  return ramp(tile.correlation, 0.4, 0.7) * ramp(-contrast, -kClearEnough, -kVeiled);
}

bool within(double a, double b, double factor) {
  return a < factor * b && b < factor * a;
}

/// Weighted sums over tiles, of the frame or of what is expected there.
struct Contents {
  double weight = 0, energy = 0, detail = 0, level = 0;
  void add(double share, double tile_energy, double tile_detail, double tile_level) noexcept {
    weight += share;
    energy += share * tile_energy;
    detail += share * tile_detail;
    level += share * tile_level;
  }
};

/// Both show objects, and about the same ones.
bool alike(const Contents& seen, const Contents& expected, double faint) {
  return expected.energy > kObjects * kObjects * faint * expected.weight &&
         within(seen.energy, expected.energy, kAlike) && within(seen.detail, expected.detail, kAlike) &&
         within(seen.level, expected.level, kAsBright);
}

}  // namespace

TileGrid::TileGrid(const SmallPictures& pictures) : tile_of_(pictures.points(), -1) {
  constexpr int kRim = Registrar::kRim;
  const int width = pictures.width() - 2 * kRim;
  const int height = pictures.height() - 2 * kRim;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      tile_of_[static_cast<std::size_t>((row + kRim) * pictures.width() + column + kRim)] =
          row * kTileRows / height * kTileColumns + column * kTileColumns / width;
    }
  }
}

TileComparisons TileGrid::compare(std::span<const float> structure, std::span<const float> levels,
                                  std::span<const float> before, std::span<const float> expected_structure,
                                  std::span<const float> expected_levels) const {
  struct Sums {
    double n = 0, own = 0, own2 = 0, other = 0, other2 = 0, product = 0, moving = 0, level = 0,
           expected_level = 0;
  };
  std::array<Sums, kTiles> sums{};
  for (std::size_t i = 0; i < tile_of_.size(); ++i) {
    if (tile_of_[i] < 0) continue;
    Sums& s = sums[static_cast<std::size_t>(tile_of_[i])];
    const double own = structure[i];
    const double other = expected_structure[i];
    s.n += 1;
    s.own += own;
    s.own2 += own * own;
    s.other += other;
    s.other2 += other * other;
    s.product += own * other;
    if (!before.empty()) s.moving += (own - before[i]) * (own - before[i]);
    s.level += levels[i];
    s.expected_level += expected_levels[i];
  }
  TileComparisons tiles;
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    const Sums& s = sums[t];
    TileComparison& tile = tiles[t];
    const double n = std::max(1.0, s.n);
    tile.own = std::max(0.0, s.own2 / n - s.own / n * s.own / n);
    tile.expected = std::max(0.0, s.other2 / n - s.other / n * s.other / n);
    const double product = s.product / n - s.own / n * s.other / n;
    const double norm = std::sqrt(tile.own * tile.expected);
    tile.correlation = norm > 0 ? product / norm : 0;
    tile.contrast = tile.expected > 0 ? product / tile.expected : 0;
    tile.moving = s.moving / n;
    tile.level = s.level / n;
    tile.expected_level = s.expected_level / n;
  }
  return tiles;
}

SceneComparison compare_scene(const TileComparisons& tiles, std::span<const double> noise,
                              std::span<const double> detail, std::span<const double> expected_detail,
                              const LandmarkReport& landmarks, double full) {
  const double unit = full / 255;
  const double faint = kFaint * kFaint * unit * unit;
  SceneComparison scene;
  common_light(tiles, landmarks, faint, full, scene);
  std::array<double, kTiles> ratios{};
  std::vector<double> sorted;
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    if (expected_detail[t] < unit) continue;
    ratios[t] = detail[t] / expected_detail[t];
    sorted.push_back(ratios[t]);
  }
  std::ranges::sort(sorted);
  const double usual_ratio = sorted.empty() ? 0 : sorted[sorted.size() * 3 / 4];
  const double gain = scene.light_known ? scene.gain : 1;
  double votes = 0;
  Contents new_contents, old_contents;
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    const TileComparison& tile = tiles[t];
    const double expected_level = std::clamp(gain * tile.expected_level + scene.offset, 0.0, full);
    const double there = share_there(landmarks, t);
    if (tile.outside) continue;
    // If the light drives samples to their limit, only landmarks can be seen.
    if (there < 0 && scene.light_known &&
        ((expected_level > 0.95 * full && tile.level > 0.92 * full) ||
         (expected_level < 0.04 * full && tile.level < 0.06 * full)))
      continue;
    const double expected = gain * gain * tile.expected;
    const double energy = std::max(expected, tile.own);
    const double structured = energy / (energy + faint * std::clamp(gain * gain, 0.05, 1.0) + 4 * noise[t]);
    const double lost =
        std::max(ramp(-tile.correlation, -0.6, -0.2), ramp(-tile.contrast / gain, -0.4, -0.2));
    const double off =
        ramp(std::abs(tile.level - expected_level), allowance(expected_level, full) + 0.5 * kOff * unit,
             allowance(expected_level, full) + 1.5 * kOff * unit);
    const double coarse = structured * lost + (1 - structured) * off;
    const double fine = expected_detail[t] < unit
                            ? 0
                            : lost_detail(ratios[t], usual_ratio) * (tile.correlation < 0.8 ? 1 : 0);
    // Taking an object out of the scene leaves the levels more or less as they were; a cover seldom does.
    const double level_moved = ramp(std::abs(tile.level - expected_level),
                                    0.3 * allowance(expected_level, full), allowance(expected_level, full));
    // A blur removes landmarks and leaves coarse structure.
    const double blurred = ramp(tile.correlation, 0.6, 0.9);
    const double veiled = structured * veil(tile, landmarks.contrast[t], full);
    const double hidden = there < 0
                              ? std::max(coarse, 0.8 * fine) * (kTakenOut + (1 - kTakenOut) * level_moved)
                              : (1 - there) * (1 - blurred);
    const double changed = std::max(hidden, veiled);
    votes += 1;
    scene.changed += changed;
    const double still = 1 - ramp(tile.moving, 0.05 * energy + 2 * noise[t], 0.25 * energy + 4 * noise[t]);
    scene.still += changed * still;
    new_contents.add(changed * still, tile.own, detail[t], tile.level);
    old_contents.add(changed * still, expected, gain * expected_detail[t], expected_level);
  }
  if (votes > 0) {
    scene.changed /= votes;
    scene.still /= votes;
  }
  scene.rearranged = alike(new_contents, old_contents, faint);
  return scene;
}

}  // namespace sfft::video
