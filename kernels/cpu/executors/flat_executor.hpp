// SPDX-License-Identifier: Apache-2.0
// Runs a flat-window plan on the CPU: permute → subsample → small FFT → recover.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/flat_data.hpp"
#include "kernels/cpu/executors/executor.hpp"
#include "kernels/cpu/small_fft/small_fft.hpp"

namespace sfft::detail::cpu {

/// A lane carries one line of a complex frame, or two of a real one. If the number of real lines is odd, the
/// last lane carries its line twice and one copy is unused. The lines of all delays are transformed together,
/// so one thread works on one frame.
template <class Real>
class FlatExecutor final : public Executor<Real> {
 public:
  explicit FlatExecutor(const FlatPlanData& data);

  std::size_t scratch_bytes() const noexcept override;
  std::size_t reference_reals() const noexcept override;
  void gather_reference(const void* frame, ElementType type, Real* reference) const noexcept override;
  void execute(FrameData frame, ElementType type, const Real* reference, std::span<std::complex<Real>> values,
               ExecutionStats& stats, std::byte* scratch) const noexcept override;

 private:
  void list_offsets(const FlatPlanData& data);
  void pack_row(const FlatPlanData& data, std::int64_t row);
  void transform(FrameData frame, ElementType type, const Real* reference, Real* scratch) const noexcept;
  void recover(std::span<std::complex<Real>> values, ExecutionStats& stats, Real* scratch) const noexcept;

  bool real_;
  std::int64_t lanes_, buckets_, folds_, row_buckets_, rows_, coefficients_;
  std::int64_t row_reals_;                    ///< length of a row, padded
  std::vector<std::int64_t> offsets_;         ///< linear index of each tap, lane fastest; pairs if real
  std::vector<Real> window_;                  ///< tap × lane
  std::vector<std::int32_t> start_, mirror_;  ///< of each row, in the bucket array
  std::vector<Real> weights_;                 ///< in the layout of FlatRecoverKernels
  std::vector<std::int64_t> self_conjugate_;
  SmallFft<Real> fft_;
  std::size_t taps_reals_, bucket_reals_;  ///< size of each array in scratch: two of taps, four of buckets
};

extern template class FlatExecutor<float>;
extern template class FlatExecutor<double>;

}  // namespace sfft::detail::cpu
