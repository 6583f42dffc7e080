// SPDX-License-Identifier: Apache-2.0
// The kernels of a format read and write floats directly, and doubles through a block of floats.
#include "kernels/dense/cpu/stored_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <type_traits>

#include "kernels/cpu/stages/stored.hpp"

namespace sfft::detail {

namespace {

using dense::Storage;

const cpu::StoredKernels& kernels_of(Storage storage) noexcept {
  return cpu::stored_kernels()[static_cast<std::size_t>(storage)];
}

/// 2^exponent as a product of two normal numbers. Beyond their range all values become 0 or infinite.
template <class Real>
struct Factors {
  explicit Factors(int exponent) {
    constexpr int kMax = std::numeric_limits<Real>::max_exponent - 2;
    const int total = std::clamp(exponent, -2 * kMax, 2 * kMax), part = std::clamp(total, -kMax, kMax);
    first = std::ldexp(Real(1), part);
    second = std::ldexp(Real(1), total - part);
  }
  Real first, second;
};

/// The values of one transform and their exponents. Byte is void or const void.
template <class Byte>
cpu::StoredArray<Byte> array_of(Byte* stored, Storage storage, std::int64_t count) noexcept {
  using Bytes = std::conditional_t<std::is_const_v<Byte>, const std::byte, std::byte>;
  return {stored, storage == Storage::block16 ? static_cast<Bytes*>(stored) + 2 * count : stored};
}
/// The same array from value `first` on, which must be a multiple of kBlockValues.
template <class Byte>
cpu::StoredArray<Byte> from_value(const cpu::StoredArray<Byte>& all, Storage storage,
                                  std::int64_t first) noexcept {
  using Bytes = std::conditional_t<std::is_const_v<Byte>, const std::byte, std::byte>;
  return {static_cast<Bytes*>(all.values) + (is_16_bit(storage) ? 2 : 4) * first,
          static_cast<Bytes*>(all.exponents) + first / dense::kBlockValues};
}

Census census_with(double largest, bool finite) noexcept {
  return {largest > 0 ? std::ilogb(largest) : 0, largest == 0, finite};
}

/// Calls action(first, count) for blocks that fit in a buffer of floats.
template <class Action>
void by_blocks(std::int64_t count, const Action& action) {
  constexpr std::int64_t kBlock = 1024;
  float block[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock)
    action(first, std::min(kBlock, count - first), block);
}

}  // namespace

double rounding_error(Storage storage) noexcept {
  const double spread = 1 / std::sqrt(8 * std::numbers::ln2);
  constexpr int kDigits[] = {24, 11, 8};
  if (storage != Storage::block16) return std::ldexp(spread, -kDigits[static_cast<std::size_t>(storage)]);
  constexpr double kLargestSquare = 5.70;  // mean of the largest square of 32 standard normal values
  return std::ldexp(spread * std::sqrt(kLargestSquare), -15);
}

std::size_t storage_bytes(Storage storage, std::int64_t values) noexcept {
  const auto count = static_cast<std::size_t>(values);
  if (storage != Storage::block16) return count * (is_16_bit(storage) ? 2 : 4);
  return (2 * count + (count + dense::kBlockValues - 1) / dense::kBlockValues + 3) / 4 * 4;
}

std::size_t storage_alignment(Storage storage) noexcept {
  return is_16_bit(storage) ? 2 : 4;
}

Census census_of(const void* stored, Storage storage, std::int64_t count) noexcept {
  bool finite = true;
  const float largest = kernels_of(storage).largest(array_of(stored, storage, count), count, finite);
  return census_with(static_cast<double>(largest), finite);
}

Census census_of(const double* values, std::int64_t count) noexcept {
  double max = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) {
    const double size = std::abs(values[i]);
    if (size <= std::numeric_limits<double>::max()) {
      max = std::max(max, size);
    } else {
      finite = false;
    }
  }
  return census_with(max, finite);
}

int storing_exponent(const Census& census, Storage storage) noexcept {
  constexpr int kUsual = 64, kTop = 14;
  if (census.zero) return 0;
  if (storage == Storage::f16 || storage == Storage::block16) return census.exponent - kTop;
  return std::abs(census.exponent) <= kUsual ? 0 : census.exponent;
}

template <class Real>
void read_stored(const void* stored, Storage storage, std::int64_t count, int exponent, Real* to) {
  const Factors<Real> factors(exponent);
  const cpu::StoredKernels& kernels = kernels_of(storage);
  const auto all = array_of(stored, storage, count);
  if constexpr (std::is_same_v<Real, float>) {
    kernels.read(all, count, factors.first, factors.second, to);
  } else {
    by_blocks(count, [&](std::int64_t first, std::int64_t size, float* block) {
      kernels.read(from_value(all, storage, first), size, 1, 1, block);
      std::transform(block, block + size, to + first,
                     [&](float value) { return static_cast<Real>(value) * factors.first * factors.second; });
    });
  }
}

template <class Real>
double write_stored(const Real* values, std::int64_t count, int exponent, int largest, Storage storage,
                    void* stored) {
  const Factors<Real> factors(-exponent);
  const auto unit = std::ldexp(1.0f, std::clamp(exponent - largest, -100, 100));
  const cpu::StoredKernels& kernels = kernels_of(storage);
  const auto all = array_of(stored, storage, count);
  double error = 0, norm = 0;
  if constexpr (std::is_same_v<Real, float>) {
    kernels.write(values, count, factors.first, factors.second, unit, all, error, norm);
  } else {
    by_blocks(count, [&](std::int64_t first, std::int64_t size, float* block) {
      std::transform(values + first, values + first + size, block,
                     [&](Real value) { return static_cast<float>(value * factors.first * factors.second); });
      kernels.write(block, size, 1, 1, unit, from_value(all, storage, first), error, norm);
    });
  }
  return norm > 0 ? std::sqrt(error / norm) : 0.0;
}

void pack_stored(const float* values, std::int64_t count, Storage storage, void* stored) noexcept {
  kernels_of(storage).pack(values, count, array_of(stored, storage, count));
}

template void read_stored(const void*, Storage, std::int64_t, int, float*);
template void read_stored(const void*, Storage, std::int64_t, int, double*);
template double write_stored(const float*, std::int64_t, int, int, Storage, void*);
template double write_stored(const double*, std::int64_t, int, int, Storage, void*);

}  // namespace sfft::detail
