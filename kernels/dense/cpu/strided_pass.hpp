// SPDX-License-Identifier: Apache-2.0
// One pass of FFTs from an array with strides to another one, or in place.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/cpu/small_fft/small_fft_line.hpp"
#include "kernels/dense/cpu/split_copy.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// A dimension of both arrays of a pass, with the strides in elements.
struct PassDimension {
  std::int64_t extent = 1, from = 1, to = 1;
};

/// What the values of a pass are. In passes between reals and half spectra, the last transformed dimension
/// has `extent` reals on one side and extent/2 + 1 complex values on the other.
enum class PassValues : std::uint8_t { complex, to_half, from_half };

/// Drops dimensions of one index, sorts the others by the strides of the source, largest first, and merges
/// those that are contiguous to one another in both arrays.
std::vector<PassDimension> merged(std::vector<PassDimension> dimensions);

/// FFTs along one or several dimensions of an array, for all indices of the others. A block of lines is
/// transformed together: it is loaded into split buffers in which vectors span several lines, along the
/// dimensions whose neighbours are close in memory. Immutable, thread-safe.
template <class Real>
class StridedPass {
  using Complex = std::complex<Real>;
  using Buffers = cpu::SplitBuffers<Real>;

 public:
  /// `transformed`: slowest first. `others`: as merged() returns them.
  StridedPass(PassValues values, const std::vector<PassDimension>& transformed,
              const std::vector<PassDimension>& others);

  std::int64_t blocks() const noexcept { return blocks_; }
  /// Points of one block.
  std::int64_t block_points() const noexcept { return points_ * lanes_; }
  /// Bytes of the workspace, which must be 64-byte aligned.
  std::size_t workspace_bytes() const noexcept;
  /// Transforms one block and multiplies it by `scale`. Blocks may run concurrently, each with its own
  /// workspace. `from` holds elements of `type`. The arrays may be the same memory if their layouts agree.
  void block(std::int64_t block, const void* from, ElementType type, void* to, bool inverse, Real scale,
             std::byte* workspace) const;

 private:
  /// One of the other dimensions: blocks take `chunk` indices of it, and the last block takes `last`.
  struct Lanes {
    PassDimension dimension;
    std::int64_t chunk = 1, parts = 1, last = 1;
  };
  /// Blocks of one size.
  struct Block {
    Block(const StridedPass& pass, const std::vector<PassDimension>& transformed,
          const std::vector<PassDimension>& lanes);

    std::int64_t lanes;
    cpu::LineFft<Real> row;                  ///< along the last dimension
    std::optional<cpu::SmallFft<Real>> fft;  ///< along the other dimensions
    SplitCopy<Real> from, to;
    SplitCopy<Real> pairs;  ///< of the reals, as complex values if neighbours are adjacent
    bool adjacent = false;
    bool reads_rows = false, writes_rows = false;  ///< whether lanes are adjacent
  };
  /// Where a line of the last dimension begins.
  struct Offsets {
    std::int64_t from = 0, to = 0;
  };

  void choose_lanes();
  void complex_block(const Block& of, const void* from, ElementType type, Complex* to, bool inverse,
                     Real scale, std::byte* workspace) const;
  void to_half(const Block& of, const void* from, ElementType type, Complex* to, Real scale,
               std::byte* workspace) const;
  void from_half(const Block& of, const Complex* from, Real* to, Real scale, std::byte* workspace) const;
  Buffers buffers(std::byte* workspace) const;
  Buffers over_slower(const Block& of, const Buffers& data) const;
  Buffers over_rows(const Block& of, const Buffers& data) const;

  PassValues values_;
  PassDimension last_;                        ///< the last transformed dimension
  std::int64_t row_;                          ///< extent of that one
  std::int64_t kept_;                         ///< complex values of its lines in memory
  std::int64_t inner_;                        ///< complex values of its lines in their FFT
  std::int64_t slower_ = 1;                   ///< product of the other transformed extents
  std::int64_t points_;                       ///< complex values of the transformed dimensions
  std::vector<Offsets> rows_{{}};             ///< for all indices of the other transformed dimensions
  std::int64_t from_step_ = 0, to_step_ = 0;  ///< smallest strides of the transformed dimensions
  std::vector<Lanes> lanes_of_;               ///< slowest first
  std::size_t fastest_ = 0;                   ///< the one whose indices are adjacent in the buffers
  std::vector<Block> sizes_;                  ///< by which dimensions are at their last part
  std::int64_t lanes_ = 1, blocks_ = 1;
  std::size_t reals_ = 0, buffer_reals_ = 0;  ///< of a buffer, without and with work memory of lines
  CountedVector<Real> roots_re_, roots_im_;   ///< for unpacking
};

extern template class StridedPass<float>;
extern template class StridedPass<double>;

}  // namespace sfft::detail
