// SPDX-License-Identifier: Apache-2.0
// Twiddle factors of the direct path, computed on the host for every backend.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/math/index.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// exp(−2πi Σ_d f_d t_d / n_d) for every f of the support and every t: k × N.
inline std::vector<std::complex<double>> direct_table(const Shape& shape,
                                                      std::span<const std::int64_t> support) {
  std::vector<std::complex<double>> table;
  table.reserve(static_cast<std::size_t>(shape.points()) * support.size());
  for (const std::int64_t flat : support) {
    for (std::int64_t t = 0; t < shape.points(); ++t) {
      std::complex<double> twiddle = 1;
      std::int64_t f = flat;
      std::int64_t at = t;
      for (int d = shape.rank() - 1; d >= 0; --d) {
        twiddle *= std::conj(phase(f % shape[d], at % shape[d], shape[d]));
        f /= shape[d];
        at /= shape[d];
      }
      table.push_back(twiddle);
    }
  }
  return table;
}

}  // namespace sfft::detail
