// SPDX-License-Identifier: Apache-2.0
// Goes from the slowest dimension to the fastest. Each becomes a step across all faster dimensions, until
// these fit as a slab.
#include "kernels/dense/out_of_core/grouping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/base/math/smooth.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// This many slabs keep all host threads busy. If there are fewer, they must be short.
constexpr std::int64_t kManySlabs = 16, kShortSlab = 1 << 16;

/// The smallest length ≥ n that is a small odd number times a power of two.
std::int64_t next_good(std::int64_t n) {
  std::int64_t best = 0;
  for (const std::int64_t odd : {1, 3, 5, 7, 9, 15}) {
    std::int64_t length = odd;
    while (length < n) length *= 2;
    if (best == 0 || length < best) best = length;
  }
  return best;
}

class Grouping {
 public:
  Grouping(const OutOfCoreGrid& grid, const GroupingLimits& limits) : grid_(grid), limits_(limits) {}

  std::vector<Step> steps() {
    const auto extents = grid_.shape.extents();
    std::vector<std::int64_t> dims(extents.begin(), extents.end());
    const bool many = grid_.batch >= kManySlabs || grid_.signal_points() <= kShortSlab;
    grid(grid_.batch, dims, grid_.batch > 1 && many);
    if (steps_.empty()) steps_.push_back(slabs(grid_.batch, {dims.back()}));  // slabs of single points
    return std::move(steps_);
  }

 private:
  bool short_enough(std::int64_t n) const {
    return n <= (is_smooth(n) ? limits_.longest_line : limits_.longest_line / 8);
  }
  bool fits(const Step& step) const { return !limits_.fits || limits_.fits(step); }

  Step slabs(std::int64_t count, std::vector<std::int64_t> dims) const {
    const std::int64_t row = dims.back();
    dims.back() = grid_.row_pitch;
    const Shape stored{std::span<const std::int64_t>(dims)};
    if (grid_.real()) return {Step::Kind::slabs, 1, 0, {count, stored, 0, {}, row, grid_.real_pitch}};
    return {Step::Kind::slabs, 1, 0, {count, stored, row, {}}};
  }
  static Step columns(std::int64_t repeats, std::int64_t stride, std::int64_t n, std::int64_t inner,
                      const Twiddles& twiddles = {}) {
    return {Step::Kind::columns, repeats, stride, {n, Shape(inner), 0, twiddles}};
  }

  /// `repeats` contiguous grids; `whole`: each may be one slab.
  void grid(std::int64_t repeats, std::vector<std::int64_t> dims, bool whole) {
    while (dims.size() > 1 && dims[0] == 1) dims.erase(dims.begin());
    if (whole && std::all_of(dims.begin(), dims.end(), [&](std::int64_t n) { return short_enough(n); })) {
      const Step step = slabs(repeats, dims);
      if (fits(step)) return push_slabs(step);
    }
    if (dims.size() == 1) return line(repeats, dims[0]);
    std::int64_t inner = grid_.row_pitch;
    for (std::size_t d = 1; d + 1 < dims.size(); ++d) inner *= dims[d];
    across(repeats, inner * dims[0], dims[0], inner);
    const std::int64_t within = repeats * dims[0];
    dims.erase(dims.begin());
    grid(within, dims, true);
  }

  void push_slabs(const Step& step) {
    const auto extents = step.array.slab.extents();
    const bool single =
        step.array.real_points == 0 && step.array.row_points == 1 &&
        std::all_of(extents.begin(), extents.end() - 1, [](std::int64_t n) { return n == 1; });
    if (!single) steps_.push_back(step);
  }

  /// Divides lines that do not fit, or that are too few to keep all threads busy.
  void line(std::int64_t repeats, std::int64_t n) {
    if (grid_.real_line ? divide_real_line(n) : !grid_.real() && divide(repeats, grid_.row_pitch, n, 1))
      return;
    const Step step = slabs(repeats, {n});
    if (!grid_.real_line && short_enough(n) && fits(step)) return push_slabs(step);
    refuse(n, step);
  }

