// SPDX-License-Identifier: Apache-2.0
// Sliding sums give the energies of all tiles. The few large ones are compared with their surroundings: a
// shadow or a lamp has no edges there, and leaves the structure as it was, unless it overexposes it.
#include "video/triage/tile_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace sfft::video {

namespace {

constexpr int kSide = 3;          ///< points per side of a tile
constexpr int kSurroundings = 7;  ///< side of the square around it in which light is a plane
constexpr int kWide = 11;         ///< side of the square in which light is a polynomial of second degree
constexpr std::size_t kPlane = SmoothLight::kPlane;
constexpr double kImperfect = SmoothLight::kImperfect;
constexpr double kPrior = SmoothLight::kPrior;
/// Tiles below this score are not examined further, because no threshold is as low.
constexpr double kPlain = 0.5;
/// Leakage from the opposite border into the second point from a border, relative to that into the first.
constexpr double kSecondPoint = 0.4;
constexpr double kNoWhite = std::numeric_limits<double>::infinity();
constexpr double kUnexplained = std::numeric_limits<double>::infinity();
/// The pictures before and after are used only above this score.
constexpr double kAsk = 3;

/// A sort key: the energy of a tile's deviation, then its place. Energies are not negative, so that they sort
/// like their bits.
std::uint64_t candidate(float energy, std::size_t place) {
  return std::uint64_t{std::bit_cast<std::uint32_t>(energy)} << 32 | place;
}

float energy_of(std::uint64_t candidate) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(candidate >> 32));
}

struct Place {
  int x, y;
};

/// The number of adjacent blocks of a tile's size in `extent` points.
int blocks(int extent) {
  return (extent + kSide - 1) / kSide;
}

}  // namespace

TileSearch::TileSearch(int width, int height)
    : width_(width),
      height_(height),
      plane_(width, std::min(kSurroundings, width), std::min(kSurroundings, height), SmoothLight::kPlane),
      bent_(width, std::min(kWide, width), std::min(kWide, height), SmoothLight::kBent) {}

TileSearch::Square TileSearch::surroundings(int x, int y, int side) const {
  const int across = std::min(side, width_);
  const int down = std::min(side, height_);
  return {std::clamp(x - across / 2, 0, width_ - across), std::clamp(y - down / 2, 0, height_ - down), across,
          down};
}

/// The energy of a deviation that the pattern of a switched light does not explain. The deviation is in the
/// light of most of the picture, so a change of gain and offset is fitted together with the pattern.
double TileSearch::beside_pattern(std::span<const float> deviation, std::span<const float> usual,
                                  const Square& square) const {
  constexpr std::size_t kTerms = 3;
  double products[kTerms + 1][kTerms + 1] = {};  // of 1, level, pattern, deviation
  std::size_t at = 0;
  for (int y = square.top; y < square.top + square.down; ++y) {
    for (int x = square.left; x < square.left + square.across; ++x, ++at) {
      const auto i = static_cast<std::size_t>(y * width_ + x);
      if (usual[i] + deviation[i] >= white_) continue;  // its true brightness is unknown
      const double values[kTerms + 1] = {1, usual[i], pattern_[at], deviation[i]};
      for (std::size_t a = 0; a <= kTerms; ++a)
        for (std::size_t b = a; b <= kTerms; ++b) products[a][b] += values[a] * values[b];
    }
  }
  const double energy = products[kTerms][kTerms];
  for (std::size_t a = 0; a < kTerms; ++a) {
    if (!(products[a][a] > kPrior)) continue;
    for (std::size_t row = a + 1; row <= kTerms; ++row)
      for (std::size_t b = row; b <= kTerms; ++b)
        products[row][b] -= products[a][row] * products[a][b] / products[a][a];
  }
  const double left = products[kTerms][kTerms];
  return std::max(0.0, left - kImperfect * (energy - left));
}

bool TileSearch::has_white(std::span<const float> deviation, std::span<const float> usual,
                           const Square& square) const {
  for (int y = square.top; y < square.top + square.down; ++y) {
    for (int x = square.left; x < square.left + square.across; ++x) {
      const auto i = static_cast<std::size_t>(y * width_ + x);
      if (deviation[i] > 0 && usual[i] + deviation[i] >= white_) return true;
    }
  }
  return false;
}

