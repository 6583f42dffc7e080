// SPDX-License-Identifier: Apache-2.0
// Computes tapered Fourier sums of all coordinates at the frequency and at neighbouring ones. Also searches
// for the band of light that explains most: a wave along the rows or columns that multiplies the samples or
// is added to them.
#include "video/vibration/local_changes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "kernels/base/math/quantiles.hpp"
#include "video/vibration/line_fit.hpp"

namespace sfft::video {

namespace {

using Complex = std::complex<double>;
constexpr double kTurn = 2 * std::numbers::pi;

/// The amplitudes of the chosen cells' coordinates at a frequency.
std::vector<Complex> amplitudes(const LocalChanges& changes, const std::vector<std::size_t>& cells,
                                const Taper& taper, double turns) {
  const std::size_t stride = changes.cells.size() * kCellCoordinates;
  std::vector<Complex> sums(cells.size() * kCellCoordinates);
  Complex offset;
  std::vector<double> means(sums.size());
  for (std::size_t t = 0; t < changes.frames; ++t) {
    const Complex factor =
        taper.weight[t] * std::polar(1.0, -kTurn * std::fmod(turns * static_cast<double>(t), 1.0));
    offset += factor;
    const float* const frame = changes.values.data() + t * stride;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      for (std::size_t k = 0; k < kCellCoordinates; ++k) {
        const double value = frame[cells[c] * kCellCoordinates + k];
        sums[c * kCellCoordinates + k] += factor * value;
        means[c * kCellCoordinates + k] += value;
      }
    }
  }
  const double scale = 1 / std::sqrt(taper.squares);
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = scale * (sums[i] - offset * means[i] / static_cast<double>(changes.frames));
  return sums;
}

/// The energy of z that the patterns a and b explain, from their inner products.
double explained(double aa, const Complex& ab, double bb, const Complex& az, const Complex& bz) {
  const double determinant = aa * bb - std::norm(ab);
  if (!(determinant > 1e-6 * aa * bb)) return aa > 0 ? std::norm(az) / aa : 0;
  return (bb * std::norm(az) + aa * std::norm(bz) - 2 * (std::conj(az) * ab * bz).real()) / determinant;
}

/// Inner products of some cells' motion coordinates z with those of a shift to the right (x) and a shift down
/// (y).
struct ShiftProducts {
  double xx = 0, xy = 0, yy = 0;
  Complex xz, yz;

  void add(double x, double y, const Complex& z) {
    xx += x * x;
    xy += x * y;
    yy += y * y;
    xz += x * z;
    yz += y * z;
  }
  /// The energy of z that the best common shift explains.
  double energy() const { return explained(xx, xy, yy, xz, yz); }
};

struct Energies {
  double motion = 0, light = 0;
  double rigid = 0;  ///< explained by a common shift of all cells
  double local = 0;  ///< explained by common shifts of 2 x 2 neighbours
};

Energies energies(const LocalChanges& changes, const std::vector<std::size_t>& cells,
                  const std::vector<Complex>& z) {
  Energies result;
  ShiftProducts all;
  std::map<std::pair<std::int64_t, std::int64_t>, ShiftProducts> blocks;
  const Region& first = changes.cells[cells[0]];
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const Region& cell = changes.cells[cells[c]];
    ShiftProducts& block =
        blocks[{(cell.y - first.y) / (2 * first.height), (cell.x - first.x) / (2 * first.width)}];
    for (std::size_t k = 0; k < kCellCoordinates; ++k) {
      const Complex& value = z[c * kCellCoordinates + k];
      if (k >= kMotionCoordinates) {
        result.light += std::norm(value);
        continue;
      }
      result.motion += std::norm(value);
      const double x = changes.shifts[0][cells[c] * kCellCoordinates + k];
      const double y = changes.shifts[1][cells[c] * kCellCoordinates + k];
      all.add(x, y, value);
      block.add(x, y, value);
    }
  }
  result.rigid = all.energy();
  for (const auto& [at, block] : blocks) result.local += block.energy();
  return result;
}

