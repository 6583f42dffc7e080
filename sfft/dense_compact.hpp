// SPDX-License-Identifier: Apache-2.0
// Dense FFTs of values that are stored in 16 bits and transformed as floats.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sfft/dense.hpp"

namespace sfft::dense {

/// Batches of one shape in the layouts of Plan, contiguous. Real and imaginary parts are stored in the
/// formats that the options name (Storage); all arithmetic is in float. A value is the stored number
/// times 2^exponent, with one exponent per transform, so nothing overflows whatever the length and scale
/// of the data (on GPUs: up to the peak). NaN and infinity spoil only the transform that contains them.
/// Immutable; copies share their data, and a move is a copy. Execution is thread-safe with one workspace per
/// concurrent call. Throws as Plan does.
class SFFT_EXPORT CompactPlan : public detail::PlanWithWorkspace {
 public:
  /// What is known about transforms of one direction before they run.
  struct Info {
    /// The relative error that a transform of typical data adds to that of its input: rounding of the
    /// results and between steps, and float arithmetic. On a GPU, typical data reach to within about 2^20 of
    /// the f16 peak.
    double predicted_error = 0;
    /// For GPUs: the exponent with which an enqueued transform's largest possible sums, of values up to the
    /// peak, still fit. 0 for results other than f16.
    int exponent = 0;
    /// For GPUs: exponents also depend on the data, because the input is not f16 and the options give no
    /// peak. The input is then read twice. A transform whose results are f16, or pass through f16 between
    /// steps, gets the power of two that puts its largest part into [2^14, 2^15); others get one if that part
    /// is beyond 2^±64.
    bool finds_exponents = false;
  };

  /// `shape`: extents of one transform, slowest first. `options.formats` says what is stored.
  CompactPlan(const Shape& shape, Domain domain, const Options& options = {})
      : PlanWithWorkspace(make(shape, domain, options)) {}

  std::size_t signal_values() const noexcept;    ///< real and imaginary parts of one signal
  std::size_t spectrum_values() const noexcept;  ///< real and imaginary parts of one spectrum
  std::size_t signal_bytes() const noexcept;     ///< bytes of the whole batch
  std::size_t spectrum_bytes() const noexcept;   ///< bytes of the whole batch

  /// For CPU plans; other plans throw backend_unavailable. Arrays are in host memory and must not
  /// overlap. There is one scale per transform. Without input scales the exponents are 0 and the
  /// values count as exact; without output scales none are reported. A result's exponent puts its
  /// largest part into [2^14, 2^15) for f16 and block16. In other formats it is 0, unless the
  /// largest part is beyond 2^±64. Blocks.
  void forward(std::span<const std::byte> signals, std::span<const CompactScale> signal_scales,
               std::span<std::byte> spectra, std::span<CompactScale> spectrum_scales,
               std::span<std::byte> workspace = {}) const;
  /// The reverse of forward(); the same rules.
  void inverse(std::span<const std::byte> spectra, std::span<const CompactScale> spectrum_scales,
               std::span<std::byte> signals, std::span<CompactScale> signal_scales,
               std::span<std::byte> workspace = {}) const;

  /// Like forward(), in GPU memory, for plans on a GPU; ordered in `stream` as
  /// Plan::enqueue_forward() is. `input_exponents`: one per transform, in GPU memory; null: all are 0.
  /// `output_exponents`, in GPU memory, receives one per transform: Info::exponent, plus the input's own,
  /// plus the one found in the data if Info::finds_exponents. Nothing overflows while no part of the input
  /// exceeds the peak in the options. Without `output_exponents` no exponent is found. If
  /// Info::finds_exponents, results have exponent 0 then and sums from 2^102 on may overflow; a transform
  /// whose results or values between steps are f16 is refused (invalid_argument). Throws invalid_argument,
  /// backend_unavailable (a CPU plan), device (the launch failed).
  void enqueue_forward(const void* signals, void* spectra, std::span<std::byte> workspace,
                       CUstream_st* stream, const int* input_exponents = nullptr,
                       int* output_exponents = nullptr) const;
  /// The reverse of enqueue_forward(); the same rules.
  void enqueue_inverse(const void* spectra, void* signals, std::span<std::byte> workspace,
                       CUstream_st* stream, const int* input_exponents = nullptr,
                       int* output_exponents = nullptr) const;
  Info forward_info() const noexcept;  ///< about forward transforms
  Info inverse_info() const noexcept;  ///< about inverse transforms

 private:
  static std::shared_ptr<const detail::PlanState> make(const Shape& shape, Domain domain,
                                                       const Options& options);
};

/// Bytes that `values` stored numbers take; a complex value counts as two.
SFFT_EXPORT std::size_t compact_bytes(std::size_t values, Storage storage) noexcept;
/// Stores real numbers, or the parts of complex ones, with an exponent that fits the largest of them, as
/// CompactPlan does. `stored` has compact_bytes() bytes. Doubles are rounded to float first. Throws
/// shape_mismatch, and invalid_argument if the arrays overlap.
SFFT_EXPORT CompactScale store_compact(std::span<const float> values, Storage storage,
                                       std::span<std::byte> stored);
SFFT_EXPORT CompactScale store_compact(std::span<const double> values, Storage storage,
                                       std::span<std::byte> stored);
/// The reverse. Values outside the range of the result become infinite or 0.
SFFT_EXPORT void load_compact(std::span<const std::byte> stored, Storage storage, const CompactScale& scale,
                              std::span<float> values);
SFFT_EXPORT void load_compact(std::span<const std::byte> stored, Storage storage, const CompactScale& scale,
                              std::span<double> values);

}  // namespace sfft::dense
