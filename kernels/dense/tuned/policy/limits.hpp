// SPDX-License-Identifier: Apache-2.0
// Limits of every GPU, and those of one device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sfft::detail::tuned {

/// The maximum number of points of an FFT within a block: 256 KiB of floats, which pass through half as much
/// shared memory.
constexpr int kMaxLength = 1 << 15;
/// Complex floats in the registers of a thread. The limit is half as many complex doubles.
constexpr int kMaxRegisters = 64;
constexpr int kMaxThreads = 1024;  ///< per block
constexpr int kMaxBlocks = 32;     ///< per multiprocessor
/// The maximum size of a grid's tile in bytes: what fits in a multiprocessor's registers in addition to the
/// other variables.
constexpr std::int64_t kMaxGridBytes = 192 << 10;

/// The minimum compute capability whose tensor cores have mma.m16n8k16 for f16 numbers.
constexpr int kMajorOfProducts = 8;

/// The limits of a device.
struct Limits {
  std::size_t shared_bytes = 48 << 10;  ///< per block, with opt-in
  bool multiplies_f16 = false;          ///< tensor cores have mma.m16n8k16 for f16 numbers
  int multiprocessors = 132;
};

}  // namespace sfft::detail::tuned
