// SPDX-License-Identifier: Apache-2.0
// Components come from subspace iteration. What they leave is then clipped, so that people who pass do not
// turn them, and they are found again.
#include "video/triage/sway_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "video/triage/four.hpp"

namespace sfft::video {

namespace {

constexpr std::size_t kPatterns = 6;
constexpr std::size_t kFewestChanges = 24;
constexpr int kRounds = 3, kIterations = 4;
/// A web changes this share of the points by at least so many grey levels, root mean square.
constexpr float kWide = 0.08F, kClear = 2.5F;
/// Changes of a pattern's coefficient that alternate: beyond this part of their root mean square, so many
/// times, over this share of the time.
constexpr float kBeyond = 0.3F;
constexpr int kAlternations = 6;
constexpr double kOfTheTime = 0.3;
/// Share of the changes at a pattern's points that all patterns together explain.
constexpr float kExplained = 0.6F;
/// What is close to the lens reaches over the picture: parts of this many by this many that hold a pattern.
/// One person who stirs in a place is in a few of them.
constexpr int kParts = 6;
constexpr float kMinParts = 7;
constexpr float kNoise = 1.5F;  ///< variance of a change that is noise, at least
/// What is left is clipped at so many times its usual size, which is at least so many grey levels.
constexpr float kClip = 2.5F, kMinScale = 1;
/// Reach of Tukey's weights in usual sizes, and how often they are found.
constexpr float kReach = 4.685F;
constexpr int kFits = 4;
/// Mean weight up to which a picture is of another scene or in another light, and from which it is not.
constexpr float kForeign = 0.35F, kFamiliar = 0.55F;

using Coefficients = std::array<float, kPatterns>;

void add(float factor, std::span<const float> what, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * what[i];
}

/// Gram and Schmidt, twice. Patterns without a part of their own are left out.
void orthonormalize(std::vector<std::vector<float>>& patterns) {
  std::size_t kept = 0;
  for (std::size_t j = 0; j < patterns.size(); ++j) {
    std::vector<float>& one = patterns[j];
    const float before = product(one, one);
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t k = 0; k < kept; ++k) add(-product(patterns[k], one), patterns[k], one);
    const float energy = product(one, one);
    if (!(energy > 1e-5F * before) || !(energy > 0)) continue;
    const float factor = 1 / std::sqrt(energy);
    for (float& value : one) value *= factor;
    if (kept != j) std::swap(patterns[kept], one);
    ++kept;
  }
  patterns.resize(kept);
}

/// Solves the symmetric system in place; small pivots leave their unknown 0.
Coefficients solve(std::array<Coefficients, kPatterns>& matrix, Coefficients right, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!(matrix[i][i] > 1e-3F)) continue;
    for (std::size_t row = i + 1; row < n; ++row) {
      const float part = matrix[row][i] / matrix[i][i];
      right[row] -= part * right[i];
      for (std::size_t k = i; k < n; ++k) matrix[row][k] -= part * matrix[i][k];
    }
  }
  Coefficients found{};
  for (std::size_t i = n; i-- > 0;) {
    if (!(matrix[i][i] > 1e-3F)) continue;
    float sum = right[i];
    for (std::size_t k = i + 1; k < n; ++k) sum -= matrix[i][k] * found[k];
    found[i] = sum / matrix[i][i];
  }
  return found;
}

/// How often a series goes from one side to the other, and the share of the time in which it does.
struct Alternation {
  int times = 0;
  double share = 0;
};

Alternation alternation(std::span<const float> series) {
  float energy = 0;
  for (const float value : series) energy += value * value;
  const float limit = kBeyond * std::sqrt(energy / static_cast<float>(series.size()));
  Alternation found;
  int side = 0;
  std::size_t first = 0, last = 0;
  for (std::size_t n = 0; n < series.size(); ++n) {
    const int now = series[n] > limit ? 1 : series[n] < -limit ? -1 : 0;
    if (now == 0 || now == side) continue;
    if (side != 0 && ++found.times == 1) first = n;
    last = n;
    side = now;
  }
  if (found.times > 0) found.share = static_cast<double>(last - first) / static_cast<double>(series.size());
  return found;
}

/// Number of parts of the picture over which a pattern's energy is spread (inverse participation ratio).
float parts(std::span<const float> pattern, int width) {
  const auto across = static_cast<std::size_t>(width);
  const std::size_t rows = pattern.size() / across;
  std::array<float, kParts * kParts> energy{};
  for (std::size_t i = 0; i < rows * across; ++i)
    energy[i / across * kParts / rows * kParts + i % across * kParts / across] += pattern[i] * pattern[i];
  float sum = 0, squares = 0;
  for (const float one : energy) {
    sum += one;
    squares += one * one;
  }
  return squares > 0 ? sum * sum / squares : 0;
}

}  // namespace