/// The energy that a plane of light does not explain, with terms for borders and overexposure. A small
/// picture is periodic: its outermost points also contain a part of the opposite border. The true brightness
/// of a white point is unknown: the other points determine the light, and a white point counts only if it is
/// brighter.
double TileSearch::unexplained_at_limits(std::span<const float> deviation, std::span<const float> usual,
                                         const Square& square, double white) const {
  constexpr std::size_t kTerms = 6;
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
        const double level = usual[at(x, y)];
        const double off = deviation[at(x, y)];
        use(Terms{1, x - square.left - 0.5 * (square.across - 1), y - square.top - 0.5 * (square.down - 1),
                  level, across_border(x, width_, [&](int u) { return deviation[at(u, y)]; }),
                  across_border(y, height_, [&](int v) { return deviation[at(x, v)]; })},
            off, level + off >= white);
      }
    }
  };
  std::array<Terms, kTerms> normal{};
  Terms fit{};
  double n = 0;
  for_each([&](const Terms& terms, double off, bool hidden) {
    if (hidden) return;
    n += 1;
    for (std::size_t i = 0; i < kTerms; ++i) {
      fit[i] += terms[i] * off;
      for (std::size_t j = 0; j < kTerms; ++j) normal[i][j] += terms[i] * terms[j];
    }
  });
  for (std::size_t i = 0; i < kTerms; ++i)
    normal[i][i] += (n + 1) * kPrior * kPrior * (i < kPlane ? 1e-3 : 1);
  double by_plane = 0;  // energy
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (i < kPlane) by_plane += fit[i] * fit[i] / normal[i][i];
    for (std::size_t row = i + 1; row < kTerms; ++row) {
      const double part = normal[row][i] / normal[i][i];
      fit[row] -= part * fit[i];
      for (std::size_t j = i; j < kTerms; ++j) normal[row][j] -= part * normal[i][j];
    }
  }
  for (std::size_t i = kTerms; i-- > 0;) {
    for (std::size_t j = i + 1; j < kTerms; ++j) fit[i] -= normal[i][j] * fit[j];
    fit[i] /= normal[i][i];
  }
  double left_over = -kImperfect * by_plane;
  for_each([&](const Terms& terms, double off, bool hidden) {
    double explained = 0;
    for (std::size_t i = 0; i < kTerms; ++i) explained += fit[i] * terms[i];
    const double more = off - explained;
    if (!hidden || more > 0) left_over += more * more;
    if (hidden) left_over -= kImperfect * std::min(explained * explained, off * off);
  });
  return std::max(0.0, left_over);
}

/// The smallest energy that a model of light leaves. Stops at the first that is not above `enough`.
double TileSearch::unexplained(std::span<const float> deviation, std::span<const float> usual, int x, int y,
                               double enough) {
  const Square square = surroundings(x, y, kSurroundings);
  const auto [left, top, across, down] = square;
  double min = plane_.leaves(deviation, usual, left, top);
  if (min <= enough) return min;
  const Square wide = surroundings(x, y, kWide);
  min = std::min(min, bent_.leaves(deviation, usual, wide.left, wide.top));
  if (min <= enough) return min;
  if (left == 0 || top == 0 || left + across == width_ || top + down == height_)
    min = std::min(min, unexplained_at_limits(deviation, usual, square, kNoWhite));
  if (has_white(deviation, usual, square))
    min = std::min(min, unexplained_at_limits(deviation, usual, square, white_));
  return min;
}

TileSearch::Block& TileSearch::block_of(int x, int y) {
  return blocks_[static_cast<std::size_t>(y / kSide * blocks(width_) + x / kSide)];
}

/// The square around the block of tiles that holds (x, y).
TileSearch::Square TileSearch::around_block(int x, int y) const {
  return surroundings(x / kSide * kSide + kSide / 2, y / kSide * kSide + kSide / 2, kWide);
}

/// Evaluated once for all tiles of a block.
bool TileSearch::swings(std::span<const float> deviation, std::span<const float> usual, int x, int y,
                        Moments& around) {
  Swings& known = block_of(x, y).swings;
  if (known == Swings::unknown) {
    const Square square = around_block(x, y);
    around.cut_out(square);
    around.cut_out(deviation, square, deviation_here_);
    around.cut_out(usual, square, usual_here_);
    known = swinging_.find(around, square, deviation_here_, usual_here_) ? Swings::yes : Swings::no;
  }
  return known == Swings::yes;
}

