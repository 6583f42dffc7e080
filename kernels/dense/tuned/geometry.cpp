// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense/tuned/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/dense/tuned/grid.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::tuned {

namespace {

/// Points of volumes that go one by one, so that a batch needs the workspace of one. 384³ becomes 1.6 %
/// slower, 256³ would 4 %.
constexpr std::int64_t kLargeVolume = 1 << 25;

/// Lines across the slowest dimension first, rows last: then strided writes, which cost more than strided
/// reads, stay within what is aligned to cache lines, and rows of odd length are written as a whole. The
/// steps need no transposition (multirow FFTs, Nukada et al. 2008).
class Layout {
 public:
  Layout(const Request& request, const Choice& choice)
      : request_(request), problem_(request.problem), choice_(choice), grid_(request.problem) {
    pairs_ = problem_.real && grid_.row() % 2 == 0;
    half_values_ = problem_.real ? grid_.row() / 2 + 1 : grid_.row();
    row_values_ = pairs_ ? grid_.row() / 2 : grid_.row();
    pitch_ = round_up(row_values_, line_values(request.single));
    across_.assign(grid_.extents.begin(), grid_.extents.end() - 1);
    check_choice();
  }

  Program program() {
    if (choice_.split.empty()) {
      grid();
    } else if (grid_.rank() == 3) {
      volume_in_two_steps();
    } else {
      choice_.split.size() == 2 ? two_steps() : three_steps();
    }
    finish();
    return std::move(program_);
  }

