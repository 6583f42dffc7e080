// SPDX-License-Identifier: Apache-2.0
// Discrete cosine, sine and Hartley transforms along one dimension, by complex FFTs of pairs of lines.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/cpu/stages/row_combinations.hpp"
#include "kernels/dense/problem/engine.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "sfft/dense_options.hpp"

namespace sfft::detail {

/// The kind whose product with `kind` is a multiple of the identity.
dense::Options::Trigonometric inverse_of(dense::Options::Trigonometric kind) noexcept;
/// That multiple for lines of n points: 2n, 2(n − 1) for dct1, 2(n + 1) for dst1, n for hartley.
std::int64_t logical_points(dense::Options::Trigonometric kind, std::int64_t n) noexcept;

/// Lines of n values. With inner > 1, the array is units × n × inner: lines run along its middle dimension,
/// and `lines` is inner. With inner = 1 it is units × lines × n.
struct LineGrid {
  std::int64_t n = 1, inner = 1;
  std::int64_t units = 1, lines = 1;
  /// Whether the lines of a unit belong to one signal. Two of them may then become the real and imaginary
  /// parts of one complex line, and share rounding errors and values that are not finite.
  bool one_signal = true;
};

/// Transforms all lines of a grid. The FFT has logical_points() for dct1 and dst1, and n points for the
/// other kinds, or half as many for single lines if that is a whole number. What precedes and follows it are
/// sums of up to four values with complex weights (Makhoul 1980). Immutable, thread-safe.
template <class Real>
class TrigonometricLines {
 public:
  /// `factor` multiplies the results. `orthogonal`: values that the orthogonal form of the transform weights
  /// by √2 are.
  TrigonometricLines(dense::Options::Trigonometric kind, const LineGrid& grid, double factor,
                     bool orthogonal);

  /// Bytes of the workspace of one thread, a multiple of 64.
  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// The arrays may be the same memory.
  void transform(const Real* from, Real* to, const EngineScratch& scratch) const;

 private:
  /// Complex lines that are transformed together.
  struct Block {
    std::int64_t lanes;
    cpu::SmallFft<Real> fft;
  };
  struct Tables;
  void block(const Block& block, std::int64_t unit, std::int64_t first, bool paired, const Real* from,
             Real* to, std::byte* workspace) const;
  void run_part(std::int64_t part, const Real* from, Real* to, std::byte* workspace) const;

  LineGrid grid_;
  std::int64_t points_;   ///< of the FFT
  std::int64_t complex_;  ///< complex lines of a unit: pairs, or single lines
  bool paired_;
  CountedVector<cpu::RowCombination<Real>> before_, after_;
  std::unique_ptr<const Block> whole_, rest_, single_;  ///< blocks of most lines, the last ones, an odd one
  std::int64_t parts_;                                  ///< blocks of a unit
  std::size_t workspace_bytes_ = 0;
};

extern template class TrigonometricLines<float>;
extern template class TrigonometricLines<double>;

}  // namespace sfft::detail
