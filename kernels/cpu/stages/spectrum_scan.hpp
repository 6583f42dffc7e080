// SPDX-License-Identifier: Apache-2.0
// Stage "select" of learning: sums the powers of a dense spectrum and finds the large ones, in one pass.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// The result of a scan: sums over the powers below the level, and the number of the other powers.
struct SpectrumScan {
  double sum;      ///< of the powers below the level
  double largest;  ///< of these powers; 0 if there are none
  std::int64_t found;
};

struct SpectrumScanKernels {
  /// Scans the powers re² + im² at r * stride + c for r < rows, c < columns. Writes the offsets of those that
  /// are not below `level` to `offsets`, ascending; there is room for rows × columns. A NaN power enters the
  /// sum.
  SpectrumScan (*scan)(const double* re, const double* im, std::int64_t stride, std::int64_t rows,
                       std::int64_t columns, double level, std::int64_t* offsets);
};

const SpectrumScanKernels& spectrum_scan_kernels() noexcept;

}  // namespace sfft::detail::cpu
