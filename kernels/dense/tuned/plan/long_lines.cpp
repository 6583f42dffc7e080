// SPDX-License-Identifier: Apache-2.0
// Makes the steps of lines that do not fit in a block, from two or three factors of their length.
#include <fmt/format.h>

#include "kernels/dense/tuned/plan/layout.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::tuned {

/// N = N1·N2: transforms lines of N1 points N2 apart, multiplies by twiddle factors, and transforms lines of
/// N2 points. The results are N1 apart (the four-step method, Bailey 1990). Complex inverses are the same
/// between two exchanges.
void Layout::two_steps() {
  const std::int64_t n1 = policy_.factors[0], n2 = policy_.factors[1], n = n1 * n2;
  const std::int64_t pitch = round_up(n2, cache_line_values(request_.single));
  const bool alternates = policy_.alternating_groups > 0;
  const int ring_groups = alternates ? alternate(problem_.batch) : 0;
  Step first = step(0, n1, 1, n2, true, true, true);
  first.twiddle = {.modulus = n, .inner = 1};
  first.in = {Buffer::input, n, 0, 1, n2};
  first.out = {Buffer::scratch, n1 * pitch, 0, 1, pitch, ring_groups};
  Step second = step(1, n2, 1, n1, false, true);
  second.in = {Buffer::scratch, n1 * pitch, 0, pitch, 1, ring_groups};
  second.out = {Buffer::output, n, 0, 1, n1};
  program_.scratch_values = n1 * pitch * (alternates ? ring_groups : problem_.batch);
  program_.kernels = {kernel(first, problem_.batch), kernel(second, problem_.batch)};
}

/// N = N1·N2·N3. The first step leaves its results in the order of the outputs, so that the other two find
/// `chunk` neighbours. They work on groups of that many outputs, which stay in the L2 cache.
void Layout::three_steps() {
  const std::int64_t n1 = policy_.factors[0], n2 = policy_.factors[1], n3 = policy_.factors[2];
  const std::int64_t rest = n2 * n3, n = n1 * rest, chunk = policy_.outputs_per_group;
  if (n1 % chunk != 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} outputs in groups of {}", n1, chunk));
  const bool alternates = policy_.alternating_groups > 0;
  const std::int64_t groups = n1 / chunk;
  const int ring_groups = alternates ? alternate(groups) : 0;
  program_.alternating_from = alternates ? 1 : 0;
  Step first = step(0, n1, 1, rest, true, false, true);
  first.twiddle = {.modulus = n, .inner = 1};
  first.in = {Buffer::input, n, 0, 1, rest};
  first.out = {Buffer::scratch, n, 0, n1, 1};
  Step second = step(1, n2, n3, chunk, true, true, true);
  second.twiddle = {.modulus = rest, .outer = 1};
  second.in = {Buffer::scratch, chunk, n1, 1, n3 * n1};
  Step third = step(2, n3, n2, chunk, true, true);
  third.out = {Buffer::output, chunk, n1, 1, n1 * n2};
  if (ring_groups > 0) {
    second.out = {Buffer::scratch, rest * chunk, chunk, 1, n3 * chunk, ring_groups, n};
    third.in = {Buffer::scratch, rest * chunk, n3 * chunk, 1, chunk, ring_groups, n};
  } else {
    second.out = second.in;
    third.in = {Buffer::scratch, chunk, n3 * n1, 1, n1};
  }
  program_.kernels = {kernel(first, 1), kernel(second, groups), kernel(third, groups)};
  program_.scratch_values = n + rest * chunk * ring_groups;
  program_.one_by_one = true;  // groups are parts of one transform
}

}  // namespace sfft::detail::tuned
