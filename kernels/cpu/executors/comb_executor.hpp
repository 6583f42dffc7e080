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

/// The delays are split into `groups` of lanes that threads can transform in parallel; one thread prefers one
/// group. A lane carries one delay of a complex frame, two of a real one.
template <class Real>
class CombExecutor final : public Executor<Real> {
 public:
  CombExecutor(const CombData& data, int groups);

  std::size_t scratch_bytes() const noexcept override;
  std::size_t reference_reals() const noexcept override;
  void gather_reference(const void* frame, ElementType type, Real* reference) const noexcept override;
  void execute(FrameData frame, ElementType type, const Real* reference, std::span<std::complex<Real>> values,
               ExecutionStats& stats, std::byte* scratch) const noexcept override;
  void execute_shared(FrameData frame, ElementType type, const Real* reference,
                      std::span<std::complex<Real>> values, ExecutionStats& stats, std::byte* scratch,
                      ThreadPool& pool) const noexcept override;

 private:
  struct Group {
    std::int64_t lanes;
    std::int64_t first_delay;
    std::vector<std::int64_t> offsets;  ///< flat sample offset of each delay
    std::vector<Real> weights;          ///< k blocks in the layout of RecoverKernels
    std::vector<Real> power_weight;     ///< bucket × lane, largest 1
    SmallFft<Real> fft;
    std::size_t buffer_reals;      ///< size of each of the four arrays in scratch
    std::size_t scratch_offset;    ///< in reals
    std::size_t reference_offset;  ///< in reals
  };

  /// The positions of a frame's samples.
  struct Layout {
    std::array<std::int64_t, 2> steps;  ///< elements to the next bucket of the first two dimensions
    const std::int64_t* offsets;        ///< offsets of a region's delays; nullptr: those of the groups
    Real unit = 1;                      ///< FrameData::unit
  };

  std::int64_t offset(std::size_t delay, const std::array<std::int64_t, 3>& strides) const noexcept;
  /// For a region, the offsets are written to `scratch`.
  Layout layout(FrameData frame, Real* scratch) const noexcept;
  void gather_slab(const Group& group, const void* frame, ElementType type, const Layout& layout,
                   std::int64_t m0, Real* re, Real* im) const noexcept;
  void transform_group(const Group& group, const void* frame, ElementType type, const Layout& layout,
                       const Real* reference, Real* scratch) const noexcept;
  void recover(std::span<std::complex<Real>> values, ExecutionStats& stats,
               const Real* scratch) const noexcept;

  CombData data_;  ///< without the weights, which the groups hold
  std::vector<std::int32_t> bucket_, mirror_;
  std::vector<Group> groups_;
  double power_unit_ = 0;  ///< unit of power_weight
  std::size_t scratch_reals_ = 0;
};

extern template class CombExecutor<float>;
extern template class CombExecutor<double>;

}  // namespace sfft::detail::cpu
