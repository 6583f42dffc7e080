// SPDX-License-Identifier: Apache-2.0
// Runs a comb plan on the CPU: permute → small FFT → recover.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/base/comb_data.hpp"
#include "kernels/cpu/executors/executor.hpp"
#include "kernels/cpu/small_fft/small_fft.hpp"

namespace sfft::detail::cpu {

/// Transforms all delays together: each lane carries one delay of a complex frame, or two of a real one.
template <class Real>
class CombExecutor final : public Executor<Real> {
 public:
  explicit CombExecutor(const CombData& data);

  std::size_t scratch_bytes() const noexcept override;
  std::size_t reference_reals() const noexcept override;
  void gather_reference(const void* frame, ElementType type, Real* reference) const noexcept override;
  void execute(FrameData frame, ElementType type, const Real* reference, std::span<std::complex<Real>> values,
               ExecutionStats& stats, std::byte* scratch) const noexcept override;
  void execute_shared(FrameData frame, ElementType type, const Real* reference,
                      std::span<std::complex<Real>> values, ExecutionStats& stats, std::byte* scratch,
                      ThreadPool& pool) const noexcept override;

 private:
  /// The positions of a frame's samples.
  struct Layout {
    std::array<std::int64_t, 2> steps;  ///< elements to the next bucket of the first two dimensions
    const std::int64_t* offsets;        ///< linear sample offset of each delay
    Real unit = 1;                      ///< FrameData::unit
  };
  /// Buckets of a part of a line.
  static constexpr std::int64_t kLinePart = 256;

  std::int64_t offset(std::size_t delay, const std::array<std::int64_t, 3>& strides) const noexcept;
  /// For a region, the offsets are written to `scratch`.
  Layout layout(FrameData frame, Real* scratch) const noexcept;
  /// The parts of a frame that threads can read at the same time: slabs, one for each m of the slowest
  /// dimension, or parts of a line. Each is contiguous in the grid, from part_begin() on.
  std::int64_t parts() const noexcept;
  std::int64_t part_begin(std::int64_t part) const noexcept;
  void gather_part(std::int64_t part, const void* frame, ElementType type, const Layout& layout, Real* re,
                   Real* im) const noexcept;
  /// Gathers a part, subtracts the reference and scales.
  void read_part(std::int64_t part, const void* frame, ElementType type, const Layout& layout,
                 const Real* reference, Real* scratch) const noexcept;
  void transform_slab(std::int64_t slab, Real* scratch) const noexcept;
  /// Transforms along the first dimension and recovers the values.
  void recover(std::span<std::complex<Real>> values, ExecutionStats& stats, Real* scratch) const noexcept;

  CombData data_;  ///< without the weights
  std::int64_t lanes_;
  SmallFft<Real> fft_;
  std::vector<std::int32_t> bucket_, mirror_;
  std::vector<std::int64_t> offsets_;  ///< linear sample offset of each delay
  std::vector<Real> weights_;          ///< k blocks in the layout of RecoverKernels
  std::vector<Real> power_weight_;     ///< bucket × lane, largest 1
  double power_unit_ = 0;              ///< unit of power_weight_
  std::size_t buffer_reals_ = 0;       ///< size of each of the four arrays in scratch
};

extern template class CombExecutor<float>;
extern template class CombExecutor<double>;

}  // namespace sfft::detail::cpu