/// An energy minus the median at neighbouring frequencies, and its standard error from their scatter, both in
/// units of the noise.
struct Excess {
  double value, error;
  Excess(double energy, const std::vector<double>& neighbours, double unit) {
    const double usual = detail::median(neighbours, 0);
    std::vector<double> away;
    for (const double one : neighbours) away.push_back(std::abs(one - usual));
    value = (energy - usual) / unit;
    error = 1.4826 * detail::median(std::move(away), 0) / unit;
  }
};

/// Max. energy that a wave of light along the rows or columns explains.
double best_band(const LocalChanges& changes, const std::vector<std::size_t>& cells,
                 const std::vector<Complex>& z) {
  double best = 0;
  for (const bool rows : {true, false}) {
    const Region& first = changes.cells[cells[0]];
    const auto lines = static_cast<std::size_t>(rows ? first.height : first.width);
    std::int64_t low = INT64_MAX;
    std::int64_t high = 0;
    for (const std::size_t cell : cells) {
      const std::int64_t begin = rows ? changes.cells[cell].y : changes.cells[cell].x;
      low = std::min(low, begin);
      high = std::max(high, begin + static_cast<std::int64_t>(lines));
    }
    constexpr double kStep = 0.25;   // periods within all lines
    constexpr double kShortest = 5;  // lines
    const auto length = static_cast<double>(high - low);
    const auto max = static_cast<std::int64_t>(length / kShortest / kStep);
    for (std::int64_t step = -max; step <= max; ++step) {
      const double turns = kStep * static_cast<double>(step) / length;
      std::vector<Complex> wave(lines);
      for (std::size_t i = 0; i < lines; ++i)
        wave[i] = std::polar(1.0, kTurn * turns * static_cast<double>(i));
      double aa = 0, bb = 0;
      Complex ab, az, bz;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const std::int64_t begin = rows ? changes.cells[cells[c]].y : changes.cells[cells[c]].x;
        const Complex turn = std::polar(1.0, kTurn * turns * static_cast<double>(begin - low));
        for (std::size_t k = 0; k < kCellCoordinates; ++k) {
          const std::size_t value = (cells[c] * kCellCoordinates + k) * lines;
          Complex gain, offset;
          const auto& by_gain = rows ? changes.responses[0].by_row : changes.responses[0].by_column;
          const auto& by_offset = rows ? changes.responses[1].by_row : changes.responses[1].by_column;
          for (std::size_t i = 0; i < lines; ++i) {
            gain += wave[i] * static_cast<double>(by_gain[value + i]);
            offset += wave[i] * static_cast<double>(by_offset[value + i]);
          }
          gain *= turn;
          offset *= turn;
          aa += std::norm(gain);
          bb += std::norm(offset);
          ab += std::conj(gain) * offset;
          az += std::conj(gain) * z[c * kCellCoordinates + k];
          bz += std::conj(offset) * z[c * kCellCoordinates + k];
        }
      }
      best = std::max(best, explained(aa, ab, bb, az, bz));
    }
  }
  return best;
}

}  // namespace

bool LightEvidence::light_outweighs(double times) const noexcept {
  const double errors = light / std::max(light_error, chance);
  if (errors > 4 && motion < times * light) return true;
  if (errors > 2.5 && motion < 0.2 * light) return true;
  if (light_error > 4 * chance && motion < 0.5 * light_error) return true;  // light at nearby frequencies
  constexpr double kBand = 25;
  if (band < kBand) return false;
  return (band > rigid && band > 0.35 * whole) || (band > 0.85 * rigid && band > 0.5 * whole);
}

