// SPDX-License-Identifier: Apache-2.0
// Reads and writes floats stored in other formats.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// Values in memory; in the format block16, they also have exponents.
template <class Byte>
struct StoredArray {
  Byte* values;
  Byte* exponents;
};

/// Kernels for one format (sfft/storage.hpp). Factors are powers of two, whose product may exceed the
/// range of float.
struct StoredKernels {
  /// The largest magnitude of the finite values; `finite` tells whether all are.
  float (*largest)(const StoredArray<const void>& stored, std::int64_t count, bool& finite);
  /// to[i] = first · second · stored[i].
  void (*read)(const StoredArray<const void>& stored, std::int64_t count, float first, float second,
               float* to);
  /// stored[i] = first · second · from[i], rounded to nearest. Adds the squared errors of finite values to
  /// `error` and the squares of those values to `norm`, both times unit².
  void (*write)(const float* from, std::int64_t count, float first, float second, float unit,
                const StoredArray<void>& stored, double& error, double& norm);
  /// The same without factors and without measuring errors, which would take most of the time.
  void (*pack)(const float* from, std::int64_t count, const StoredArray<void>& stored);
};

/// Indexed by dense::Storage.
const StoredKernels* stored_kernels() noexcept;

}  // namespace sfft::detail::cpu
