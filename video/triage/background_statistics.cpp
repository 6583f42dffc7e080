// SPDX-License-Identifier: Apache-2.0
// There are far fewer pictures than points, so the components come from the products of the pictures with
// each other (the method of snapshots). Rows of a rank network have a fixed length, so that an exchange is a
// few vector instructions.
#include "video/triage/background.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/base/math/quantiles.hpp"
#include "video/triage/light.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sfft::video {

namespace {

/// A thread that sways by more than its thickness needs several components. With 10, drawn webs left half as
/// many false events as with 6.
constexpr std::size_t kMaxComponents = 10;
/// Min. share of the energy of all deviations in a component; the others are noise.
constexpr double kMinShare = 0.005;
/// Power iterations. Components need not be exact, because fits to them are.
constexpr int kPowerSteps = 60;
constexpr int kFits = 6;              ///< steps of a robust fit
constexpr std::size_t kGroups = 200;  ///< approximate number of groups of four points that take part in it
constexpr double kMinScale = 1;       ///< grey levels: scale of what a good fit leaves
constexpr double kTukey = 4.685;      ///< 95 % efficiency for normal noise
constexpr double kMedianToScale = 1.4826;

/// Solves a symmetric positive definite system of `count` equations. The last column is the right-hand side.
using Equations = std::array<std::array<double, kMaxComponents + 1>, kMaxComponents>;
std::array<double, kMaxComponents> solve(Equations& of, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t row = k + 1; row < count; ++row) {
      const double part = of[k][row] / of[k][k];
      for (std::size_t j = row; j < count; ++j) of[row][j] -= part * of[k][j];
      of[row][kMaxComponents] -= part * of[k][kMaxComponents];
    }
  }
  std::array<double, kMaxComponents> x{};
  for (std::size_t k = count; k-- > 0;) {
    x[k] = of[k][kMaxComponents];
    for (std::size_t j = k + 1; j < count; ++j) x[k] -= of[k][j] * x[j];
    x[k] /= of[k][k];
  }
  return x;
}

}  // namespace

void EigenBackground::learn(std::span<const std::vector<float>> deviations) {
  components_.clear();
  const std::size_t count = deviations.size();
  if (count < 2) return;
  const std::size_t points = deviations[0].size();
  const std::size_t whole = points / kFour * kFour;
  std::vector<double> products(count * count);
  double energy = 0;
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      products[a * count + b] = products[b * count + a] = static_cast<double>(
          product(std::span(deviations[a]).first(whole), std::span(deviations[b]).first(whole)));
    }
    energy += products[a * count + a];
  }
  std::vector<double> shares(count);
  std::vector<double> next(count);
  for (std::size_t k = 0; k < std::min(kMaxComponents, count - 1); ++k) {
    // The start must not be orthogonal to a component, and any irregular one will do.
    for (std::size_t a = 0; a < count; ++a) shares[a] = 1 + std::sin(static_cast<double>(3 * a + k));
    double value = 0;
    for (int step = 0; step < kPowerSteps; ++step) {
      value = 0;
      for (std::size_t a = 0; a < count; ++a) {
        next[a] = 0;
        for (std::size_t b = 0; b < count; ++b) next[a] += products[a * count + b] * shares[b];
        value += next[a] * next[a];
      }
      value = std::sqrt(value);
      if (!(value > 0)) return;
      for (std::size_t a = 0; a < count; ++a) shares[a] = next[a] / value;
    }
    if (!(value > kMinShare * energy)) return;
    components_.resize((k + 1) * points);
    float* const component = components_.data() + k * points;
    for (std::size_t a = 0; a < count; ++a) {
      const auto share = static_cast<float>(shares[a] / std::sqrt(static_cast<double>(count)));
      for (std::size_t i = 0; i < points; ++i) component[i] += share * deviations[a][i];
      for (std::size_t b = 0; b < count; ++b) products[a * count + b] -= value * shares[a] * shares[b];
    }
  }
}

bool EigenBackground::fits(std::size_t points) const noexcept {
  return points > 0 && components_.size() % points == 0 && components_.size() / points <= kMaxComponents &&
         std::ranges::all_of(components_, [](float value) { return std::isfinite(value); });
}