void SwayModel::learn(std::vector<std::vector<float>>& pictures, int width) {
  patterns_.clear();
  scale_.clear();
  if (pictures.size() < kFewestChanges + 1) return;
  for (std::size_t n = 0; n + 1 < pictures.size(); ++n)
    for (std::size_t i = 0; i < pictures[n].size(); ++i) pictures[n][i] = pictures[n + 1][i] - pictures[n][i];
  const std::size_t points = pictures[0].size();
  const std::span<std::vector<float>> changes(pictures.data(), pictures.size() - 1);
  std::vector<float> energy(points, 0.0F);
  for (const auto& change : changes)
    for (std::size_t i = 0; i < points; ++i) energy[i] += change[i] * change[i];
  const float clear = kClear * kClear * static_cast<float>(changes.size());
  if (static_cast<float>(std::ranges::count_if(energy, [clear](float sum) { return sum > clear; })) <
      kWide * static_cast<float>(points))
    return;
  for (std::size_t j = 0; j < kPatterns; ++j) patterns_.push_back(changes[j * changes.size() / kPatterns]);
  orthonormalize(patterns_);
  std::vector<float> left(points);
  scale_.assign(points, kMinScale);
  for (int round = 0; round < kRounds && !patterns_.empty(); ++round) {
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      std::vector<Pattern> next(patterns_.size(), Pattern(points, 0.0F));
      for (const auto& change : changes)
        for (std::size_t j = 0; j < patterns_.size(); ++j)
          add(product(change, patterns_[j]), change, next[j]);
      patterns_ = std::move(next);
      orthonormalize(patterns_);
    }
    std::vector<float> size(points, 0.0F);
    for (auto& change : changes) {
      left = change;
      for (const Pattern& one : patterns_) add(-product(change, one), one, left);
      for (std::size_t i = 0; i < points; ++i) {
        const float max = kClip * scale_[i];
        const float clipped = std::clamp(left[i], -max, max);
        if (round > 0) change[i] += clipped - left[i];
        size[i] += std::abs(clipped);
      }
    }
    const float per_change = 1.25F / static_cast<float>(changes.size());
    for (std::size_t i = 0; i < points; ++i) scale_[i] = std::max(kMinScale, per_change * size[i]);
    if (round == 0)
      for (float& scale : scale_) scale = std::max(scale, 2 * kMinScale);
  }
  accept(changes, width);
}

/// Keeps the patterns that sway.
void SwayModel::accept(std::span<const std::vector<float>> changes, int width) {
  if (patterns_.empty()) return;
  const std::size_t points = patterns_[0].size();
  const auto count = static_cast<float>(changes.size());
  std::vector<float> total_energy(points, 0.0F), explained(points, 0.0F), left;
  std::vector<std::vector<float>> series(patterns_.size());
  for (const auto& change : changes) {
    left = change;
    for (std::size_t j = 0; j < patterns_.size(); ++j) {
      series[j].push_back(product(change, patterns_[j]));
      add(-series[j].back(), patterns_[j], left);
    }
    for (std::size_t i = 0; i < points; ++i) {
      total_energy[i] += change[i] * change[i] / count;
      explained[i] += (change[i] * change[i] - left[i] * left[i]) / count;
    }
  }
  std::vector<Pattern> kept;
  for (std::size_t j = 0; j < patterns_.size(); ++j) {
    const Alternation found = alternation(series[j]);
    float all = 0, by_patterns = 0;
    for (std::size_t i = 0; i < points; ++i) {
      const float weight = patterns_[j][i] * patterns_[j][i];
      all += weight * std::max(0.0F, total_energy[i] - kNoise);
      by_patterns += weight * explained[i];
    }
    if (found.times >= kAlternations && found.share >= kOfTheTime &&
        parts(patterns_[j], width) >= kMinParts && by_patterns >= kExplained * all)
      kept.push_back(std::move(patterns_[j]));
  }
  patterns_ = std::move(kept);
}

void SwayModel::fit(std::span<const float> deviation, std::vector<float>& sway) const {
  const std::size_t n = patterns_.size();
  Coefficients found{};
  float familiar = 0;
  for (std::size_t j = 0; j < n; ++j) found[j] = product(patterns_[j], deviation);
  for (int pass = 0; pass < kFits; ++pass) {
    std::array<std::array<Four, kPatterns>, kPatterns> products{};
    std::array<Four, kPatterns> along{};
    Four weights{};
    // The first weights reach further: a thing may have turned the first fit.
    const float reach = kReach * (pass == 0 ? 3.0F : 1.0F);
    for (std::size_t i = 0; i < deviation.size(); i += kFour) {
      std::array<Four, kPatterns> here{};
      const Four off = four(deviation, i);
      Four left = off;
      for (std::size_t j = 0; j < n; ++j) {
        here[j] = four(patterns_[j], i);
        left -= found[j] * here[j];
      }
      const Four t = left / (reach * four(scale_, i));
      const Four inside = 1 - t * t;
      const Four weight = inside > 0 ? inside * inside : Four{};
      weights += weight;
      for (std::size_t j = 0; j < n; ++j) {
        const Four weighed = weight * here[j];
        along[j] += weighed * off;
        for (std::size_t k = 0; k <= j; ++k) products[j][k] += weighed * here[k];
      }
    }
    std::array<Coefficients, kPatterns> matrix{};
    Coefficients right{};
    for (std::size_t j = 0; j < n; ++j) {
      right[j] = total(along[j]);
      for (std::size_t k = 0; k <= j; ++k) matrix[j][k] = matrix[k][j] = total(products[j][k]);
    }
    found = solve(matrix, right, n);
    familiar = total(weights) / static_cast<float>(deviation.size());
  }
  const float share = std::clamp((familiar - kForeign) / (kFamiliar - kForeign), 0.0F, 1.0F);
  sway.assign(deviation.size(), 0);
  for (std::size_t j = 0; j < n; ++j) add(share * found[j], patterns_[j], sway);
}

bool SwayModel::fits(std::size_t points) const noexcept {
  const std::size_t padded = (points + kFour - 1) / kFour * kFour;
  return patterns_.size() <= kPatterns && (patterns_.empty() || scale_.size() == padded) &&
         std::ranges::all_of(patterns_, [padded](const Pattern& one) { return one.size() == padded; });
}

}  // namespace sfft::video
