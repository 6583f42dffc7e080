// SPDX-License-Identifier: Apache-2.0
// The launch counts groups, so a step has the strides of a single group.
#include "kernels/dense/tuned/plan/lines.hpp"

#include "sfft/error.hpp"

namespace sfft::detail::tuned {

namespace {

Side side_of(Buffer buffer, const Lines::Strides& strides) {
  Side side;
  side.buffer = buffer;
  side.group = strides.group;
  side.inner = Digits(strides.inner);
  side.element = Digits(strides.element);
  return side;
}

}  // namespace

LineNeed need_of(const Lines& lines) {
  LineNeed need;
  need.points = static_cast<int>(lines.points);
  need.interleaved = lines.interleaved();
  need.lines = lines.inner;
  return need;
}

Program program_of(const Lines& lines, const TransformPolicy& policy) {
  Kernel kernel;
  Step& step = kernel.step;
  step.points = static_cast<int>(lines.points);
  step.policy = policy.kernels.at(0);
  const auto method = method_of(step.points, step.policy.length(), false);
  if (!method) throw Error(ErrorCode::backend_unavailable, "a kernel was chosen for other lines");
  step.method = *method;
  step.inner = lines.inner;
  step.in = side_of(Buffer::input, lines.in);
  step.out = side_of(Buffer::output, lines.out);
  step.load_interleaved = step.store_interleaved = lines.interleaved();
  step.swap_in = step.swap_out = lines.inverse;
  step.scale = lines.scaled;
  kernel.min_blocks_per_multiprocessor = policy.min_blocks_per_multiprocessor;
  Program program;
  program.kernels.push_back(kernel);
  return program;
}

}  // namespace sfft::detail::tuned
