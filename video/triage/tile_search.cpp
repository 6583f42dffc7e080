// SPDX-License-Identifier: Apache-2.0
// Energies of all tiles come from sliding sums. The few that are large are looked at with their surroundings:
// a shadow or a lamp has no edges there, and leaves the structure as it was.
#include "video/triage/tile_search.hpp"

#include <algorithm>
#include <cmath>

namespace sfft::video {

namespace {

constexpr int kSide = 3;          ///< points of a tile
constexpr int kSurroundings = 7;  ///< points of the square around it
/// Tiles below this score need no second look: no threshold is as low.
constexpr double kPlain = 0.5;
/// Light that leaves less than this part of the structure's contrast is no light.
constexpr double kLeastContrast = -0.7;
/// Light is never quite smooth: this part of the energy that it explains may remain.
constexpr double kImperfect = 0.05;
constexpr double kPrior = 1;  ///< grey levels of structure that say nothing

}  // namespace

/// Energy of the deviation that no plane and no change of contrast explains.
double TileSearch::unexplained(std::span<const float> deviation, std::span<const float> usual, int x,
                               int y) const {
  const int across = std::min(kSurroundings, width_);
  const int down = std::min(kSurroundings, height_);
  const int left = std::clamp(x - across / 2, 0, width_ - across);
  const int top = std::clamp(y - down / 2, 0, height_ - down);
  double d[4] = {};  // sums with 1, x, y; squares
  double b[4] = {};
  double product = 0;
  for (int v = 0; v < down; ++v) {
    const std::size_t line =
        static_cast<std::size_t>(top + v) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(left);
    const double py = v - 0.5 * (down - 1);
    for (int u = 0; u < across; ++u) {
      const double px = u - 0.5 * (across - 1);
      const double off = deviation[line + static_cast<std::size_t>(u)];
      const double level = usual[line + static_cast<std::size_t>(u)];
      d[0] += off;
      d[1] += px * off;
      d[2] += py * off;
      d[3] += off * off;
      b[0] += level;
      b[1] += px * level;
      b[2] += py * level;
      b[3] += level * level;
      product += off * level;
    }
  }
  const double n = across * down;
  const double norm_x = n * (across * across - 1) / 12.0;
  const double norm_y = n * (down * down - 1) / 12.0;
  const auto without_plane = [&](const double* p, const double* q, double square) {
    return square - p[0] * q[0] / n - p[1] * q[1] / norm_x - p[2] * q[2] / norm_y;
  };
  const double dd = without_plane(d, d, d[3]);
  const double bb = std::max(0.0, without_plane(b, b, b[3]));
  const double db = without_plane(d, b, product);
  const double contrast = std::max(kLeastContrast, db / (bb + n * kPrior * kPrior));
  const double left_over = dd - 2 * contrast * db + contrast * contrast * bb;
  return std::max(0.0, left_over - kImperfect * (d[3] - dd));
}

ChangedTile TileSearch::find(std::span<const float> deviation, std::span<const float> recent_deviation,
                             std::span<const float> usual, std::span<const float> spread) {
  constexpr int kReach = kSide / 2;
  constexpr double kPoints = kSide * kSide;
  const auto at = [this](int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  };
  columns_.assign(deviation.size(), 0);
  for (int y = kReach; y + kReach < height_; ++y) {
    for (int v = y - kReach; v <= y + kReach; ++v) {
      for (int x = 0; x < width_; ++x) {
        const float off =
            std::min(std::abs(deviation[at(x, v)]), std::abs(recent_deviation[at(x, v)])) / spread[at(x, v)];
        columns_[at(x, y)] += off * off;
      }
    }
  }
  candidates_.clear();
  Candidate plain{0, kReach, kReach};  // the most of those that need no second look
  for (int y = kReach; y + kReach < height_; ++y) {
    for (int x = kReach; x + kReach < width_; ++x) {
      const float energy = columns_[at(x - 1, y)] + columns_[at(x, y)] + columns_[at(x + 1, y)];
      if (energy > kPoints * kPlain * kPlain) {
        candidates_.push_back({energy, x, y});
      } else if (energy > plain.energy) {
        plain = {energy, x, y};
      }
    }
  }
  const auto less = [](const Candidate& a, const Candidate& b) { return a.energy < b.energy; };
  std::ranges::make_heap(candidates_, less);
  double most = plain.energy;
  ChangedTile tile{0, plain.x, plain.y};
  while (!candidates_.empty() && candidates_.front().energy > most) {
    std::ranges::pop_heap(candidates_, less);
    const Candidate next = candidates_.back();
    candidates_.pop_back();
    const double usual_off = spread[at(next.x, next.y)];
    double left = unexplained(deviation, usual, next.x, next.y) / (usual_off * usual_off);
    if (left > most)
      left = std::min(left, unexplained(recent_deviation, usual, next.x, next.y) / (usual_off * usual_off));
    const double energy = std::min<double>(next.energy, left);
    if (energy <= most) continue;
    most = energy;
    tile.x = next.x;
    tile.y = next.y;
  }
  tile.score = std::sqrt(most / kPoints);
  return tile;
}

}  // namespace sfft::video
