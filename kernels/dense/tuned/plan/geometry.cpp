// SPDX-License-Identifier: Apache-2.0
// Checks that a policy fits the problem, makes its steps with their sides in memory, and finishes them:
// alternation, exchanges for the inverse, and scaling.
#include "kernels/dense/tuned/plan/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/dense/tuned/plan/layout.hpp"
#include "kernels/dense/tuned/plan/needs.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::tuned {

namespace {

/// Checks what the kernels rely on (device/line_fft.cuh, device/tile_fft.cuh).
void check_line(const Step& s) {
  if (s.load_interleaved != s.store_interleaved && s.policy.radices.size() < 2)
    throw Error(ErrorCode::invalid_argument, "lines that are exchanged between threads need two radices");
  if (s.mirrored_pairs() && s.policy.transforms_per_block % 2 != 0)
    throw Error(ErrorCode::invalid_argument, "rows that mirror each other need tiles of an even number");
}

void check_product(const Step& s) {
  if (s.multiplies() && !s.can_multiply())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("tensor cores transform batches of f16 lines of up to {} points", kMaxOfProduct));
}

}  // namespace

Layout::Layout(const Request& request, const TransformPolicy& policy)
    : request_(request), problem_(request.problem), policy_(policy), grid_(request.problem) {
  pairs_ = problem_.real && grid_.row() % 2 == 0;
  half_values_ = problem_.real ? grid_.row() / 2 + 1 : grid_.row();
  row_values_ = pairs_ ? grid_.row() / 2 : grid_.row();
  pitch_ = round_up(row_values_, cache_line_values(request.single));
  check_policy();
}

Program Layout::program() {
  const bool whole = policy_.factors.empty();  // every dimension fits in a block
  switch (grid_.rank()) {
    case 1:
      whole ? line() : policy_.factors.size() == 2 ? two_steps() : three_steps();
      break;
    case 2:
      plane();
      break;
    default:
      !whole ? volume_in_two_steps() : alternates() ? volume_in_planes() : volume();
  }
  finish();
  return std::move(program_);
}

void Layout::check_policy() const {
  const auto refuse = [&](const char* why) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("kernels that do not fit {}: {}", problem_.shape.to_string(), why));
  };
  const std::vector<int>& factors = policy_.factors;
  if (policy_.kernels.size() != (factors.empty() ? grid_.rank() : factors.size()))
    refuse("another number of kernels");
  if (grid_.rank() == 3 && !problem_.contiguous()) refuse("volumes with strides");
  if (!policy_.ring_buffer &&
      (policy_.alternating_groups == 0 || !alternates_in_place(problem_, request_.single, factors)))
    refuse("steps that alternate in place");
  if (factors.empty()) return;
  if (grid_.rank() == 2 || problem_.real || !problem_.contiguous())
    refuse("only complex lines and volumes have factors");
  const bool volume = grid_.rank() == 3;
  std::int64_t product = 1;
  for (const int factor : factors) product *= factor;
  if (factors.size() < 2 || factors.size() > (volume ? 2 : 3) ||
      product != (volume ? grid_.extents[1] : grid_.row()))
    refuse("factors of another length");
  if (volume && policy_.alternating_groups > 0) refuse("two steps of a volume that alternate");
}

Step Layout::step(std::size_t kernel, const StepLines& lines) const {
  Step s;
  s.points = static_cast<int>(lines.points);
  s.policy = policy_.kernels.at(kernel);
  const std::optional<Method> method = method_of(s.points, s.policy.length(), lines.twiddled);
  if (!method) {
    throw Error(ErrorCode::invalid_argument, fmt::format("a kernel of {} points was chosen for lines of {}",
                                                         s.policy.length(), lines.points));
  }
  s.method = *method;
  s.outer = lines.outer;
  s.inner = lines.inner;
  s.load_interleaved = lines.load_interleaved;
  s.store_interleaved = lines.store_interleaved;
  return s;
}

