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
  Step first = step(
      0, {.points = n1, .inner = n2, .load_interleaved = true, .store_interleaved = true, .twiddled = true});
  first.twiddle = {.modulus = n, .inner = 1};
  first.in = {.buffer = Buffer::input, .group = n, .inner = 1, .element = n2};
  first.out = {.buffer = Buffer::scratch,
               .group = n1 * pitch,
               .inner = 1,
               .element = pitch,
               .ring_groups = ring_groups};
  Step second = step(1, {.points = n2, .inner = n1, .store_interleaved = true});
  second.in = {.buffer = Buffer::scratch,
               .group = n1 * pitch,
               .inner = pitch,
               .element = 1,
               .ring_groups = ring_groups};
  second.out = {.buffer = Buffer::output, .group = n, .inner = 1, .element = n1};
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
  Step first = step(0, {.points = n1, .inner = rest, .load_interleaved = true, .twiddled = true});
  first.twiddle = {.modulus = n, .inner = 1};
  first.in = {.buffer = Buffer::input, .group = n, .inner = 1, .element = rest};
  first.out = {.buffer = Buffer::scratch, .group = n, .inner = n1, .element = 1};
  Step second = step(1, {.points = n2,
                         .outer = n3,
                         .inner = chunk,
                         .load_interleaved = true,
                         .store_interleaved = true,
                         .twiddled = true});
  second.twiddle = {.modulus = rest, .outer = 1};
  second.in = {.buffer = Buffer::scratch, .group = chunk, .outer = n1, .inner = 1, .element = n3 * n1};
  Step third = step(
      2, {.points = n3, .outer = n2, .inner = chunk, .load_interleaved = true, .store_interleaved = true});
  third.out = {.buffer = Buffer::output, .group = chunk, .outer = n1, .inner = 1, .element = n1 * n2};
  if (ring_groups > 0) {
    second.out = {.buffer = Buffer::scratch,
                  .group = rest * chunk,
                  .outer = chunk,
                  .inner = 1,
                  .element = n3 * chunk,
                  .ring_groups = ring_groups,
                  .base = n};
    third.in = {.buffer = Buffer::scratch,
                .group = rest * chunk,
                .outer = n3 * chunk,
                .inner = 1,
                .element = chunk,
                .ring_groups = ring_groups,
                .base = n};
  } else {
    second.out = second.in;
    third.in = {.buffer = Buffer::scratch, .group = chunk, .outer = n3 * n1, .inner = 1, .element = n1};
  }
  program_.kernels = {kernel(first, 1), kernel(second, groups), kernel(third, groups)};
  program_.scratch_values = n + rest * chunk * ring_groups;
  program_.one_by_one = true;  // groups are parts of one transform
}

}  // namespace sfft::detail::tuned