/// The energy that switched light leaves in a square; infinite if no light was switched.
double TileSearch::beside_switched(const Pictures& pictures, const Square& square, float noise,
                                   Moments& around, const SwitchedLight& switched) {
  around.cut_out(square);
  if (!switched.find(around, square, noise, pattern_)) return kUnexplained;
  return std::min(beside_pattern(pictures.deviation, pictures.usual, square),
                  beside_pattern(pictures.recent_deviation, pictures.usual, square));
}

/// The same for a tile, by the square around its block, and if that leaves more than `enough`, also by the
/// square around it.
double TileSearch::beside_switched(const Pictures& pictures, int x, int y, double enough, float noise,
                                   Moments& around, const SwitchedLight& switched) {
  std::optional<double>& known = block_of(x, y).beside_switched;
  if (!known) known = beside_switched(pictures, around_block(x, y), noise, around, switched);
  if (*known <= enough) return *known;
  return std::min(*known, beside_switched(pictures, surroundings(x, y, kWide), noise, around, switched));
}

ChangedTile TileSearch::find(std::span<const float> deviation, std::span<const float> recent_deviation,
                             std::span<const float> usual, std::span<const float> spread, float white,
                             const Surroundings& around) {
  white_ = white;
  constexpr int kReach = kSide / 2;
  constexpr double kPoints = kSide * kSide;
  const auto at = [this](int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  };
  squares_.resize(deviation.size());
  for (std::size_t i = 0; i < deviation.size(); ++i) {
    const float off = std::min(std::abs(deviation[i]), std::abs(recent_deviation[i])) / spread[i];
    squares_[i] = off * off;
  }
  columns_.resize(deviation.size());
  for (int y = kReach; y + kReach < height_; ++y) {
    for (int x = 0; x < width_; ++x)
      columns_[at(x, y)] = squares_[at(x, y - 1)] + squares_[at(x, y)] + squares_[at(x, y + 1)];
  }
  blocks_.assign(static_cast<std::size_t>(blocks(width_) * blocks(height_)), {});
  candidates_.clear();
  float plain = 0;  // the largest energy of tiles that are not examined further
  ChangedTile tile{0, kReach, kReach};
  for (int y = kReach; y + kReach < height_; ++y) {
    for (int x = kReach; x + kReach < width_; ++x) {
      const float energy = columns_[at(x - 1, y)] + columns_[at(x, y)] + columns_[at(x + 1, y)];
      if (energy > kPoints * kPlain * kPlain) {
        candidates_.push_back(candidate(energy, at(x, y)));
      } else if (energy > plain) {
        plain = energy;
        tile.x = x;
        tile.y = y;
      }
    }
  }
  std::ranges::make_heap(candidates_);
  double max = plain;
  while (!candidates_.empty() && energy_of(candidates_.front()) > max) {
    std::ranges::pop_heap(candidates_);
    const float plain_energy = energy_of(candidates_.back());
    const auto place = static_cast<int>(static_cast<std::uint32_t>(candidates_.back()));
    candidates_.pop_back();
    const Place next{place % width_, place / width_};
    const double usual_off = spread[at(next.x, next.y)];
    const double unit = usual_off * usual_off;
    double left = unexplained(deviation, usual, next.x, next.y, max * unit) / unit;
    if (left > max)
      left = std::min(left, unexplained(recent_deviation, usual, next.x, next.y, max * unit) / unit);
    double energy = std::min<double>(plain_energy, left);
    if (energy <= max) continue;
    if (around.moments != nullptr && energy > kPoints * kAsk * kAsk) {
      if (around.brief != nullptr && around.brief->find(next.x, next.y)) continue;
      if (swings(deviation, usual, next.x, next.y, *around.moments)) continue;
      if (around.switched != nullptr) {
        const Pictures pictures{deviation, recent_deviation, usual};
        energy = std::min(energy,
                          beside_switched(pictures, next.x, next.y, max * unit, static_cast<float>(2 * unit),
                                          *around.moments, *around.switched) /
                              unit);
        if (energy <= max) continue;
      }
    }
    max = energy;
    tile.x = next.x;
    tile.y = next.y;
  }
  tile.score = std::sqrt(max / kPoints);
  return tile;
}

}  // namespace sfft::video
