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
  /// The lines of a step of the forward transform: outer · inner lines a group. Interleaved: neighbouring
  /// lines, not the elements of a line, are neighbours in memory.
  struct StepLines {
    std::int64_t points = 1, outer = 1, inner = 1;
    bool load_interleaved = false, store_interleaved = false;
    bool twiddled = false;  ///< followed by twiddle factors between the steps of a longer line
  };
  /// Where a transform of 2 or 3 dimensions keeps its data between the columns and the rows.
  struct Between {
    Side rows;                          ///< as the step of the rows sees the data
    std::int64_t pitch = 0, plane = 0;  ///< from row to row, and from plane to plane
    bool in_output = false;             ///< unpadded; otherwise the data are in scratch memory
    Side columns() const;               ///< as a step along the columns sees the data
  };

  // geometry.cpp
  void check_policy() const;
  /// A step of the policy's kernel `kernel`. The caller sets its sides.
  Step step(std::size_t kernel, const StepLines& lines) const;
  /// Sets the step's sides for the request's direction. `before` and `after` are those of the forward
  /// transform.
  void set_sides(Step& s, const Side& before, const Side& after) const;
  /// A side of samples in the user's strides. `stride` is that of a line's elements, `next` that of lines.
  Side samples(std::int64_t group, std::int64_t next, std::int64_t stride) const;
  Buffer spectrum_buffer() const { return request_.inverse ? Buffer::input : Buffer::output; }
  Form spectrum_form() const {
    return !problem_.real ? Form::complex : pairs_ ? Form::half_pairs : Form::half;
  }
  /// Samples that a step reads as one value.
  std::int64_t pair() const { return pairs_ ? 2 : 1; }
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
  bool alternates() const { return policy_.alternating_groups > 0; }
  Step rows(std::int64_t planes) const;
  Step columns(std::int64_t planes) const;
  Step across_planes() const;
  Side spectra(std::int64_t planes) const;
  Between between(std::int64_t planes, std::int64_t groups);
  void add(const std::vector<Step>& steps, std::int64_t alternating_groups);
  void line();
  void plane();
  void volume();
  void volume_in_planes();
  void volume_in_two_steps();

  // long_lines.cpp: lines of two or three factors
  void two_steps();
  void three_steps();

  const Request& request_;
  const DenseProblem& problem_;
  const TransformPolicy& policy_;
  Grid grid_;
  bool pairs_ = false;
  std::int64_t half_values_ = 0, row_values_ = 0, pitch_ = 0;
  Program program_;
};

}  // namespace sfft::detail::tuned
