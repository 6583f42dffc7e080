// SPDX-License-Identifier: Apache-2.0
// Chooses the passes for a shape, and keeps the most recently created ones.
#include "template/learning/spectrum_passes.hpp"
#include "template/data/envelope.hpp"
#include "template/learning/axis_runs.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace sfft::detail {

namespace {

constexpr int kLanes = 8;

void clear_lane(const TwoPassFft<double>::Group& group, std::int64_t columns, int lane) {
  for (std::int64_t c = 0; c < columns; ++c) group.re[c * kLanes + lane] = group.im[c * kLanes + lane] = 0;
}

}  // namespace

LinePasses::LinePasses(std::int64_t points, bool real) : points_(points), real_(real), fft_(points, real) {
  for (const AxisRun& run : axis_runs(points, false))
    runs_.push_back({run.end / fft_.rows(), run.end % fft_.rows(), run.cell});
}

void LinePasses::first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
                       std::byte* scratch) const {
  fft_.first(part, signal, type, reinterpret_cast<double*>(between), reinterpret_cast<double*>(scratch));
}

void LinePasses::scan_own_conjugates(const TwoPassFft<double>::Group& group, int lane,
                                     PartialSelection& selection) const {
  const CellAxis axis(points_);
  for (std::int64_t f = group.first_row + lane, at = lane; 2 * f <= points_; f += fft_.rows(), at += kLanes) {
    const bool own = f == 0 || 2 * f == points_;
    selection.offer(f, {group.re[at], group.im[at]}, axis.cell(f), own ? 1 : 2);
  }
}

void LinePasses::second(std::int64_t part, std::byte* between, std::byte* scratch,
                        PartialSelection& selection) const {
  auto* const offsets = reinterpret_cast<std::int64_t*>(scratch + fft_scratch_bytes());
  const std::int64_t rows = fft_.rows();
  const std::int64_t columns = fft_.columns();
  const TwoPassFft<double>::Group group =
      fft_.second(part, reinterpret_cast<double*>(between), reinterpret_cast<double*>(scratch));
  if (part == 0) selection.mean = {group.re[0], group.im[0]};
  // Lanes that the scan below must not count are zeroed, and their candidates are not offered.
  unsigned counted = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int64_t row = group.first_row + lane;
    const bool own_conjugates = real_ && (row == 0 || 2 * row == rows);
    if (own_conjugates && lane >= group.repeated) scan_own_conjugates(group, lane, selection);
    if (own_conjugates || lane < group.repeated) {
      clear_lane(group, columns, lane);
    } else {
      counted |= 1U << lane;
    }
  }
  const auto offer = [&](std::int64_t offset, std::int32_t cell) {
    const auto lane = offset % kLanes;
    if ((counted >> lane & 1U) == 0) return;
    const std::int64_t f = group.first_row + lane + rows * (offset / kLanes);
    const std::complex<double> value(group.re[offset], group.im[offset]);
    if (!real_) return selection.offer(f, value, cell, 1);
    2 * f <= points_ ? selection.offer(f, value, cell, 2)
                     : selection.offer(points_ - f, std::conj(value), cell, 2);
  };
  std::int64_t begin = 0;
  for (const RunEnd& run : runs_) {
    const std::int64_t end =
        run.column * kLanes + std::clamp<std::int64_t>(run.row - group.first_row, 0, kLanes);
    if (end == begin) continue;
    selection.scan({group.re + begin, group.im + begin, 0, 1, end - begin, run.cell, real_ ? 2 : 1}, offsets,
                   [&](std::int64_t offset) { offer(begin + offset, run.cell); });
    begin = end;
  }
}

void LinePasses::store(std::int64_t part, std::byte* between, std::byte* scratch,
                       std::complex<double>* spectrum) const {
  const std::int64_t rows = fft_.rows();
  const TwoPassFft<double>::Group group =
      fft_.second(part, reinterpret_cast<double*>(between), reinterpret_cast<double*>(scratch));
  for (std::int64_t c = 0; c < fft_.columns(); ++c) {
    for (std::int64_t lane = group.repeated; lane < kLanes; ++lane) {
      const std::int64_t f = group.first_row + lane + rows * c;
      const std::complex<double> value(group.re[c * kLanes + lane], group.im[c * kLanes + lane]);
      if (real_ && 2 * f > points_) {
        spectrum[points_ - f] = std::conj(value);
      } else {
        spectrum[f] = value;
      }
    }
  }
}

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