 private:
  void check_choice() const {
    const auto refuse = [&](const char* why) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("kernels that do not fit {}: {}", problem_.shape.to_string(), why));
    };
    const std::vector<int>& split = choice_.split;
    if (choice_.lines.size() != (split.empty() ? grid_.rank() : split.size())) refuse("other lines");
    if (grid_.rank() == 3 && !problem_.contiguous()) refuse("volumes with strides");
    if (!choice_.ring && (choice_.at_once == 0 || !turns_in_place(problem_, request_.single, split)))
      refuse("steps by turns in place");
    if (split.empty()) return;
    if (grid_.rank() == 2 || problem_.real || !problem_.contiguous())
      refuse("only complex lines and volumes are split");
    const bool volume = grid_.rank() == 3;
    std::int64_t product = 1;
    for (const int factor : split) product *= factor;
    if (split.size() < 2 || split.size() > (volume ? 2 : 3) ||
        product != (volume ? grid_.extents[1] : grid_.row()))
      refuse("another length");
    if (volume && choice_.at_once > 0) refuse("two steps by turns");
  }

  Step step(std::size_t index, std::int64_t points, std::int64_t outer, std::int64_t inner, bool load_by_line,
            bool store_by_line, bool turned = false) const {
    Step s;
    s.points = static_cast<int>(points);
    s.line = choice_.lines.at(index);
    const std::optional<Method> method = method_of(s.points, s.line.length(), turned);
    if (!method) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("a kernel of {} points was chosen for lines of {}", s.line.length(), points));
    }
    s.method = *method;
    s.outer = outer;
    s.inner = inner;
    s.load_by_line = load_by_line;
    s.store_by_line = store_by_line;
    return s;
  }

  /// The step's sides in the direction asked for: `before` and `after` of the forward transform.
  void set_sides(Step& s, const Side& before, const Side& after) const {
    s.in = request_.inverse ? after : before;
    s.out = request_.inverse ? before : after;
    if (request_.inverse) std::swap(s.load_by_line, s.store_by_line);
  }

  /// Samples in the user's strides; `stride` is that of a line's elements, `next` that of lines.
  Side samples(std::int64_t group, std::int64_t next, std::int64_t stride) const {
    Side side{request_.inverse ? Buffer::output : Buffer::input, group, 0, next, stride};
    side.form = !problem_.real ? Form::complex : (pairs_ ? Form::pairs : Form::real);
    return side;
  }
  Buffer spectra() const { return request_.inverse ? Buffer::input : Buffer::output; }

  void set_element(Step& s) const {
    s.element = request_.element;
    s.pair_stride = grid_.strides.back();
    s.vector = s.pair_stride == 1 && grid_.batch_stride % 2 == 0 &&
               std::all_of(grid_.strides.begin(), grid_.strides.end() - 1,
                           [](std::int64_t x) { return x % 2 == 0; });
  }

  void grid();
  Step rows(std::size_t index, bool by_turns) const;
  void volume_in_two_steps();
  void two_steps();
  void three_steps();

  std::int64_t rows_of_grid() const {
    std::int64_t rows = 1;
    for (const std::int64_t extent : across_) rows *= extent;
    return rows;
  }

  /// Forward steps as kernels, in the order of the direction; the last two run by turns for groups where the
  /// choice says so.
  void add(std::vector<Step> steps, std::int64_t turn_groups) {
    const bool turns = choice_.at_once > 0 && steps.size() > 1;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool turning = turns && i + 2 >= steps.size();
      program_.kernels.push_back({steps[i], choice_.min_blocks, turning ? turn_groups : problem_.batch});
    }
    if (turns) program_.turns_from = request_.inverse ? 0 : static_cast<int>(steps.size()) - 2;
    if (request_.inverse) std::reverse(program_.kernels.begin(), program_.kernels.end());
  }

  /// Two steps by turns, no more at once than there is work for. Returns the slots of the ring between them;
  /// 0: there is none.
  int take_turns(std::int64_t groups) {
    program_.turns = 2;
    program_.at_once = static_cast<int>(std::min<std::int64_t>(choice_.at_once, groups));
    const std::int64_t turns = (groups + program_.at_once - 1) / program_.at_once;
    program_.streams = static_cast<int>(std::min<std::int64_t>(choice_.streams, turns));
    return choice_.ring ? program_.at_once * program_.streams : 0;
  }

  /// What earlier steps would leave in the output lies behind the rest of the scratch memory.
  void keep_part() {
    const std::int64_t behind = program_.scratch_values;
    const auto move = [&](Side& side) {
      if (side.buffer != Buffer::output) return;
      side.buffer = Buffer::scratch;
      side.offset += behind;
      program_.scratch_values = behind + problem_.spectrum_points() * problem_.batch;
    };
    for (std::size_t k = 0; k < program_.kernels.size(); ++k) {
      if (k > 0) move(program_.kernels[k].step.in);
      if (k + 1 < program_.kernels.size()) move(program_.kernels[k].step.out);
    }
    program_.kernels.back().keep = request_.keep;
    program_.kernels.back().spectrum = problem_.spectrum_points();
  }

  /// An inverse transform is a forward one with parts exchanged before and after; the last step scales. Of
  /// real ones the steps over complex lines are such transforms, and the rows by themselves.
  void finish() {
    const std::size_t kernels = program_.kernels.size();
    program_.kernels.back().step.scale = true;
    for (const Kernel& kernel : program_.kernels) check_line(kernel.step);
    if (program_.turns > 0) {
      const auto first = static_cast<std::size_t>(program_.turns_from);
      program_.kernels[first].step.out.between = program_.kernels[first + 1].step.in.between = true;
    }
    if (request_.keep != device::Keep::all) keep_part();
    if (!request_.inverse) return;
    program_.kernels.front().step.swap_in = true;
    program_.kernels.back().step.swap_out = true;
    if (!problem_.real || kernels == 1) return;
    // The rows leave their results unexchanged, since tangling is not linear over complex numbers.
    program_.kernels.front().step.swap_out = true;
    program_.kernels[1].step.swap_in = true;
  }

  /// What the kernels rely on (line_fft.cuh, tile_fft.cuh).
  static void check_line(const Step& s) {
    if (s.load_by_line != s.store_by_line && s.line.radices.size() < 2)
      throw Error(ErrorCode::invalid_argument, "lines that are exchanged between threads need two radices");
    if (s.mirror_rows > 0 && s.line.lines % 2 != 0 &&
        (s.in.form == Form::half_pairs || s.out.form == Form::half_pairs))
      throw Error(ErrorCode::invalid_argument, "rows that mirror each other need tiles of an even number");
  }

  const Request& request_;
  const DenseProblem& problem_;
  const Choice& choice_;
  Grid grid_;
  std::vector<std::int64_t> across_;  ///< extents but the last
  bool pairs_ = false;
  std::int64_t half_values_ = 0, row_values_ = 0, pitch_ = 0;
  Program program_;
};

