// SPDX-License-Identifier: Apache-2.0
// Finds the k largest powers of a stored spectrum, their values, and the cell sums of the rest. All work is
// queued at once, whereas the functions of select.hpp and cell_sums.hpp wait for the GPU some ten times.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/spectrum/cell_sums.hpp"
#include "kernels/cuda/spectrum/spectrum_extents.hpp"

namespace sfft::detail::cuda {

/// Results in host memory.
struct LargestOfSpectrum {
  std::complex<double> mean;          ///< X at f = 0
  double largest_outside;             ///< the largest power that was not chosen; 0 if all were chosen
  std::vector<std::int64_t> indices;  ///< of stored elements, ascending
  std::vector<double> power;
  std::vector<std::complex<double>> values;
  std::vector<double> sums;  ///< as from cell_sums(), without the chosen elements
};

class SelectLargest {
 public:
  /// How many digits of the powers are counted. `few` counts the exponent and 11 bits of the mantissa, then
  /// lists the powers that agree with the k-th largest in those. That is faster, but works only if few powers
  /// agree (settled()).
  enum class Digits { few, all };

  /// Precondition: k >= 1, and at least `k` elements are not excluded.
  SelectLargest(const SpectrumExtents& extents, std::int64_t k);

  /// Bytes of 256-byte aligned device memory.
  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Bytes of host memory from which tables and to which results are copied; if it is page-locked, no copy
  /// blocks.
  std::size_t host_bytes() const noexcept { return upload_bytes_ + result_bytes_; }
  /// Copies and clears what enqueue() needs in the workspace. Best queued before the powers are computed.
  void prepare(std::byte* workspace, std::byte* host, Stream stream) const;
  /// Selects by `power` among elements that are not negative; ties go to the smaller index. Selected elements
  /// become kExcluded. A NaN power counts as the largest. Stream-ordered; `host` is in use until the caller
  /// has waited for the stream. Results do not depend on thread order. Throws Error(device).
  void enqueue(const std::complex<double>* spectrum, double* power, std::byte* workspace, std::byte* host,
               Digits digits, Stream stream) const;
  /// Whether the digits sufficed; call it after waiting for the stream. If not, nothing was selected; call
  /// prepare() and enqueue() again for all digits.
  bool settled(const std::byte* host) const;
  /// The results; call it once settled() is true.
  LargestOfSpectrum results(const std::byte* host) const;

 private:
  SpectrumExtents extents_;
  std::int64_t k_;
  CellSums sums_;
  std::size_t upload_bytes_, result_bytes_, workspace_bytes_;
};

}  // namespace sfft::detail::cuda
