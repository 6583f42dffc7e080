// SPDX-License-Identifier: Apache-2.0
// What the kernels of a problem have to do, before a policy is chosen for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/dense/tuned/plan/geometry.hpp"
#include "kernels/dense/tuned/policy/limits.hpp"
#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail::tuned {

/// What a step computes from lines of `points`, and how its tiles lie in memory.
struct LineNeed {
  int points = 1;
  bool interleaved = false;   ///< lines of a tile are neighbours in memory, points are not
  bool transposed = false;    ///< interleaved on one side only
  bool half_spectra = false;  ///< whole tiles go through shared memory
  bool mirrored = false;      ///< two rows that mirror each other belong together
  bool twiddled = false;      ///< followed by the twiddle factors of a longer line
  int rows = 0;               ///< not 0: a grid of this many rows, see Step
  std::int64_t lines = 0;     ///< of a group; 0: many
  /// Not 0: whole lines in one step, without a convolution, of 16-bit parts on one side at least. The bytes
  /// that a complex value takes in memory, read and written together.
  int narrow_bytes = 0;
  /// Lines may be products on tensor cores: a batch of lines of f16, one after the other, that are short
  /// enough.
  bool products = false;
};

/// What an FFT of `length` does for lines of `points`; nothing if it does not transform them. Twiddle factors
/// of a longer line cannot follow Rader's.
std::optional<Method> method_of(int points, int length, bool twiddled);
/// Whether a block can hold lines of `points`.
bool fits(int points, bool single, const Limits& limits);
bool is_odd_prime(int n);
/// Products are a little less accurate than passes. Rules take them for lines that would be convolutions,
/// which take half as long again, and for most lines that are not moved in whole words of 16 bytes, which
/// take up to two fifths longer (measured); wisdom and measurements take them wherever they are faster.
bool prefers_products(const LineNeed& need);

/// What the forward transform's steps need, each of which gets a policy. `factors`: of a long line. Empty if
/// the engine cannot do the problem; `why` says why.
std::vector<LineNeed> needs_of(const DenseProblem& problem, bool single, const std::vector<int>& factors,
                               const Limits& limits, std::string& why, const Formats& formats = {});
/// Factors of a 1D signal that no block can hold, and of the columns of complex volumes, best first; an empty
/// list stands for no factors.
std::vector<std::vector<int>> factors_of(const DenseProblem& problem, bool single, const Limits& limits);
/// Whether steps may alternate without a ring buffer: those of contiguous complex numbers, in rows of whole
/// cache lines, and the last two of three factors.
bool alternates_in_place(const DenseProblem& problem, bool single, const std::vector<int>& factors);
/// Complex values of one group of the steps that alternate.
std::int64_t group_values(const DenseProblem& problem, const TransformPolicy& policy);

}  // namespace sfft::detail::tuned
