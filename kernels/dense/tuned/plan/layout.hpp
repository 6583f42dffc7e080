// SPDX-License-Identifier: Apache-2.0
// The class behind lay_out() (geometry.hpp): how a transform becomes steps.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/dense/tuned/plan/geometry.hpp"
#include "kernels/dense/tuned/plan/grid.hpp"

namespace sfft::detail::tuned {

/// Steps along the slowest dimension come first, and rows come last. Strided stores cost more than strided
/// loads. In this order they stay within memory aligned to cache lines, and rows of odd length are stored
/// whole. The steps need no transposition (multirow FFTs, Nukada et al. 2008).
class Layout {
 public:
  /// Throws Error(invalid_argument) for a policy that does not fit the problem.
  Layout(const Request& request, const TransformPolicy& policy);
  Program program();

 private:
  // geometry.cpp
  void check_policy() const;
  Step step(std::size_t index, std::int64_t points, std::int64_t outer, std::int64_t inner,
            bool load_interleaved, bool store_interleaved, bool twiddled = false) const;
  /// Sets the step's sides for the request's direction. `before` and `after` are those of the forward
  /// transform.
  void set_sides(Step& s, const Side& before, const Side& after) const;
  /// A side of samples in the user's strides. `stride` is that of a line's elements, `next` that of lines.
  Side samples(std::int64_t group, std::int64_t next, std::int64_t stride) const;
  Buffer spectra() const { return request_.inverse ? Buffer::input : Buffer::output; }
  /// Sets the layout of the pairs of samples that a step loads or stores.
  void set_pairs(Step& s) const;
  Kernel kernel(const Step& step, std::int64_t groups) const;
  /// Makes the last two steps alternate, over at most `groups` groups at a time. Returns the number of groups
  /// that the ring buffer between them holds, or 0 if there is none.
  int alternate(std::int64_t groups);
  void leave_output();
  void keep_part();
  void set_formats();
  void set_blocks(const Kernel& kernel, Side& side, bool written);
  void finish();

  // grids.cpp: 1 to 3 dimensions, each of which fits in a block, and volumes in two steps
  std::int64_t rows_of_grid() const;
  Step rows(std::size_t index, bool by_plane) const;
  void add(std::vector<Step> steps, std::int64_t alternating_groups);
  void grid();
  void volume_in_two_steps();

  // long_lines.cpp: lines of two or three factors
  void two_steps();
  void three_steps();

  const Request& request_;
  const DenseProblem& problem_;
  const TransformPolicy& policy_;
  Grid grid_;
  std::vector<std::int64_t> across_;  ///< all extents except the last
  bool pairs_ = false;
  std::int64_t half_values_ = 0, row_values_ = 0, pitch_ = 0;
  Program program_;
};

}  // namespace sfft::detail::tuned