void Layout::set_sides(Step& s, const Side& before, const Side& after) const {
  s.in = request_.inverse ? after : before;
  s.out = request_.inverse ? before : after;
  if (request_.inverse) std::swap(s.load_interleaved, s.store_interleaved);
}

Side Layout::samples(std::int64_t group, std::int64_t next, std::int64_t stride) const {
  Side side{.buffer = request_.inverse ? Buffer::output : Buffer::input,
            .group = group,
            .inner = next,
            .element = stride};
  side.form = !problem_.real ? Form::complex : pairs_ ? Form::pairs : Form::real;
  return side;
}

void Layout::set_pairs(Step& s) const {
  s.pair_stride = grid_.strides.back();
  s.vector =
      s.pair_stride == 1 && grid_.batch_stride % 2 == 0 &&
      std::all_of(grid_.strides.begin(), grid_.strides.end() - 1, [](std::int64_t x) { return x % 2 == 0; });
}

Kernel Layout::kernel(const Step& step, std::int64_t groups) const {
  const auto holds_samples = [](const Side& side) {
    return side.form == Form::pairs || side.form == Form::real;
  };
  Kernel made;
  made.step = step;
  if (holds_samples(step.in) || holds_samples(step.out)) made.element = request_.element;
  made.min_blocks_per_multiprocessor = policy_.min_blocks_per_multiprocessor;
  made.groups = groups;
  return made;
}

int Layout::alternate(std::int64_t groups) {
  program_.alternating = true;
  program_.alternating_groups = std::min<std::int64_t>(policy_.alternating_groups, groups);
  const std::int64_t rounds = (groups + program_.alternating_groups - 1) / program_.alternating_groups;
  program_.streams = static_cast<int>(std::min<std::int64_t>(policy_.streams, rounds));
  return policy_.ring_buffer ? static_cast<int>(program_.alternating_groups) * program_.streams : 0;
}

/// Moves the data that earlier steps would leave in the output to the end of the scratch memory.
void Layout::leave_output() {
  const std::int64_t behind = program_.scratch_values;
  const auto move = [&](Side& side) {
    if (side.buffer != Buffer::output) return;
    side.buffer = Buffer::scratch;
    side.base += behind;
    program_.scratch_values = behind + problem_.spectrum_points() * problem_.batch;
  };
  for (std::size_t k = 0; k < program_.kernels.size(); ++k) {
    if (k > 0) move(program_.kernels[k].step.in);
    if (k + 1 < program_.kernels.size()) move(program_.kernels[k].step.out);
  }
}

void Layout::keep_part() {
  leave_output();
  program_.kernels.back().step.keep = request_.keep;
  program_.kernels.back().step.spectrum = problem_.spectrum_points();
}

/// Keeps f16 values between steps below the largest f16. With |x| <= peak, lines of n points have results of
/// at most n·√2·peak, and twice that where rows of two real columns become pairs.
void Layout::set_formats() {
  constexpr double kLargest = 65504;
  const Formats& formats = request_.formats;
  const std::size_t kernels = program_.kernels.size();
  program_.between = formats.between;
  program_.kernels.front().step.in.storage = formats.source;
  program_.kernels.back().step.out.storage = formats.target;
  double max = 2 * formats.peak * (problem_.real ? 2 : 1);
  int before = 0;
  for (std::size_t k = 0; k + 1 < kernels; ++k) {
    Step& step = program_.kernels[k].step;
    step.out.storage = program_.kernels[k + 1].step.in.storage = formats.between;
    if (formats.between != dense::Storage::f16) continue;
    max *= static_cast<double>(step.points) * (step.half_spectra() ? 2 : 1);
    const int exponent = -std::ilogb(max / kLargest) - 1;
    step.out.exponent = exponent - before;
    before = exponent;
  }
  if (is_16_bit(formats.between) != is_16_bit(formats.target)) leave_output();
  set_blocks(program_.kernels.front(), program_.kernels.front().step.in, false);
  set_blocks(program_.kernels.back(), program_.kernels.back().step.out, true);
}

