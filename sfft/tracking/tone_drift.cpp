// SPDX-License-Identifier: Apache-2.0
// A tone of energy E at position p has |X[f]|² = E ∏ (sin πd / πd)², a product over the axes with d = f − p.
#include "sfft/tracking/renewal.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace sfft::detail {

namespace {

using Position = std::array<double, 3>;

constexpr double kSmallestShare = 0.02;
/// Minimum velocity (bins per frame) and displacement (bins) of a drifting tone. Slower tones do not leave
/// their bins soon, and positions are accurate to a fraction of a bin.
constexpr double kSlowest = 0.005, kDisplaced = 0.3;
/// Maximum velocity (bins per frame) of a tone that is followed, and how far (bins) a tone of unknown
/// velocity may have moved.
constexpr double kFastest = 1.5, kFirstStep = 12;

double wrapped(double distance, std::int64_t extent) {
  return std::remainder(distance, static_cast<double>(extent));
}

std::int64_t stored_index(const TemplateData& data, std::int64_t flat) {
  return data.real ? pair_representative(data.shape, flat) : flat;
}

/// Upper bound of |X|² at a distance from a tone of energy 1, whatever its position between two bins.
double envelope(double distance) {
  const double x = std::numbers::pi * std::fabs(distance);
  return x > 1 ? 1 / (x * x) : 1;
}

/// |X|² at a distance from a tone of energy 1 at this position.
double leakage(double distance, double position) {
  const double sine = std::sin(std::numbers::pi * position), x = std::numbers::pi * std::fabs(distance);
  return x > 1 ? sine * sine / (x * x) : 1;
}

}  // namespace

bool DriftingTone::drifts() const noexcept {
  return std::ranges::any_of(velocity, [](double v) { return v != 0; });
}

std::vector<DriftingTone> find_tones(const TemplateData& data, std::span<const std::complex<double>> values) {
  constexpr std::size_t kMaxTones = 32;
  const Shape& shape = data.shape;
  const std::vector<std::int64_t>& support = *data.support;
  const auto magnitude = [&](const std::array<std::int64_t, 3>& at) {
    std::int64_t flat = linear_index(shape, at);
    for (int sign = 0; sign < (data.real ? 2 : 1); ++sign) {
      const auto found = std::ranges::lower_bound(support, flat);
      if (found != support.end() && *found == flat)
        return std::abs(values[static_cast<std::size_t>(found - support.begin())]);
      flat = conjugate_index(shape, flat);
    }
    return 0.0;
  };
  double total = 0;
  for (std::size_t i = 0; i < support.size(); ++i) total += support[i] == 0 ? 0 : std::norm(values[i]);
  std::vector<DriftingTone> tones;
  for (std::size_t i = 0; i < support.size(); ++i) {
    const double peak = std::abs(values[i]);
    if (support[i] == 0 || !(peak * peak > kSmallestShare * total)) continue;
    const auto at = coordinates(shape, support[i]);
    DriftingTone tone;
    tone.energy = peak * peak;
    bool largest = true;
    for (std::size_t d = 0; d < static_cast<std::size_t>(shape.rank()) && largest; ++d) {
      auto below = at, above = at;
      --below[d];
      ++above[d];
      const double left = magnitude(below), right = magnitude(above), side = std::max(left, right);
      largest = left <= peak && right < peak;
      const double off = side / (peak + side), x = std::numbers::pi * off;
      tone.position[d] = static_cast<double>(at[d]) + (right > left ? off : -off);
      if (x > 0) tone.energy *= std::pow(x / std::sin(x), 2);
    }
    if (largest) tones.push_back(tone);
  }
  std::ranges::sort(tones, std::ranges::greater{}, &DriftingTone::energy);
  if (tones.size() > kMaxTones) tones.resize(kMaxTones);
  // Sidelobes also look like peaks if some bins between them and the tone are not in the support.
  std::vector<DriftingTone> kept;
  for (const DriftingTone& tone : tones) {
    const bool explained = std::ranges::any_of(kept, [&](const DriftingTone& strong) {
      double share = 4 * strong.energy;
      for (std::size_t d = 0; d < static_cast<std::size_t>(shape.rank()); ++d)
        share *= envelope(wrapped(tone.position[d] - strong.position[d], shape[static_cast<int>(d)]));
      return tone.energy < share;
    });
    if (!explained) kept.push_back(tone);
  }
  return kept;
}