void EigenBackground::remove(std::span<float> deviation) const {
  const std::size_t points = deviation.size();
  const std::size_t count = components_.size() / points;
  if (count == 0) return;
  const auto component = [&](std::size_t k) { return std::span(components_).subspan(k * points, points); };
  const std::size_t step = kFour * (std::max<std::size_t>(1, points / kFour / kGroups) | 1U);
  std::array<double, kMaxComponents> found{};
  std::vector<float> left;
  std::vector<float> sizes;
  for (int fit = 0; fit < kFits; ++fit) {
    left.clear();
    for (std::size_t i = 0; i + kFour <= points; i += step) {
      Four off = four(deviation, i);
      for (std::size_t k = 0; k < count; ++k) off -= static_cast<float>(found[k]) * four(component(k), i);
      for (std::size_t lane = 0; lane < kFour; ++lane) left.push_back(off[lane]);
    }
    sizes.resize(left.size());
    std::ranges::transform(left, sizes.begin(), [](float off) { return std::abs(off); });
    const double scale =
        std::max(kMinScale, kMedianToScale * static_cast<double>(detail::median_in_place(sizes)));
    const auto per_reach = static_cast<float>(1 / (kTukey * scale));
    std::array<std::array<Four, kMaxComponents + 1>, kMaxComponents> sums{};
    for (std::size_t i = 0, at = 0; i + kFour <= points; i += step, at += kFour) {
      const Four t = four(left, at) * per_reach;
      const Four rest = 1 - t * t;
      const Four weight = rest > 0 ? rest * rest : Four{};
      std::array<Four, kMaxComponents> here;
      for (std::size_t k = 0; k < count; ++k) here[k] = four(component(k), i);
      const Four off = four(deviation, i);
      for (std::size_t k = 0; k < count; ++k) {
        const Four weighted = weight * here[k];
        for (std::size_t j = k; j < count; ++j) sums[k][j] += weighted * here[j];
        sums[k][kMaxComponents] += weighted * off;
      }
    }
    Equations equations{};
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t j = k; j <= kMaxComponents; ++j)
        if (j < count || j == kMaxComponents) equations[k][j] = static_cast<double>(total(sums[k][j]));
      equations[k][k] += scale * scale;  // the prior: coefficients of the size 1
    }
    found = solve(equations, count);
  }
  for (std::size_t k = 0; k < count; ++k) {
    const auto part = static_cast<float>(found[k]);
    const std::span<const float> of = component(k);
    for (std::size_t i = 0; i < points; ++i) deviation[i] -= part * of[i];
  }
}

namespace {

#if defined(__x86_64__)
/// Runs all exchanges with vectors of eight floats.
[[gnu::target("avx2")]] void exchange_avx2(std::span<const RankNetwork::Exchange> exchanges, float* rows) {
  static_assert(RankNetwork::kLanes == 16);
  for (const auto [low, high] : exchanges) {
    float* const a = rows + low * RankNetwork::kLanes;
    float* const b = rows + high * RankNetwork::kLanes;
    const __m256 a0 = _mm256_loadu_ps(a), a1 = _mm256_loadu_ps(a + 8);
    const __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8);
    _mm256_storeu_ps(a, _mm256_min_ps(a0, b0));
    _mm256_storeu_ps(a + 8, _mm256_min_ps(a1, b1));
    _mm256_storeu_ps(b, _mm256_max_ps(a0, b0));
    _mm256_storeu_ps(b + 8, _mm256_max_ps(a1, b1));
  }
}
#endif

/// The same with vectors of four. Compilers do not vectorise minima of rows by themselves.
void exchange_fours(std::span<const RankNetwork::Exchange> exchanges, float* rows) {
  constexpr std::size_t kFours = RankNetwork::kLanes / kFour;
  for (const auto [low, high] : exchanges) {
    Four a[kFours];
    Four b[kFours];
    std::memcpy(a, rows + low * RankNetwork::kLanes, sizeof a);
    std::memcpy(b, rows + high * RankNetwork::kLanes, sizeof b);
    for (std::size_t i = 0; i < kFours; ++i) {
      const Four first = a[i];
      a[i] = first < b[i] ? first : b[i];
      b[i] = first < b[i] ? b[i] : first;
    }
    std::memcpy(rows + low * RankNetwork::kLanes, a, sizeof a);
    std::memcpy(rows + high * RankNetwork::kLanes, b, sizeof b);
  }
}

}  // namespace

RankNetwork::RankNetwork(std::size_t count, std::size_t rank) : rank_(rank) {
  if (count < 2) return;
  const std::size_t top = std::bit_ceil(count) / 2;
  for (std::size_t p = top; p > 0; p /= 2) {
    std::size_t r = 0;
    std::size_t d = p;
    for (std::size_t q = top;; q /= 2) {
      for (std::size_t i = 0; i + d < count; ++i)
        if ((i & p) == r) exchanges_.push_back({i, i + d});
      if (q == p) break;
      d = q - p;
      r = p;
    }
  }
  std::vector<bool> wanted(count, false);
  wanted[rank] = true;
  std::vector<Exchange> needed;
  for (std::size_t i = exchanges_.size(); i-- > 0;) {
    const auto [low, high] = exchanges_[i];
    if (!wanted[low] && !wanted[high]) continue;
    wanted[low] = wanted[high] = true;
    needed.push_back(exchanges_[i]);
  }
  std::ranges::reverse(needed);
  exchanges_ = std::move(needed);
}

std::span<const float, RankNetwork::kLanes> RankNetwork::select(std::span<float> values) const {
  float* const rows = values.data();
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  if (avx2) {
    exchange_avx2(exchanges_, rows);
  } else {
    exchange_fours(exchanges_, rows);
  }
#else
  exchange_fours(exchanges_, rows);
#endif
  return std::span<const float, kLanes>(rows + rank_ * kLanes, kLanes);
}

}  // namespace sfft::video
