// SPDX-License-Identifier: Apache-2.0
// The formats in which compact dense transforms store real and imaginary parts. Generated kernels also
// include this file, so it is C++17 without standard headers.
#pragma once

namespace sfft::dense {

/// | storage | bytes  | significant bits | largest value | smallest normal | rounding of a Gaussian |
/// |---------|--------|------------------|---------------|-----------------|------------------------|
/// | f32     | 4      | 24               | 3.4e38        | 1.2e-38         | 2.5e-8                 |
/// | f16     | 2      | 11               | 65504         | 6.1e-5          | 2.1e-4                 |
/// | bf16    | 2      | 8                | 3.4e38        | 1.2e-38         | 1.7e-3                 |
/// | block16 | 2 1/32 | 15, see below    | 3.4e38        | 2.9e-39         | 3.1e-5                 |
/// f32, f16 and bf16 are floating-point numbers, and bf16 is the upper half of an f32. In block16, the 16-bit
/// integers of a transform are followed by one signed byte for every 32 of them. Value i is integer i times
/// 2^(byte i/32); the largest of 32 values has 15 significant bits. The integer −32768 stands for NaN, and
/// ±32767 for infinities and for numbers beyond the range of float.
enum class Storage : unsigned char { f32, f16, bf16, block16 };

/// Values that share an exponent in block16.
constexpr int kBlockValues = 32;

constexpr bool is_16_bit(Storage storage) {
  return storage != Storage::f32;
}

}  // namespace sfft::dense
