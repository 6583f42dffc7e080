// SPDX-License-Identifier: Apache-2.0
// Makes the steps of signals of 1 to 3 dimensions, each of which fits in a block, and of volumes in two
// steps.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/dense/tuned/plan/layout.hpp"
#include "kernels/dense/tuned/policy/limits.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::tuned {

namespace {

/// Volumes of at least this many points run one by one, so that a batch needs the workspace of one. 384³
/// becomes 1.6 % slower; 256³ would become 4 % slower.
constexpr std::int64_t kLargeVolume = 1 << 25;

}  // namespace

std::int64_t Layout::rows_of_grid() const {
  std::int64_t rows = 1;
  for (const std::int64_t extent : across_) rows *= extent;
  return rows;
}

/// Adds forward steps as kernels, in the order of the direction. The last two alternate over groups if the
/// policy says so.
void Layout::add(std::vector<Step> steps, std::int64_t alternating_groups) {
  const bool alternates = policy_.alternating_groups > 0 && steps.size() > 1;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool alternating = alternates && i + 2 >= steps.size();
    program_.kernels.push_back(kernel(steps[i], alternating ? alternating_groups : problem_.batch));
  }
  if (alternates) program_.alternating_from = request_.inverse ? 0 : steps.size() - 2;
  if (request_.inverse) std::reverse(program_.kernels.begin(), program_.kernels.end());
}

/// The step of the rows, or of the only dimension. The caller sets its sides.
Step Layout::rows(std::size_t index, bool by_plane) const {
  const std::int64_t planes = across_.size() > 1 && !by_plane ? across_[0] : 1;
  const std::int64_t height = across_.empty() ? 0 : across_.back();
  Step s = step(index, row_values_, 1, planes * height, false, false);
  if (!problem_.real || across_.empty()) return s;
  s.mirror_rows = height;
  s.mirror_planes = planes;
  s.outer = planes;
  s.inner = height;
  if (pairs_) {
    s.outer = planes > 1 ? planes / 2 + 1 : 1;
    s.inner = planes > 1 ? 2 * height : 2 * (height / 2 + 1);
  }
  return s;
}

void Layout::grid() {
  const std::size_t count = grid_.rank();
  const bool alternates = policy_.alternating_groups > 0 && count > 1;
  // The rows of a volume's real transform need mirrored planes, so they cannot run plane by plane.
  const bool by_plane = alternates && count == 3;
  if (by_plane && problem_.real)
    throw Error(ErrorCode::invalid_argument, "the steps of real volumes do not alternate");
  Step row = rows(count - 1, by_plane);
  const std::int64_t spectrum = rows_of_grid() * half_values_;
  const Form half = !problem_.real ? Form::complex : (pairs_ ? Form::half_pairs : Form::half);
  Side after{spectra(), spectrum, 0, half_values_, 1};
  after.form = half;
  if (count == 1) {
    set_pairs(row);
    if (!problem_.real && grid_.strides.back() > 1 && grid_.batch_stride == 1) row.load_interleaved = true;
    Side before = samples(0, grid_.batch_stride, grid_.strides.back() * (pairs_ ? 2 : 1));
    after.group = 0;
    after.inner = half_values_;
    set_sides(row, before, after);
    return add({row}, 0);
  }
  if (row.mirror_rows > 0) after.outer = across_.back() * half_values_;
  // The data between the steps are in the output, in scratch memory with rows of whole cache lines, or in a
  // ring buffer.
  const bool own = (alternates && policy_.ring_buffer) || problem_.real || pitch_ != row_values_ ||
                   (request_.inverse && !problem_.contiguous());  // columns move in that case
  const std::int64_t plane = across_.back() * (own ? pitch_ : row_values_),
                     volume = plane * (count == 3 ? across_[0] : 1);
  Side middle{own ? Buffer::scratch : Buffer::output, volume, 0, own ? pitch_ : row_values_, 1};
  if (row.mirror_rows > 0) middle.outer = plane;
  const std::int64_t alternating_groups = problem_.batch * (by_plane ? across_[0] : 1);
  Side between = middle;
  if (alternates) {
    between.ring_groups = alternate(alternating_groups);
    between.group = by_plane ? plane : volume;
    program_.scratch_values = between.group * between.ring_groups;
  } else if (own) {
    program_.scratch_values = volume * problem_.batch;
  }
  if (by_plane) after.group = across_.back() * half_values_;
  set_sides(row, between, after);
  // These are the columns of a plane.
  const std::int64_t pitch = middle.inner.stride;
  Step column =
      step(count - 2, across_.back(), count == 3 && !by_plane ? across_[0] : 1, row_values_, true, true);
  Side tall = between;
  tall.inner = 1;
  tall.element = pitch;
  tall.outer = plane;
  const std::int64_t pair = pairs_ ? 2 : 1;
  if (count == 2) {
    set_pairs(column);
    set_sides(column, samples(grid_.batch_stride, pair * grid_.strides[1], grid_.strides[0]), tall);
    return add({column, row}, alternating_groups);
  }
  // Lines across the planes of a contiguous volume go from the samples to where the columns expect them.
  const std::int64_t flat = across_.back() * row_values_;
  const Side lying{Buffer::output, flat, 0, 1, row_values_};  // a plane, unpadded, in the output
  Step deep;
  if (own && !by_plane) {
    deep = step(0, across_[0], across_.back(), row_values_, true, true);
    Side before = samples(grid_.batch_stride, pair, grid_.strides[0]), to = middle;
    before.outer = grid_.strides[1];
    to.outer = pitch;
    to.inner = 1;
    to.element = plane;
    set_sides(deep, before, to);
    set_sides(column, tall, tall);
  } else {
    deep = step(0, across_[0], 1, flat, true, true);
    const Side to{Buffer::output, flat * across_[0], 0, 1, flat};
    set_sides(deep, samples(grid_.batch_stride, pair, grid_.strides[0]), to);
    set_sides(column, by_plane ? lying : tall, tall);
  }
  set_pairs(deep);
  add({deep, column, row}, alternating_groups);
}