  void across(std::int64_t repeats, std::int64_t stride, std::int64_t n, std::int64_t inner) {
    if (n == 1) return;
    const Step step = columns(repeats, stride, n, inner);
    if (short_enough(n) && fits(step)) return steps_.push_back(step);
    if (!divide(repeats, stride, n, inner)) refuse(n, step);
  }

  /// Returns `first` of n = first · second, with factors as equal as possible; 0 if there are none. If
  /// `multiple`, second must be a small multiple of first, which transposes faster.
  std::int64_t first_factor(std::int64_t n, bool multiple) const {
    constexpr std::int64_t kMaxSquares = 64;
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))) + 1;
    for (std::int64_t first = std::min(root, n / 2); first >= 2 && n / first <= limits_.longest_line;
         --first) {
      const std::int64_t second = n / first;
      if (n % first != 0 || first > second || !short_enough(first) || !short_enough(second)) continue;
      if (multiple && second > kMaxSquares * first) return 0;
      if (!multiple || second % first == 0) return first;
    }
    return 0;
  }

  /// Requires factors of at least 3, so that some columns are not their own mirrors.
  bool divide_real_line(std::int64_t n) {
    for (const bool multiple : {true, false}) {
      const std::int64_t first = first_factor(n, multiple), second = first == 0 ? 0 : n / first;
      if (first < 3) continue;
      Step transposed = columns(1, 0, first, second, {n, 1}), after = columns(1, 0, second, first);
      transposed.kind = Step::Kind::transposed;
      transposed.array.real_line = after.array.real_line = true;
      if (!fits(transposed) || !fits(after)) continue;
      steps_.push_back(transposed);
      steps_.push_back(after);
      return true;
    }
    return false;
  }

  bool divide(std::int64_t repeats, std::int64_t stride, std::int64_t n, std::int64_t inner) {
    for (const bool multiple : {true, false}) {
      const std::int64_t first = first_factor(n, multiple);
      if (first == 0) continue;
      const std::int64_t second = n / first;
      Step before = columns(repeats, stride, first, second * inner, {n, inner}),
           after = columns(repeats, stride, second, first * inner);
      Step transposed = before;
      transposed.kind = Step::Kind::transposed;
      transposed.calls = Step::Calls::apart;
      if (!fits(before) || !fits(after)) continue;
      // Only a first step can write to another array; later steps find their values in the array that they
      // write.
      const bool both = !limits_.in_place && steps_.empty() && inner == 1 && fits(transposed);
      before.calls = both ? Step::Calls::in_place : Step::Calls::all;
      steps_.push_back(before);
      const Step exchanged{
          Step::Kind::exchanged, repeats, stride, {first, Shape(second), 0, {}}, before.calls};
      const bool exchanges = inner == 1 && limits_.exchanges && fits(exchanged);
      if (exchanges) {
        steps_.push_back(exchanged);
        after.calls = Step::Calls::apart;
      } else {
        steps_.push_back({Step::Kind::transposition,
                          repeats,
                          stride,
                          {first, Shape({second, inner}), 0, {}},
                          before.calls});
      }
      if (both) steps_.push_back(transposed);
      if (both || !exchanges) steps_.push_back(after);
      return true;
    }
    return false;
  }

  [[noreturn]] void refuse(std::int64_t n, const Step& step) const {
    if (short_enough(n)) {
      throw Error(
          ErrorCode::out_of_memory,
          fmt::format("lines of {} points do not fit the GPU memory of {} bytes that the transform may "
                      "use, and have no factors that do",
                      n, step.array.points()));
    }
    throw Error(
        ErrorCode::backend_unavailable,
        fmt::format("a line of {} points is too long for one piece and has no two factors that are not: "
                    "pad it, for example to {} points",
                    n, next_good(n)));
  }

  const OutOfCoreGrid& grid_;
  const GroupingLimits& limits_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> group_steps(const OutOfCoreGrid& grid, const GroupingLimits& limits) {
  return Grouping(grid, limits).steps();
}

}  // namespace sfft::detail