/// Exponents follow the integers of a transform. They are counted in words of two integers. Blocks may be
/// read from any place, but a block that is written must lie within a tile: 16 neighbours of a line, or 16
/// neighbouring lines.
void Layout::set_blocks(const Kernel& kernel, Side& side, bool written) {
  if (side.storage != dense::Storage::block16) return;
  const auto refuse = [](const char* why) {
    throw Error(ErrorCode::backend_unavailable,
                fmt::format("kernels of block16 {}: use another format", why));
  };
  const Step& step = kernel.step;
  constexpr std::int64_t kOfBlock = dense::kBlockValues / 2;
  const int parts = side.parts();
  const bool of_samples = side.form != Form::complex && side.form != Form::half_pairs;
  const std::int64_t rows = problem_.shape.points() / grid_.row(),
                     words = rows * (of_samples ? grid_.row() / 2 : half_values_),
                     pitch = words + ((words + kOfBlock - 1) / kOfBlock + 3) / 4;
  if (!problem_.contiguous()) refuse("transform contiguous signals");
  if (side.form == Form::real || side.form == Form::half)
    refuse("transform real signals with rows of even length");
  side.words = words;
  const bool single_line = grid_.rank() == 1 && program_.kernels.size() == 1;
  if (single_line) {
    side.transforms = Transforms::lines;
    side.inner = Digits(parts * pitch);
  } else if (kernel.groups == problem_.batch && side.group == parts * words) {
    side.transforms = Transforms::groups;
    side.group = parts * pitch;
  } else if (problem_.batch > 1 && !program_.one_by_one) {
    refuse("transform one volume at a time");
  }
  if (!written) return;
  if (kernel.threads() < 4)
    throw Error(ErrorCode::invalid_argument, "four threads write a block of block16 together");
  if (single_line && side.form == Form::complex) return;
  const auto whole = [&](const Digits& digits) {
    return digits.stride % (kOfBlock * parts) == 0 && digits.over % (kOfBlock * parts) == 0;
  };
  const bool across = step.store_interleaved && side.inner == Digits(parts) && whole(side.element) &&
                      step.policy.transforms_per_block % kOfBlock == 0 && step.inner % kOfBlock == 0,
             along = !step.store_interleaved && side.element == Digits(1) && side.form == Form::complex &&
                     whole(side.inner) && step.points % kOfBlock == 0;
  const bool apart = side.transforms == Transforms::groups || side.group % (kOfBlock * parts) == 0;
  if (single_line || (!across && !along) || !apart || side.outer % (kOfBlock * parts) != 0)
    refuse("write tiles of whole blocks");
}

/// An inverse transform is a forward one whose real and imaginary parts are exchanged before and after. The
/// last step scales. In real inverses, the steps over complex lines form one such transform and the rows
/// another.
void Layout::finish() {
  const std::size_t kernels = program_.kernels.size();
  program_.kernels.back().step.scale = true;
  for (const Kernel& kernel : program_.kernels) check_line(kernel.step);
  if (program_.alternating) {
    const std::size_t first = program_.alternating_from;
    program_.kernels[first].step.out.between = program_.kernels[first + 1].step.in.between = true;
  }
  if (request_.keep != device::Keep::all) keep_part();
  if (!(request_.formats == Formats{})) set_formats();
  for (const Kernel& kernel : program_.kernels) check_product(kernel.step);
  if (!request_.inverse) return;
  program_.kernels.front().step.swap_in = true;
  program_.kernels.back().step.swap_out = true;
  if (!problem_.real || kernels == 1) return;
  // The rows leave their results unexchanged, since packing real data is not linear over complex numbers.
  program_.kernels.front().step.swap_out = true;
  program_.kernels[1].step.swap_in = true;
}

Program lay_out(const Request& request, const TransformPolicy& policy) {
  return Layout(request, policy).program();
}

}  // namespace sfft::detail::tuned
