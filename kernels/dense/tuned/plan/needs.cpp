// SPDX-License-Identifier: Apache-2.0
// Lists the lines that a problem's steps transform, and ranks the ways to factor lines that do not fit in a
// block.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/base/radix/radices.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/dense/tuned/plan/grid.hpp"
#include "kernels/dense/tuned/plan/needs.hpp"
#include "kernels/dense/tuned/plan/shared_layout.hpp"

namespace sfft::detail::tuned {

bool is_odd_prime(int n) {
  for (int d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 2;
}

bool prefers_products(const LineNeed& need) {
  constexpr int kMinOfOthers = 45, kPointsOfWord = 4;
  const bool whole_words = need.points % kPointsOfWord == 0;
  return need.products && (!has_radices(need.points) || (!whole_words && need.points >= kMinOfOthers));
}

std::optional<Method> method_of(int points, int length, bool twiddled) {
  if (length == points) return Method::plain;
  if (length == points - 1 && !twiddled && is_odd_prime(points)) return Method::rader;
  if (length >= 2 * points - 1) return Method::bluestein;
  return std::nullopt;
}

bool fits(int points, bool single, const Limits& limits) {
  if (points < 2 || points > (1 << 14)) return false;
  int length = points;
  if (!has_radices(points))
    length = is_odd_prime(points) && has_radices(points - 1) ? points - 1 : 2 * points - 1;
  while (!has_radices(length)) ++length;
  const auto whole = static_cast<std::size_t>(length * value_bytes(single));
  return length <= kMaxLength / (single ? 1 : 2) && whole / 2 <= limits.shared_bytes;
}

std::vector<LineNeed> needs_of(const DenseProblem& problem, bool single, const std::vector<int>& factors,
                               const Limits& limits, std::string& why, const Formats& formats) {
  const Grid grid(problem);
  std::vector<LineNeed> needs;
  const bool half = problem.real && grid.row() % 2 == 0;
  if (factors.size() == 2 && grid.rank() == 3) {
    const auto depth = static_cast<int>(grid.extents[0]), width = static_cast<int>(grid.row());
    needs = {{.points = factors[0] * width, .rows = factors[0]},
             {.points = factors[1] * depth, .interleaved = true, .rows = depth, .lines = width}};
  } else if (factors.size() == 2) {
    needs = {{.points = factors[0], .interleaved = true, .twiddled = true, .lines = factors[1]},
             {.points = factors[1], .transposed = true, .lines = factors[0]}};
  } else if (factors.size() == 3) {
    needs = {{.points = factors[0], .interleaved = true, .transposed = true, .twiddled = true},
             {.points = factors[1], .interleaved = true, .twiddled = true, .lines = 16},
             {.points = factors[2], .interleaved = true, .lines = 16}};
  } else {
    for (std::size_t d = 0; d + 1 < grid.rank(); ++d)
      needs.push_back({.points = static_cast<int>(grid.extents[d]), .interleaved = true});
    const bool strided =
        grid.rank() == 1 && !problem.real && grid.strides.back() > 1 && grid.batch_stride == 1;
    needs.push_back({.points = row_length(problem, grid),
                     .transposed = strided,
                     .half_spectra = half,
                     .mirrored = half && grid.rank() > 1});
  }
  if (grid.rank() == 3 && !problem.contiguous()) {
    why = "volumes with strides";
    return {};
  }
  if (formats == Formats{}) {  // tiles of 16-bit values may need a multiple of lines
    for (LineNeed& need : needs)
      need.total = std::max<std::int64_t>(1, total_spectrum_points(problem) / need.points);
  }
  const bool narrow = is_16_bit(formats.source) || is_16_bit(formats.target);
  if (narrow && needs.size() == 1 && !half && !needs[0].transposed && has_radices(needs[0].points))
    needs[0].narrow_bytes = (is_16_bit(formats.source) ? 4 : 8) + (is_16_bit(formats.target) ? 4 : 8);
  if (!needs.empty() && limits.multiplies_f16 && grid.rank() == 1 && !problem.real && problem.contiguous() &&
      needs[0].points <= kMaxOfProduct && formats.source == dense::Storage::f16 &&
      formats.target == dense::Storage::f16)
    needs[0].products = true;
  for (const LineNeed& need : needs) {
    if (need.rows == 0 && !fits(need.points, single, limits)) {
      why = fmt::format("lines of {} points fit no block", need.points);
      return {};
    }
  }
  return needs;
}

namespace {

/// Returns factors of the columns of a complex volume for which both steps fit in a block. The smallest tiles
/// come first, and only the best two are kept. The second step processes half a cache line of neighbours.
std::vector<std::vector<int>> factors_of_volume(const DenseProblem& problem, const Grid& grid, bool single,
                                                const Limits& limits) {
  const std::int64_t neighbours = cache_line_values(single) / 2, bytes = single ? 8 : 16,
                     max = std::min(kMaxGridBytes, static_cast<std::int64_t>(limits.shared_bytes)) / bytes;
  const std::int64_t depth = grid.extents[0], height = grid.extents[1], width = grid.row();
  const bool factored = std::all_of(grid.extents.begin(), grid.extents.end(), [&](std::int64_t n) {
    return n > 1 && n <= max && has_radices(static_cast<int>(n));
  });
  if (problem.real || !problem.contiguous() || !factored || width % neighbours != 0) return {};
  std::vector<std::pair<std::int64_t, std::vector<int>>> ranked;
  for (std::int64_t a = 2; 2 * a <= height; ++a) {
    const std::int64_t b = height / a, tile = std::max(a * width, b * depth * neighbours);
    if (height % a == 0 && tile <= max) ranked.push_back({tile, {static_cast<int>(a), static_cast<int>(b)}});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::vector<int>> all;
  for (std::size_t i = 0; i < std::min<std::size_t>(ranked.size(), 2); ++i)
    all.push_back(std::move(ranked[i].second));
  return all;
}

}  // namespace

std::vector<std::vector<int>> factors_of(const DenseProblem& problem, bool single, const Limits& limits) {
  const Grid grid(problem);
  if (grid.rank() == 3) {
    std::vector<std::vector<int>> all = factors_of_volume(problem, grid, single, limits);
    all.push_back({});
    return all;
  }
  if (grid.rank() > 1 ||
      (fits(row_length(problem, grid), single, limits) && (problem.real || grid.row() <= (1 << 13))))
    return {{}};
  std::vector<std::vector<int>> all;
  if (grid.row() <= (1 << 14)) all.push_back({});
  const std::int64_t n = grid.row();
  if (problem.real || !problem.contiguous()) return all;
  // Factors close to each other come first, and multiples of a cache line.
  const auto ends_well = [&](std::int64_t f) { return f % cache_line_values(single) == 0; };
  std::vector<std::pair<std::int64_t, std::vector<int>>> ranked;
  for (std::int64_t a = 16; a <= 4096; ++a) {
    if (n % a != 0 || !fits(static_cast<int>(a), single, limits)) continue;
    const std::int64_t b = n / a;
    if (b >= 16 && b <= 4096 && fits(static_cast<int>(b), single, limits))
      ranked.push_back({std::max(a, b) * (ends_well(a) && ends_well(b) ? 1 : 4),
                        {static_cast<int>(a), static_cast<int>(b)}});
    if (n < (1 << 20) || !ends_well(a) || a > 2048) continue;
    for (std::int64_t c = 16; c <= 1024; ++c) {
      if (b % c != 0 || b / c < 16 || b / c > 1024) continue;
      const int d = static_cast<int>(b / c);
      if (!fits(static_cast<int>(c), single, limits) || !fits(d, single, limits) ||
          std::max<std::int64_t>(c, d) > 2 * std::min<std::int64_t>(c, d))
        continue;
      ranked.push_back({std::max({a, c, static_cast<std::int64_t>(d)}) + (b > (1 << 17) ? 4096 : 512),
                        {static_cast<int>(a), static_cast<int>(c), d}});
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  for (auto& candidate : ranked) {  // the best two of each kind
    const auto alike = std::count_if(all.begin(), all.end(),
                                     [&](const auto& s) { return s.size() == candidate.second.size(); });
    if (alike < 2) all.push_back(std::move(candidate.second));
  }
  return all;
}

bool alternates_in_place(const DenseProblem& problem, bool single, const std::vector<int>& factors) {
  const Grid grid(problem);
  return factors.size() == 3 || (grid.rank() > 1 && !problem.real && problem.contiguous() &&
                                 grid.row() % cache_line_values(single) == 0);
}

std::int64_t group_values(const DenseProblem& problem, const TransformPolicy& policy) {
  const Grid grid(problem);
  if (policy.factors.size() == 3)
    return static_cast<std::int64_t>(policy.factors[1]) * policy.factors[2] * policy.outputs_per_group;
  if (policy.factors.size() == 2 || grid.rank() == 1) return grid.row();
  return grid.extents[grid.rank() - 2] * round_up(row_length(problem, grid), 16);
}

}  // namespace sfft::detail::tuned
