// SPDX-License-Identifier: Apache-2.0
// The interface of every CPU path: samples of one frame in, coefficients with errors out.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/base/math/region.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

struct CombData;
struct FlatPlanData;

namespace cpu {

class ThreadPool;

/// What one execution found besides the coefficients.
struct ExecutionStats {
  double scale = 0;    ///< tail scale, in the unit of the plan's ErrorModel
  bool finite = true;  ///< false when a sample that was read is NaN or infinite
  /// If not 0, the powers of the samples exceed the range of double, and `scale` is in units of 4^exponent.
  int exponent = 0;
};

/// ExecutionStats::exponent for values up to `largest`, which is finite. Returns 0 if their squares, and the
/// squares of their rounding errors, are well within double's range.
inline int power_exponent(double largest) noexcept {
  if (!(largest > 0) || (largest > 1e-100 && largest < 1e100)) return 0;
  return std::clamp(std::ilogb(largest), -1000, 1000);  // keeps the power of two in range
}

/// One path for one plan. Immutable; execute() is thread-safe with one scratch per thread, never allocates,
/// and throws nothing but Stopped (kernels/runtime/run_scope.hpp).
template <class Real>
class Executor {
 public:
  virtual ~Executor() = default;

  /// Bytes of 64-byte aligned scratch that execute() needs.
  virtual std::size_t scratch_bytes() const noexcept = 0;

  /// Length of the array of reference samples, which are in the executor's sample order. 0 means that it
  /// cannot subtract a reference.
  virtual std::size_t reference_reals() const noexcept = 0;
  /// Fills that array from a contiguous reference frame.
  virtual void gather_reference(const void* frame, ElementType type, Real* reference) const noexcept = 0;

  /// Whether execute() accepts regions of larger arrays as well as contiguous frames.
  virtual bool takes_regions() const noexcept { return true; }

  /// Transforms the frame minus the reference (nullptr: zero) at the template's k frequencies, in support
  /// order. `values` has k elements.
  virtual void execute(FrameData frame, ElementType type, const Real* reference,
                       std::span<std::complex<Real>> values, ExecutionStats& stats,
                       std::byte* scratch) const = 0;

  /// Bytes of scratch that execute_shared() needs.
  virtual std::size_t shared_scratch_bytes() const noexcept { return scratch_bytes(); }
  /// Like execute(), but the pool's threads share the frame. Executors that cannot share it ignore the pool.
  virtual void execute_shared(FrameData frame, ElementType type, const Real* reference,
                              std::span<std::complex<Real>> values, ExecutionStats& stats, std::byte* scratch,
                              ThreadPool& pool) const {
    static_cast<void>(pool);
    execute(frame, type, reference, values, stats, scratch);
  }

  /// E|X̂_i − X_i|² per unit of scale, for a path without any error but rounding; else empty.
  virtual std::vector<double> rounding_power() const { return {}; }
};

/// The comb path: permute → small FFT → recover.
template <class Real>
std::unique_ptr<const Executor<Real>> make_comb_executor(const CombData& data);
/// The flat-window path: permute → subsample → small FFT → recover.
template <class Real>
std::unique_ptr<const Executor<Real>> make_flat_executor(const FlatPlanData& data);
/// The direct path: a k×N matrix of twiddles times the frame. Exact; for frames of a few dozen samples.
template <class Real>
std::unique_ptr<const Executor<Real>> make_direct_executor(const Shape& shape,
                                                           std::span<const std::int64_t> support);

}  // namespace cpu
}  // namespace sfft::detail
