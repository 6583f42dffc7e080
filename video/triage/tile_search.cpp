// SPDX-License-Identifier: Apache-2.0
// Energies of all tiles come from sliding sums. The few that are large are looked at with their surroundings:
// a shadow or a lamp has no edges there, and leaves the structure as it was.
#include "video/triage/tile_search.hpp"

#include <algorithm>
#include <array>
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
/// Share of what is across the border that the second point from it holds, of that of the first.
constexpr double kSecondPoint = 0.4;
constexpr double kPrior = 1;  ///< grey levels of structure that say nothing

}  // namespace

TileSearch::Square TileSearch::around(int x, int y) const {
  const int across = std::min(kSurroundings, width_);
  const int down = std::min(kSurroundings, height_);
  return {std::clamp(x - across / 2, 0, width_ - across), std::clamp(y - down / 2, 0, height_ - down), across,
          down};
}

/// A small picture is periodic: its outermost points also hold a part of what is at the opposite border.
/// Along with a plane and a contrast, the deviations there are fitted to those of the two outermost points.
double TileSearch::unexplained_at_border(std::span<const float> deviation, std::span<const float> usual,
                                         const Square& square) const {
  constexpr int kTerms = 6;
  using Terms = std::array<double, kTerms>;
  const auto across_border = [&](int at, int extent, const auto& opposite) {
    const int to_border = std::min(at, extent - 1 - at);
    if (to_border > 1) return 0.0;
    return (to_border == 0 ? 1 : kSecondPoint) * static_cast<double>(opposite(at < 2 ? extent - 1 : 0));
  };
  const auto for_each = [&](const auto& use) {
    for (int y = square.top; y < square.top + square.down; ++y) {
      for (int x = square.left; x < square.left + square.across; ++x) {
        const auto at = [this](int u, int v) { return static_cast<std::size_t>(v * width_ + u); };
        use(Terms{1, x - square.left - 0.5 * (square.across - 1), y - square.top - 0.5 * (square.down - 1),
                  static_cast<double>(usual[at(x, y)]),
                  across_border(x, width_, [&](int u) { return deviation[at(u, y)]; }),
                  across_border(y, height_, [&](int v) { return deviation[at(x, v)]; })},
            static_cast<double>(deviation[at(x, y)]));
      }
    }
  };
  std::array<Terms, kTerms> normal{};
  Terms right{};
  double energy = 0;
  for_each([&](const Terms& terms, double off) {
    energy += off * off;
    for (std::size_t i = 0; i < kTerms; ++i) {
      right[i] += terms[i] * off;
      for (std::size_t j = 0; j < kTerms; ++j) normal[i][j] += terms[i] * terms[j];
    }
  });
  const double n = square.across * square.down;
  for (std::size_t i = 1; i < kTerms; ++i) normal[i][i] += n * kPrior * kPrior * (i < 3 ? 1e-3 : 1);
  // Elimination, which takes the energy that each term explains out of what is left.
  double explained = 0, by_plane = 0;
  for (std::size_t i = 0; i < kTerms; ++i) {
    explained += right[i] * right[i] / normal[i][i];
    if (i < 3) by_plane = explained;
    for (std::size_t row = i + 1; row < kTerms; ++row) {
      const double part = normal[row][i] / normal[i][i];
      right[row] -= part * right[i];
      for (std::size_t j = i; j < kTerms; ++j) normal[row][j] -= part * normal[i][j];
    }
  }
  return std::max(0.0, energy - explained - kImperfect * by_plane);
}

/// Energy of the deviation that no plane and no change of contrast explains.
double TileSearch::unexplained(std::span<const float> deviation, std::span<const float> usual, int x,
                               int y) const {
  const Square square = around(x, y);
  const auto [left, top, across, down] = square;
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
  const auto without_plane = [&](const double* p, const double* q, double products) {
    return products - p[0] * q[0] / n - p[1] * q[1] / norm_x - p[2] * q[2] / norm_y;
  };
  const double dd = without_plane(d, d, d[3]);
  const double bb = std::max(0.0, without_plane(b, b, b[3]));
  const double db = without_plane(d, b, product);
  const double contrast = std::max(kLeastContrast, db / (bb + n * kPrior * kPrior));
  const double left_over = dd - 2 * contrast * db + contrast * contrast * bb;
  const double plain = std::max(0.0, left_over - kImperfect * (d[3] - dd));
  const bool at_border = left == 0 || top == 0 || left + across == width_ || top + down == height_;
  return at_border ? std::min(plain, unexplained_at_border(deviation, usual, square)) : plain;
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
