// SPDX-License-Identifier: Apache-2.0
// Reads and writes floats that are stored in other formats.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// Values in memory, and behind them, in the format block16, their exponents.
template <class Byte>
struct StoredArray {
  Byte* values;
  Byte* exponents;
};

/// For one format (kernels/base/storage.hpp). Factors are powers of two, whose product may be out of the
/// range of float.
struct StoredKernels {
  /// The largest magnitude of the finite values; `finite` says whether all are.
  float (*largest)(const StoredArray<const void>& stored, std::int64_t count, bool& finite);
  /// to[i] = first · second · stored[i].
  void (*read)(const StoredArray<const void>& stored, std::int64_t count, float first, float second,
               float* to);
  /// stored[i] = first · second · from[i], rounded to nearest. Adds the squares of the errors of finite
  /// values and of these values themselves, both times unit².
  void (*write)(const float* from, std::int64_t count, float first, float second, float unit,
                const StoredArray<void>& stored, double& error, double& norm);
};

/// Indexed by dense::Storage.
const StoredKernels* stored_kernels() noexcept;

}  // namespace sfft::detail::cpu
