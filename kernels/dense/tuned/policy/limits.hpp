// SPDX-License-Identifier: Apache-2.0
// Bounds that hold on every GPU, and those of one device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sfft::detail::tuned {

/// Points of an FFT within a block: 256 KiB of floats, which pass through half as much shared memory.
constexpr int kMaxLength = 1 << 15;
/// Complex floats in the registers of a thread; half as many complex doubles.
constexpr int kMaxRegisters = 64;
constexpr int kMaxThreads = 1024;  ///< of a block
constexpr int kMaxBlocks = 32;     ///< of a multiprocessor
/// Bytes of a tile of a grid: what a multiprocessor's registers hold besides the rest.
constexpr std::int64_t kMaxGridBytes = 192 << 10;

/// The compute capability from which tensor cores have mma.m16n8k16 of f16 numbers.
constexpr int kMajorOfProducts = 8;

/// Limits of a device.
struct Limits {
  std::size_t shared_bytes = 48 << 10;  ///< of a block, with opt-in
  bool multiplies_f16 = false;          ///< tensor cores have mma.m16n8k16 of f16 numbers
};

}  // namespace sfft::detail::tuned
