// SPDX-License-Identifier: Apache-2.0
// What the kernels of a problem must do. This is known before a policy is chosen for them.
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
  bool interleaved = false;   ///< the lines of a tile are neighbours in memory, its points are not
  bool transposed = false;    ///< interleaved on one side only
  bool half_spectra = false;  ///< whole tiles go through shared memory
  bool mirrored = false;      ///< rows that mirror each other are processed in pairs
  bool twiddled = false;      ///< the twiddle factors of a longer line follow
  int rows = 0;               ///< if not 0, the line is a grid of this many rows, see Step
  std::int64_t lines = 0;     ///< lines of a group; 0: many
  std::int64_t total = 0;     ///< lines of the whole problem; 0: many
  /// If not 0, the step transforms whole lines without a convolution, with 16-bit parts on at least one side.
  /// The value is the number of bytes per complex value that are read and written together.
  int narrow_bytes = 0;
  /// Lines may be computed as products on tensor cores: the need is a batch of contiguous f16 lines that are
  /// short enough.
  bool products = false;
};

/// The method by which an FFT of `length` transforms lines of `points`, or nothing if it cannot. Rader's
/// method cannot be followed by twiddle factors of a longer line.
std::optional<Method> method_of(int points, int length, bool twiddled);
/// Whether lines of `points` fit in a block.
bool fits(int points, bool single, const Limits& limits);
bool is_odd_prime(int n);
/// Whether the rules choose products. Products are a little less accurate than passes. The rules take them
/// for lines that would otherwise be convolutions, which take half as long again. They also take them for
/// most lines that do not move in whole words of 16 bytes; passes take up to two fifths longer for these
/// (measured). Wisdom and measurements take products wherever they are faster.
bool prefers_products(const LineNeed& need);

/// Lists the needs of the forward transform's steps, each of which gets a policy. `factors` are those of a
/// long line. The list is empty if the engine cannot transform the problem; `why` then gives the reason.
std::vector<LineNeed> needs_of(const DenseProblem& problem, bool single, const std::vector<int>& factors,
                               const Limits& limits, std::string& why, const Formats& formats = {});
/// Factors of a 1D signal that does not fit in a block, and of the columns of complex volumes, best first. An
/// empty inner list means no factors.
std::vector<std::vector<int>> factors_of(const DenseProblem& problem, bool single, const Limits& limits);
/// Whether steps may alternate without a ring buffer. Steps over contiguous complex numbers may, if rows are
/// whole cache lines, and so may the last two steps of three factors.
bool alternates_in_place(const DenseProblem& problem, bool single, const std::vector<int>& factors);
/// The complex values in one group of the alternating steps.
std::int64_t group_values(const DenseProblem& problem, const TransformPolicy& policy);

}  // namespace sfft::detail::tuned
