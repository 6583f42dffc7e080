// SPDX-License-Identifier: Apache-2.0
// Dense FFTs of values that are stored in 16 bits and transformed as floats.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sfft/dense.hpp"

namespace sfft::dense {

namespace detail {
class CompactImpl;
}

/// Batches of one shape in the layouts of Plan, contiguous. Real and imaginary parts lie in the formats that
/// the options name (Storage), and all arithmetic is in float. A value is what is stored times 2^exponent,
/// with one exponent for each transform, so that nothing overflows whatever the length and the size of the
/// values. A NaN or an infinity spoils the transform that it belongs to, and no other. Immutable; copies
/// share, and moving is copying. Execution is thread-safe with one workspace for each call. Throws what Plan
/// throws.
class SFFT_EXPORT CompactPlan {
 public:
  CompactPlan(const Shape& shape, bool real, const CompactOptions& options = {});
  CompactPlan(const CompactPlan&) noexcept = default;  // declared, so that nothing is ever moved from
  CompactPlan& operator=(const CompactPlan&) noexcept = default;

  std::size_t signal_values() const noexcept;    ///< real and imaginary parts of one signal
  std::size_t spectrum_values() const noexcept;  ///< real and imaginary parts of one spectrum
  std::size_t signal_bytes() const noexcept;     ///< of the whole batch
  std::size_t spectrum_bytes() const noexcept;   ///< of the whole batch
  std::size_t workspace_bytes() const noexcept;  ///< host scratch of one execution, 64-byte aligned

  /// Of CPU plans; others throw backend_unavailable. Arrays are in host memory and do not overlap. Scales:
  /// one for each transform; an empty span of input scales stands for exponents of 0 and exact values, and
  /// with an empty span of output scales they are not reported. The exponent of a result puts its largest
  /// part into [2^14, 2^15) for f16 and block16, and is 0 in other formats unless the largest part is beyond
  /// 2^±64. Blocks.
  void forward(std::span<const std::byte> signals, std::span<const CompactScale> signal_scales,
               std::span<std::byte> spectra, std::span<CompactScale> spectrum_scales,
               std::span<std::byte> workspace = {}) const;
  void inverse(std::span<const std::byte> spectra, std::span<const CompactScale> spectrum_scales,
               std::span<std::byte> signals, std::span<CompactScale> signal_scales,
               std::span<std::byte> workspace = {}) const;

  /// Device memory that one enqueued transform needs besides its arguments, 256-byte aligned; may be 0.
  std::size_t device_workspace_bytes() const noexcept;
  /// The same in GPU memory, for plans on a GPU, ordered in `stream` as Plan::enqueue_forward(). A result is
  /// what is stored times 2^exponent, and `exponents.output` gets one exponent for each transform:
  /// exponent(direction), plus the input's own, plus what was found if finds_exponents(direction). Nothing
  /// overflows, at any length and size of the values, as long as no part of the input is above a peak that
  /// the options give. Without `exponents.output` nothing is found: results that are not f16 then have
  /// exponents of 0, and sums from 2^102 on may overflow; others are refused. Throws invalid_argument,
  /// backend_unavailable (a CPU plan), device (the launch failed).
  void enqueue_forward(const void* signals, void* spectra, std::span<std::byte> workspace,
                       CUstream_st* stream, const CompactExponents& exponents = {}) const;
  void enqueue_inverse(const void* spectra, void* signals, std::span<std::byte> workspace,
                       CUstream_st* stream, const CompactExponents& exponents = {}) const;
  /// Of enqueued transforms: what it takes that the largest sums of values up to the peak fit. 0 for results
  /// that are not f16.
  int exponent(Direction direction) const noexcept;
  /// Whether exponents follow from the data, too: the input is not f16 and the options give no peak. Then it
  /// is read once more. Each transform whose results are f16, or pass through f16 between steps, gets a power
  /// of two that puts its largest part into [2^14, 2^15); others get one if that part is beyond 2^±64.
  bool finds_exponents(Direction direction) const noexcept;

  /// The relative error that a transform of usual data adds to that of its input: rounding of the results,
  /// and of what lies between steps, and float arithmetic. On a GPU usual data fill the range of f16 to
  /// within some 2^20 of the peak.
  double predicted_error(Direction direction) const noexcept;

  const Shape& shape() const noexcept;
  bool is_real() const noexcept;
  const CompactOptions& options() const noexcept;
  Engine engine() const noexcept;   ///< the engine that was chosen
  std::string engine_name() const;  ///< as Plan::engine_name()
  std::string reason() const;       ///< why that engine was chosen, in one sentence

 private:
  std::shared_ptr<const detail::CompactImpl> impl_;
};

/// Bytes that the values of one transform take, real and imaginary parts counted.
SFFT_EXPORT std::size_t compact_bytes(std::size_t values, Storage storage) noexcept;
/// Stores real numbers, or the parts of complex ones, with an exponent that fits the largest of them, as
/// CompactPlan does. `stored` has compact_bytes() for as many values. Doubles are rounded to float on the
/// way. Throws shape_mismatch, and invalid_argument if the arrays overlap.
SFFT_EXPORT CompactScale store_compact(std::span<const float> values, Storage storage,
                                       std::span<std::byte> stored);
SFFT_EXPORT CompactScale store_compact(std::span<const double> values, Storage storage,
                                       std::span<std::byte> stored);
/// The reverse: what is beyond the range of the result becomes infinite or 0.
SFFT_EXPORT void load_compact(std::span<const std::byte> stored, Storage storage, const CompactScale& scale,
                              std::span<float> values);
SFFT_EXPORT void load_compact(std::span<const std::byte> stored, Storage storage, const CompactScale& scale,
                              std::span<double> values);

}  // namespace sfft::dense
