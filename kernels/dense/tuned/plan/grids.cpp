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

Side Layout::Between::columns() const {
  Side side = rows;
  side.outer = plane;
  side.inner = 1;
  side.element = pitch;
  return side;
}

/// Adds forward steps as kernels, in the order of the direction. The last two alternate over groups if the
/// policy says so.
void Layout::add(const std::vector<Step>& steps, std::int64_t alternating_groups) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool alternating = alternates() && i + 2 >= steps.size();
    program_.kernels.push_back(kernel(steps[i], alternating ? alternating_groups : problem_.batch));
  }
  if (alternates()) program_.alternating_from = request_.inverse ? 0 : steps.size() - 2;
  if (request_.inverse) std::reverse(program_.kernels.begin(), program_.kernels.end());
}

/// The rows of groups of planes. The caller sets the sides.
Step Layout::rows(std::int64_t planes) const {
  const std::int64_t height = grid_.height();
  Step s = step(grid_.rank() - 1, {.points = row_values_, .inner = planes * height});
  if (!problem_.real) return s;
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

Step Layout::columns(std::int64_t planes) const {
  return step(grid_.rank() - 2, {.points = grid_.height(),
                                 .outer = planes,
                                 .inner = row_values_,
                                 .load_interleaved = true,
                                 .store_interleaved = true});
}

/// The spectra, half or whole, as the step of the rows writes them.
Side Layout::spectra(std::int64_t planes) const {
  const std::int64_t plane = grid_.height() * half_values_;
  return {.buffer = spectrum_buffer(),
          .group = planes * plane,
          .outer = problem_.real ? plane : 0,
          .inner = half_values_,
          .form = spectrum_form()};
}

/// The data between columns and rows are in the output, in scratch memory with rows of whole cache lines, or
/// in a ring buffer. A group is `planes` planes.
Layout::Between Layout::between(std::int64_t planes, std::int64_t groups) {
  const bool apart = (alternates() && policy_.ring_buffer) || problem_.real || pitch_ != row_values_ ||
                     (request_.inverse && !problem_.contiguous());  // columns move in that case
  Between data;
  data.in_output = !apart;
  data.pitch = apart ? pitch_ : row_values_;
  data.plane = grid_.height() * data.pitch;
  data.rows = {.buffer = apart ? Buffer::scratch : Buffer::output,
               .group = planes * data.plane,
               .outer = problem_.real ? data.plane : 0,
               .inner = data.pitch};
  if (alternates()) data.rows.ring_groups = alternate(groups);
  if (alternates() || apart)
    program_.scratch_values = data.rows.group * (alternates() ? data.rows.ring_groups : problem_.batch);
  return data;
}

void Layout::line() {
  Step row = step(0, {.points = row_values_, .inner = 0});
  set_pairs(row);
  const std::int64_t stride = grid_.strides[0];
  row.load_interleaved = !problem_.real && stride > 1 && grid_.batch_stride == 1;
  set_sides(row, samples(0, grid_.batch_stride, stride * pair()),
            {.buffer = spectrum_buffer(), .inner = half_values_, .form = spectrum_form()});
  program_.kernels = {kernel(row, problem_.batch)};
}

void Layout::plane() {
  const Between data = between(1, problem_.batch);
  Step column = columns(1), row = rows(1);
  set_pairs(column);
  set_sides(column, samples(grid_.batch_stride, pair() * grid_.strides[1], grid_.strides[0]), data.columns());
  set_sides(row, data.rows, spectra(1));
  add({column, row}, problem_.batch);
}

void Layout::volume() {
  const std::int64_t depth = grid_.extents[0];
  const Between data = between(depth, problem_.batch);
  Step deep, column = columns(depth), row = rows(depth);
  if (data.in_output) {
    deep = across_planes();
  } else {
    deep = step(0, {.points = depth,
                    .outer = grid_.height(),
                    .inner = row_values_,
                    .load_interleaved = true,
                    .store_interleaved = true});
    Side before = samples(grid_.batch_stride, pair(), grid_.strides[0]), after = data.rows;
    before.outer = grid_.strides[1];
    after.outer = data.pitch;
    after.inner = 1;
    after.element = data.plane;
    set_sides(deep, before, after);
  }
  set_pairs(deep);
  set_sides(column, data.columns(), data.columns());
  set_sides(row, data.rows, spectra(depth));
  add({deep, column, row}, problem_.batch);
}

/// A volume whose columns and rows alternate over planes. The rows of a real volume need mirrored planes, so
/// they cannot run plane by plane.
void Layout::volume_in_planes() {
  if (problem_.real) throw Error(ErrorCode::invalid_argument, "the steps of real volumes do not alternate");
  const std::int64_t groups = problem_.batch * grid_.extents[0];
  const Between data = between(1, groups);
  Step deep = across_planes(), column = columns(1), row = rows(1);
  set_pairs(deep);
  const Side in_output{
      .buffer = Buffer::output, .group = grid_.height() * row_values_, .inner = 1, .element = row_values_};
  set_sides(column, in_output, data.columns());
  set_sides(row, data.rows, spectra(1));
  add({deep, column, row}, groups);
}

/// The lines across the planes of a contiguous volume, from the samples to the output, with their sides.
Step Layout::across_planes() const {
  const std::int64_t depth = grid_.extents[0], plane = grid_.height() * row_values_;
  Step s = step(0, {.points = depth, .inner = plane, .load_interleaved = true, .store_interleaved = true});
  set_sides(s, samples(grid_.batch_stride, pair(), grid_.strides[0]),
            {.buffer = Buffer::output, .group = depth * plane, .inner = 1, .element = plane});
  return s;
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
  Step first = step(0, {.points = y1 * width, .inner = y2});
  set_rows(first, y1);
  first.twiddle = {.modulus = y1 * y2, .inner = 1};
  first.in = {.buffer = Buffer::input,
              .group = plane,
              .inner = width,
              .element = {1, static_cast<int>(width), y2 * width}};
  first.out = {.buffer = Buffer::scratch, .group = plane, .inner = group, .element = {1, group, y2 * group}};
  Step second = step(1, {.points = y2 * depth,
                         .outer = y1,
                         .inner = width,
                         .load_interleaved = true,
                         .store_interleaved = true});
  set_rows(second, static_cast<int>(depth));
  second.in = {.buffer = Buffer::scratch,
               .group = volume,
               .outer = y2 * width,
               .inner = {1, group, y2 * group},
               .element = {group, y2, plane}};
  second.out = {.buffer = Buffer::output,
                .group = volume,
                .outer = width,
                .inner = 1,
                .element = {y1 * width, y2, plane}};
  program_.one_by_one = volume >= kLargeVolume;
  const std::int64_t volumes = program_.one_by_one ? 1 : problem_.batch;
  program_.scratch_values = volume * volumes;
  program_.kernels = {kernel(first, volumes * depth), kernel(second, volumes)};
}

}  // namespace sfft::detail::tuned