/// Rows, or the only dimension; the other side of them is set by the caller.
Step Layout::rows(std::size_t index, bool by_turns) const {
  const std::int64_t planes = across_.size() > 1 && !by_turns ? across_[0] : 1;
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
  const bool turns = choice_.at_once > 0 && count > 1;
  // Rows of a volume's real transform need mirrored planes, so they cannot go plane by plane.
  const bool by_plane = turns && count == 3;
  if (by_plane && problem_.real) throw Error(ErrorCode::invalid_argument, "real volumes do not run by turns");
  Step row = rows(count - 1, by_plane);
  const std::int64_t spectrum = rows_of_grid() * half_values_;
  const Form half = !problem_.real ? Form::complex : (pairs_ ? Form::half_pairs : Form::half);
  Side after{spectra(), spectrum, 0, half_values_, 1};
  after.form = half;
  if (count == 1) {
    set_element(row);
    if (!problem_.real && grid_.strides.back() > 1 && grid_.batch_stride == 1) row.load_by_line = true;
    Side before = samples(0, grid_.batch_stride, grid_.strides.back() * (pairs_ ? 2 : 1));
    after.group = 0;
    after.inner = half_values_;
    set_sides(row, before, after);
    return add({row}, 0);
  }
  if (row.mirror_rows > 0) after.outer = across_.back() * half_values_;
  // Between the steps: in the output, or in scratch memory with rows of whole cache lines, or in a ring.
  const bool own = (turns && choice_.ring) || problem_.real || pitch_ != row_values_ ||
                   (request_.inverse && !problem_.contiguous());  // columns move then
  const std::int64_t plane = across_.back() * (own ? pitch_ : row_values_),
                     volume = plane * (count == 3 ? across_[0] : 1);
  Side middle{own ? Buffer::scratch : Buffer::output, volume, 0, own ? pitch_ : row_values_, 1};
  if (row.mirror_rows > 0) middle.outer = plane;
  const std::int64_t turn_groups = problem_.batch * (by_plane ? across_[0] : 1);
  Side turning = middle;
  if (turns) {
    turning.slots = take_turns(turn_groups);
    turning.group = by_plane ? plane : volume;
    program_.scratch_values = turning.group * turning.slots;
  } else if (own) {
    program_.scratch_values = volume * problem_.batch;
  }
  if (by_plane) after.group = across_.back() * half_values_;
  set_sides(row, turning, after);
  // Columns of a plane.
  const std::int64_t pitch = middle.inner.stride;
  Step column =
      step(count - 2, across_.back(), count == 3 && !by_plane ? across_[0] : 1, row_values_, true, true);
  Side tall = turning;
  tall.inner = 1;
  tall.element = pitch;
  tall.outer = plane;
  const std::int64_t pair = pairs_ ? 2 : 1;
  if (count == 2) {
    set_element(column);
    set_sides(column, samples(grid_.batch_stride, pair * grid_.strides[1], grid_.strides[0]), tall);
    return add({column, row}, turn_groups);
  }
  // Lines across planes: of contiguous volumes, from the samples to where the columns find them.
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
  set_element(deep);
  add({deep, column, row}, turn_groups);
}

/// Z·Y·X points, Y = Y1·Y2, in two trips through memory: lines of two dimensions, Y1 and X, then, behind the
/// twiddle factors between Y1 and Y2, Z and Y2. What is between them lies in blocks of Y2 by as many
/// neighbours along X as the second step has lines: what is as short as these neighbours is written, never
/// read. Nukada et al. (2008) split Y and Z and make five steps of what registers hold; tiles in shared
/// memory hold X with one part of Y, and Z with the other.
void Layout::volume_in_two_steps() {
  const std::int64_t depth = grid_.extents[0], width = grid_.row(), plane = grid_.extents[1] * width,
                     volume = depth * plane;
  const int y1 = choice_.split[0], y2 = choice_.split[1], beside = choice_.lines[1].lines;
  const auto set_rows = [&](Step& s, int rows) {
    if (s.method != Method::plain || s.line.radices_of_columns(rows) == 0 || s.stages()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} rows are transformed by radices of columns, then of rows", rows));
    }
    s.extent = rows;
  };
  if (width % beside != 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("rows of {} in groups of {}", width, beside));
  if (y1 * width > kMostLength || y2 * depth > kMostLength)
    throw Error(ErrorCode::invalid_argument, fmt::format("grids of {} and {}", y1 * width, y2 * depth));
  Step first = step(0, y1 * width, 1, y2, false, false);
  set_rows(first, y1);
  first.turn = {.modulus = y1 * y2, .inner = 1};
  first.in = {Buffer::input, plane, 0, width, {1, static_cast<int>(width), y2 * width}};
  first.out = {Buffer::scratch, plane, 0, beside, {1, beside, y2 * beside}};
  Step second = step(1, y2 * depth, y1, width, true, true);
  set_rows(second, static_cast<int>(depth));
  second.in = {Buffer::scratch, volume, y2 * width, {1, beside, y2 * beside}, {beside, y2, plane}};
  second.out = {Buffer::output, volume, width, 1, {y1 * width, y2, plane}};
  program_.one_by_one = volume >= kLargeVolume;
  const std::int64_t volumes = program_.one_by_one ? 1 : problem_.batch;
  program_.scratch_values = volume * volumes;
  program_.kernels = {{first, choice_.min_blocks, volumes * depth}, {second, choice_.min_blocks, volumes}};
}

