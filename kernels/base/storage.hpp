// SPDX-License-Identifier: Apache-2.0
// The formats in which compact dense transforms store real and imaginary parts. Read by the compiler of
// generated kernels, too: C++17 without standard headers.
#pragma once

namespace sfft::dense {

/// | storage | bytes | significant bits | largest value | smallest normal value | rounding of a Gaussian, rms
/// |
/// |---------|-------|------------------|---------------|-----------------------|-----------------------------|
/// | f32     | 4     | 24               | 3.4e38        | 1.2e-38               | 2.5e-8 | | f16     | 2 | 11
/// | 65504         | 6.1e-5                | 2.1e-4                      | | bf16    | 2     | 8 | 3.4e38
/// | 1.2e-38               | 1.7e-3                      | All are IEEE 754 interchange formats but bf16,
/// which is the upper half of an f32.
enum class Storage : unsigned char { f32, f16, bf16 };

constexpr bool is_16_bit(Storage storage) {
  return storage != Storage::f32;
}

}  // namespace sfft::dense
