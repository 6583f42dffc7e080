// SPDX-License-Identifier: Apache-2.0
// Chooses the passes for a shape, and keeps the most recently created ones.
#include "template/learning/spectrum_passes.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "template/learning/grid_passes.hpp"
#include "template/learning/line_passes.hpp"

namespace sfft::detail {

namespace {

constexpr std::size_t kMaxPasses = 8;
/// Tables grow with the longest side of a grid, and with the square root of a long line.
constexpr std::int64_t kLongestSide = 1 << 13;

struct Entry {
  Shape shape;
  bool real;
  std::shared_ptr<const SpectrumPasses> passes;
};

bool has_small_tables(const Shape& shape) {
  if (shape.rank() == 1 && two_pass_possible(shape[0])) return true;
  // In 3D every row has its own runs of columns, so no side may be long.
  const auto extents = shape.extents();
  return std::all_of(extents.begin(), extents.end(), [](std::int64_t n) { return n <= kLongestSide; });
}

std::shared_ptr<const SpectrumPasses> make_passes(const Shape& shape, bool real) {
  if (shape.rank() > 1) return std::make_shared<const GridPasses>(shape, real);
  if (two_pass_possible(shape[0])) return std::make_shared<const LinePasses>(shape[0], real);
  return std::make_shared<const WholePasses>(shape, real);
}

}  // namespace

std::shared_ptr<const SpectrumPasses> spectrum_passes(const Shape& shape, bool real) {
  static std::mutex mutex;
  static std::vector<Entry> entries;  // in order of creation
  const auto same = [&](const Entry& entry) { return entry.real == real && entry.shape == shape; };
  {
    const std::lock_guard lock(mutex);
    const auto found = std::find_if(entries.begin(), entries.end(), same);
    if (found != entries.end()) return found->passes;
  }
  auto passes = make_passes(shape, real);
  if (!has_small_tables(shape)) return passes;
  const std::lock_guard lock(mutex);
  if (std::find_if(entries.begin(), entries.end(), same) != entries.end()) return passes;
  if (entries.size() == kMaxPasses) entries.erase(entries.begin());
  entries.push_back({shape, real, passes});
  return passes;
}

}  // namespace sfft::detail