/// N = N1·N2: lines of N1 points N2 apart, a turn, lines of N2 points; results N1 apart (the four-step
/// method, Bailey 1990). Complex inverses are the same between two exchanges.
void Layout::two_steps() {
  const std::int64_t n1 = choice_.split[0], n2 = choice_.split[1], n = n1 * n2;
  const std::int64_t pitch = round_up(n2, line_values(request_.single));
  const bool turns = choice_.at_once > 0;
  const int slots = turns ? take_turns(problem_.batch) : 0;
  Step first = step(0, n1, 1, n2, true, true, true);
  first.turn = {.modulus = n, .inner = 1};
  first.in = {Buffer::input, n, 0, 1, n2};
  first.out = {Buffer::scratch, n1 * pitch, 0, 1, pitch, slots};
  Step second = step(1, n2, 1, n1, false, true);
  second.in = {Buffer::scratch, n1 * pitch, 0, pitch, 1, slots};
  second.out = {Buffer::output, n, 0, 1, n1};
  program_.scratch_values = n1 * pitch * (turns ? slots : problem_.batch);
  program_.kernels = {{first, choice_.min_blocks, problem_.batch},
                      {second, choice_.min_blocks, problem_.batch}};
}

/// N = N1·N2·N3. The first step leaves its results in the order of the outputs, so that the other two find
/// `chunk` neighbours; they work on groups of so many outputs, which stay in the L2 cache.
void Layout::three_steps() {
  const std::int64_t n1 = choice_.split[0], n2 = choice_.split[1], n3 = choice_.split[2];
  const std::int64_t rest = n2 * n3, n = n1 * rest, chunk = choice_.chunk;
  if (n1 % chunk != 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} outputs in groups of {}", n1, chunk));
  const bool turns = choice_.at_once > 0;
  const std::int64_t groups = n1 / chunk;
  const int slots = turns ? take_turns(groups) : 0;
  program_.turns_from = turns ? 1 : 0;
  Step first = step(0, n1, 1, rest, true, false, true);
  first.turn = {.modulus = n, .inner = 1};
  first.in = {Buffer::input, n, 0, 1, rest};
  first.out = {Buffer::scratch, n, 0, n1, 1};
  Step second = step(1, n2, n3, chunk, true, true, true);
  second.turn = {.modulus = rest, .outer = 1};
  second.in = {Buffer::scratch, chunk, n1, 1, n3 * n1};
  Step third = step(2, n3, n2, chunk, true, true);
  third.out = {Buffer::output, chunk, n1, 1, n1 * n2};
  if (slots > 0) {
    second.out = {Buffer::scratch, rest * chunk, chunk, 1, n3 * chunk, slots, n};
    third.in = {Buffer::scratch, rest * chunk, n3 * chunk, 1, chunk, slots, n};
  } else {
    second.out = second.in;
    third.in = {Buffer::scratch, chunk, n3 * n1, 1, n1};
  }
  program_.kernels = {{first, choice_.min_blocks, 1},
                      {second, choice_.min_blocks, groups},
                      {third, choice_.min_blocks, groups}};
  program_.scratch_values = n + rest * chunk * slots;
  program_.one_by_one = true;  // groups are parts of one transform
}

}  // namespace

Program lay_out(const Request& request, const Choice& choice) {
  return Layout(request, choice).program();
}

}  // namespace sfft::detail::tuned