bool find_velocities(const Shape& shape, std::span<const DriftingTone> before, std::int64_t frames,
                     std::span<DriftingTone> tones) {
  const auto rank = static_cast<std::size_t>(shape.rank());
  const auto elapsed = static_cast<double>(std::max<std::int64_t>(frames, 1));
  struct Match {
    double off;
    std::size_t old, now;
    Position moved;
  };
  std::vector<Match> matches;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; j < tones.size(); ++j) {
      const double ratio = before[i].energy / tones[j].energy;
      if (ratio > 8 || ratio < 0.125) continue;
      Match match{0, i, j, {}};
      double farthest = 0, step = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        const double expected = before[i].velocity[d] * elapsed;
        match.moved[d] = expected + wrapped(tones[j].position[d] - before[i].position[d] - expected,
                                            shape[static_cast<int>(d)]);
        match.off = std::max(match.off, std::fabs(match.moved[d] - expected));
        farthest = std::max(farthest, std::fabs(match.moved[d]));
        step = std::max(step, std::fabs(expected));
      }
      const double allowed = before[i].drifts() ? std::max(kFirstStep, 0.25 * step) : kFirstStep;
      if (farthest <= kFastest * elapsed + 1 && match.off <= allowed) matches.push_back(match);
    }
  }
  std::ranges::sort(matches, {}, &Match::off);
  std::vector<bool> used(before.size()), known(tones.size());
  bool any = false;
  for (const Match& match : matches) {
    if (used[match.old] || known[match.now]) continue;
    used[match.old] = known[match.now] = true;
    for (std::size_t d = 0; d < rank; ++d) {
      const double velocity = match.moved[d] / elapsed;
      const bool moves = std::fabs(match.moved[d]) > kDisplaced && std::fabs(velocity) > kSlowest;
      const double expected = before[match.old].velocity[d];
      const bool too_soon = std::fabs(expected * elapsed) < 2 * kDisplaced;
      tones[match.now].velocity[d] = moves ? velocity : too_soon ? expected : 0;
      any = any || tones[match.now].velocity[d] != 0;
    }
  }
  return any;
}

DriftSupport support_for_drift(const TemplateData& fresh, std::span<const DriftingTone> tones, double frames,
                               int reach) {
  const Shape& shape = fresh.shape;
  const auto rank = static_cast<std::size_t>(shape.rank());
  std::map<std::int64_t, double> power;
  DriftSupport result;
  const auto cover = [&](const DriftingTone& tone, const Position& at) {
    std::array<std::int64_t, 3> low{}, high{}, f{};
    for (std::size_t d = 0; d < rank; ++d) {
      const double sine = tone.velocity[d] != 0 ? 1 : std::fabs(std::sin(std::numbers::pi * at[d]));
      const double width = std::max(0.5, sine * reach);
      low[d] = std::llround(std::ceil(at[d] - width));
      high[d] = std::llround(std::floor(at[d] + width));
    }
    const double smallest = 0.99 * envelope(reach);
    for (f[0] = low[0]; f[0] <= high[0]; ++f[0]) {
      for (f[1] = low[1]; f[1] <= high[1]; ++f[1]) {
        for (f[2] = low[2]; f[2] <= high[2]; ++f[2]) {
          double share = 1;
          for (std::size_t d = 0; d < rank; ++d) share *= envelope(static_cast<double>(f[d]) - at[d]);
          if (share < smallest) continue;
          double& known = power[stored_index(fresh, linear_index(shape, f))];
          known = std::max(known, share * tone.energy);
        }
      }
    }
  };
  for (const DriftingTone& tone : tones) {
    if (!tone.drifts()) continue;
    double fastest = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      fastest = std::max(fastest, std::fabs(tone.velocity[d]));
      if (tone.velocity[d] != 0)
        result.largest_tail +=
            (fresh.real ? 2 : 1) * 2 * tone.energy / (std::numbers::pi * std::numbers::pi * reach);
    }
    const auto steps = static_cast<int>(std::ceil(frames * fastest));
    for (int s = 0; s <= steps; ++s) {
      Position at = tone.position;
      const double after = steps > 0 ? frames * s / steps : 0;
      for (std::size_t d = 0; d < rank; ++d) at[d] += after * tone.velocity[d];
      cover(tone, at);
    }
  }
  for (std::size_t i = 0; i < fresh.support->size(); ++i) {
    const std::int64_t flat = (*fresh.support)[i];
    const auto explained = [&](const DriftingTone& tone) {
      if (!tone.drifts()) return false;
      double largest = 0;
      for (const std::int64_t one : {flat, fresh.real ? conjugate_index(shape, flat) : flat}) {
        const auto f = coordinates(shape, one);
        double share = 4 * tone.energy;
        for (std::size_t d = 0; d < rank; ++d) {
          const double off =
              wrapped(static_cast<double>(f[d]) - tone.position[d], shape[static_cast<int>(d)]);
          share *= leakage(off, tone.position[d]);
        }
        largest = std::max(largest, share);
      }
      return std::norm(fresh.values[i]) < largest;
    };
    if (flat == 0 || std::ranges::none_of(tones, explained))
      power.try_emplace(stored_index(fresh, flat), 0.0);
  }
  for (const auto& [flat, one] : power) {
    result.support.push_back(flat);
    result.power.push_back(one);
  }
  return result;
}

}  // namespace sfft::detail
