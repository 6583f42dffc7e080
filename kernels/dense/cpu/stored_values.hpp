// SPDX-License-Identifier: Apache-2.0
// Reads and writes the values of compact transforms in host memory, scaled by powers of two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sfft/storage.hpp"

namespace sfft::detail {

/// Relative RMS error, over a whole array, of rounding values to the format. With p significant bits the
/// error is 2^-p/sqrt(8 ln 2) if the logarithms of the values are uniform within an octave. For block16,
/// Gaussian values are assumed.
double rounding_error(dense::Storage storage) noexcept;
/// Bytes of the values of one transform, a multiple of 4 for block16.
std::size_t storage_bytes(dense::Storage storage, std::int64_t values) noexcept;
/// Alignment of the values of one transform, in bytes.
std::size_t storage_alignment(dense::Storage storage) noexcept;

/// The properties of an array that determine its scale.
struct Census {
  int exponent = 0;  ///< floor(log2 |x|) of the largest finite x, at least −1074; 0 if all are zero
  bool zero = true;  ///< whether no finite value differs from zero
  bool finite = true;
};
Census census_of(const double* values, std::int64_t count) noexcept;
Census census_of(const void* stored, dense::Storage storage, std::int64_t count) noexcept;

/// The exponent e for a census: values are divided by 2^e before they are stored. For f16 and block16, the
/// largest stored value lies in [2^14, 2^15). For f32 and bf16, e is 0 if the largest value is within 2^±64;
/// otherwise the largest stored value lies in [1, 2).
int storing_exponent(const Census& census, dense::Storage storage) noexcept;

/// to[i] = stored[i] · 2^exponent. Real is float or double. Values out of its range become infinite or 0.
template <class Real>
void read_stored(const void* stored, dense::Storage storage, std::int64_t count, int exponent, Real* to);
/// stored[i] = values[i] / 2^exponent, rounded to nearest. `largest` is the exponent of a census of the
/// values. Returns the relative L2 error of the finite values.
template <class Real>
double write_stored(const Real* values, std::int64_t count, int exponent, int largest, dense::Storage storage,
                    void* stored);
/// Stores the same values as write_stored() with exponent 0, but is several times as fast.
void pack_stored(const float* values, std::int64_t count, dense::Storage storage, void* stored) noexcept;

}  // namespace sfft::detail