bool LightEvidence::light_explains(double height, double amplitude_px) const noexcept {
  // For motions beyond a pixel, slopes are a poor model, and the residual looks like light.
  constexpr double kLarge = 1.1, kOutweighsLarge = 0.8;
  if (amplitude_px > kLarge) return light_outweighs(kOutweighsLarge);
  if (light_outweighs()) return true;
  // Neighbouring cells move alike, whatever moves there, whereas patches of light on them differ.
  constexpr double kAlike = 0.4;
  if (along > 4 * chance && local < kAlike * along) return true;
  // The cells do not have the measured motion, although they would show it.
  constexpr double kFew = 16, kMany = 100;
  if (motion < (claimed < kFew ? 0.12 : claimed < kMany ? 0.22 : 0.5) * claimed) return true;
  // Alternatively, the cells do not show the motion because more than noise changes there.
  return motion < 0.07 * height;
}

std::optional<LightEvidence> LightTest::at(double turns, const Region& area, Complex move_x,
                                           Complex move_y) const {
  std::vector<std::size_t> cells;
  for (std::size_t i = 0; i < changes_.cells.size(); ++i) {
    const Region& cell = changes_.cells[i];
    const std::int64_t x = cell.x + cell.width / 2 - area.x;
    const std::int64_t y = cell.y + cell.height / 2 - area.y;
    if (x >= 0 && x < area.width && y >= 0 && y < area.height) cells.push_back(i);
  }
  if (cells.empty() || changes_.frames < 16) return std::nullopt;
  const Taper taper(changes_.frames);
  const std::vector<Complex> here = amplitudes(changes_, cells, taper, turns);
  const Energies energy = energies(changes_, cells, here);
  std::vector<double> motion, light, rigid, local;
  constexpr std::array<double, 5> kBeside = {3, 4.5, 6, 7.5, 9};  // in 1/T
  for (const double away : kBeside) {
    for (const double side : {-1.0, 1.0}) {
      const double there = turns + side * away / static_cast<double>(changes_.frames);
      if (there < 2 / static_cast<double>(changes_.frames) || there > 0.5) continue;
      const Energies neighbour = energies(changes_, cells, amplitudes(changes_, cells, taper, there));
      motion.push_back(neighbour.motion);
      light.push_back(neighbour.light);
      rigid.push_back(neighbour.rigid);
      local.push_back(neighbour.local);
    }
  }
  if (light.empty()) return std::nullopt;
  const double unit = (detail::median(motion, 0) + detail::median(light, 0)) /
                      static_cast<double>(cells.size() * kCellCoordinates);
  if (!(unit > 0)) return std::nullopt;
  LightEvidence evidence;
  const Excess along(energy.motion, motion, unit);
  const Excess together(energy.rigid, rigid, unit);
  const Excess lit(energy.light, light, unit);
  constexpr double kSeen = 3;
  evidence.rigid = together.value;
  evidence.along = along.value;
  evidence.local = Excess(energy.local, local, unit).value;
  for (const Excess& one : {along, together})
    if (one.value > kSeen * one.error) evidence.motion = std::max(evidence.motion, one.value);
  evidence.light = lit.value;
  evidence.light_error = lit.error;
  evidence.chance = std::sqrt(static_cast<double>(cells.size() * kLightCoordinates));
  // Fourier sum of an oscillation of amplitude 1
  const double lines = 0.5 * taper.sum / std::sqrt(taper.squares);
  for (const std::size_t cell : cells) {
    for (std::size_t k = 0; k < kMotionCoordinates; ++k) {
      const std::size_t value = cell * kCellCoordinates + k;
      const Complex moved = move_x * static_cast<double>(changes_.shifts[0][value]) +
                            move_y * static_cast<double>(changes_.shifts[1][value]);
      evidence.claimed += std::norm(lines * moved) / unit;
    }
  }
  evidence.whole = along.value + lit.value;
  evidence.band = best_band(changes_, cells, here) / unit;
  return evidence;
}

}  // namespace sfft::video