/// Transforms Z·Y·X points, Y = Y1·Y2, in two passes through memory. The first step transforms lines of two
/// dimensions, Y1 and X. Then come the twiddle factors between Y1 and Y2, and a step over Z and Y2. The data
/// between the steps lie in blocks of Y2 by the second step's number of lines, along X. Runs as short as
/// these neighbours are only written, never read. Nukada et al. (2008) factor Y and Z and use five steps that
/// fit in registers. Here, tiles in shared memory hold X with one part of Y, and Z with the other.
void Layout::volume_in_two_steps() {
  const std::int64_t depth = grid_.extents[0], width = grid_.row(), plane = grid_.extents[1] * width,
                     volume = depth * plane;
  const int y1 = policy_.factors[0], y2 = policy_.factors[1], group = policy_.kernels[1].transforms_per_block;
  const auto set_rows = [&](Step& s, int rows) {
    if (s.method != Method::plain || s.policy.column_passes(rows) == 0 || s.stages()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} rows are transformed by radices of columns, then of rows", rows));
    }
    s.rows = rows;
  };
  if (width % group != 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("rows of {} in groups of {}", width, group));
  if (y1 * width > kMaxLength || y2 * depth > kMaxLength)
    throw Error(ErrorCode::invalid_argument, fmt::format("grids of {} and {}", y1 * width, y2 * depth));
  Step first = step(0, y1 * width, 1, y2, false, false);
  set_rows(first, y1);
  first.twiddle = {.modulus = y1 * y2, .inner = 1};
  first.in = {Buffer::input, plane, 0, width, {1, static_cast<int>(width), y2 * width}};
  first.out = {Buffer::scratch, plane, 0, group, {1, group, y2 * group}};
  Step second = step(1, y2 * depth, y1, width, true, true);
  set_rows(second, static_cast<int>(depth));
  second.in = {Buffer::scratch, volume, y2 * width, {1, group, y2 * group}, {group, y2, plane}};
  second.out = {Buffer::output, volume, width, 1, {y1 * width, y2, plane}};
  program_.one_by_one = volume >= kLargeVolume;
  const std::int64_t volumes = program_.one_by_one ? 1 : problem_.batch;
  program_.scratch_values = volume * volumes;
  program_.kernels = {kernel(first, volumes * depth), kernel(second, volumes)};
}

}  // namespace sfft::detail::tuned
