// SPDX-License-Identifier: Apache-2.0
// The k largest powers of a stored spectrum, their values, and the cell sums of what is left: queued as a
// whole, where the functions of select.hpp and cell_sums.hpp wait for the GPU some ten times.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/spectrum/cell_sums.hpp"
#include "kernels/cuda/spectrum/spectrum_extents.hpp"

namespace sfft::detail::cuda {

/// In host memory.
struct LargestOfSpectrum {
  std::complex<double> mean;          ///< X at f = 0
  double largest_outside;             ///< the largest power that was not chosen; 0: all were
  std::vector<std::int64_t> indices;  ///< of stored elements, ascending
  std::vector<double> power;
  std::vector<std::complex<double>> values;
  std::vector<double> sums;  ///< as cell_sums(), without the chosen elements
};

class SelectLargest {
 public:
  /// How many digits of the powers are counted. `few`: the exponent and 11 bits of the mantissa. Then the
  /// powers that agree with the k-th largest in these are listed, which is faster, and works where they are
  /// few (settled()).
  enum class Digits { few, all };

  /// At least `k` elements are not excluded; k >= 1.
  SelectLargest(const SpectrumExtents& extents, std::int64_t k);

  /// Bytes of 256-byte aligned device memory.
  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// Bytes of host memory that tables are copied from and results to; page-locked, the copies block nothing.
  std::size_t host_bytes() const noexcept { return upload_bytes_ + result_bytes_; }
  /// Copies and clears what enqueue() needs in the workspace. Best queued ahead of what makes the powers.
  void prepare(std::byte* workspace, std::byte* host, Stream stream) const;
  /// Chooses by `power`, of elements that are not negative; ties go to the smaller index. The chosen become
  /// kExcluded. A power of NaN counts as the largest. Stream-ordered; `host` is in use until the stream has
  /// been waited for. The results do not depend on the order in which threads run. Throws Error(device).
  void enqueue(const std::complex<double>* spectrum, double* power, std::byte* workspace, std::byte* host,
               Digits digits, Stream stream) const;
  /// Once the stream has been waited for: whether the digits were enough. If not, nothing was chosen, and
  /// prepare() and enqueue() have to be called again for all digits.
  bool settled(const std::byte* host) const;
  /// The results, if it is settled.
  LargestOfSpectrum results(const std::byte* host) const;

 private:
  SpectrumExtents extents_;
  std::int64_t k_;
  CellSums sums_;
  std::size_t upload_bytes_, result_bytes_, workspace_bytes_;
};

}  // namespace sfft::detail::cuda
