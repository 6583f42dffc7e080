// SPDX-License-Identifier: Apache-2.0
// Radix selection: each pass over the array counts one 11-bit digit in a histogram. A second selection, over
// indices, cuts ties at the level.
#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/spectrum/largest.hpp"

namespace sfft::detail::cuda {

namespace {

using Bits = unsigned long long;

constexpr int kDigitBits = 11;
constexpr int kBins = 1 << kDigitBits;
constexpr int kPowerBits = 64;

/// The bits of a non-negative double have the order of its value.
struct PowerKey {
  Candidates candidates;
  __device__ bool operator()(std::int64_t i, Bits& key) const {
    const double power = candidates.power[i];
    key = static_cast<Bits>(__double_as_longlong(power));
    return !(power < 0);
  }
};

/// Among elements of the same power, the smallest index has the largest key.
struct TieKey {
  Candidates candidates;
  double level;
  __device__ bool operator()(std::int64_t i, Bits& key) const {
    key = static_cast<Bits>(candidates.count - 1 - i);
    return candidates.power[i] == level;
  }
};

/// Counts the digits at `shift` of all keys whose bits under `fixed` are those of `prefix`.
template <class Key>
__global__ void count_digits(Key key, Bits prefix, Bits fixed, int shift, Bits digit_mask, Bits* bins) {
  __shared__ unsigned local[kBins];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = key.candidates.first + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < key.candidates.count; i += step) {
    Bits value = 0;
    if (key(i, value) && ((value ^ prefix) & fixed) == 0)
      atomicAdd(&local[(value >> shift) & digit_mask], 1U);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) {
    if (local[b] != 0) atomicAdd(&bins[b], static_cast<Bits>(local[b]));
  }
}

struct Ranked {
  Bits key;
  std::int64_t rank_among_equals;  ///< from 1
  std::int64_t equals;
};

/// The rank-th largest key, digit by digit from the top.
template <class Key>
Ranked key_at_rank(const Key& key, int key_bits, std::int64_t rank, Stream stream) {
  const DeviceBuffer bins(kBins * sizeof(Bits));
  std::vector<Bits> counts(kBins);
  Ranked result{0, rank, 0};
  Bits fixed = 0;
  for (int top = key_bits; top > 0; top -= kDigitBits) {
    const int shift = std::max(top - kDigitBits, 0);
    const Bits digit_mask = (Bits{1} << (top - shift)) - 1;
    check(cudaMemsetAsync(bins.data(), 0, bins.bytes(), stream), "clearing a histogram");
    count_digits<<<strided_blocks(key.candidates.count), kThreads, 0, stream>>>(key, result.key, fixed, shift,
                                                                                digit_mask, bins.as<Bits>());
    check_launch("count_digits");
    copy_to_host(counts.data(), bins.data(), bins.bytes(), stream);
    synchronize(stream);
    auto digit = static_cast<std::size_t>(digit_mask);
    while (digit > 0 && static_cast<std::int64_t>(counts[digit]) < result.rank_among_equals) {
      result.rank_among_equals -= static_cast<std::int64_t>(counts[digit]);
      --digit;
    }
    result.key |= static_cast<Bits>(digit) << shift;
    result.equals = static_cast<std::int64_t>(counts[digit]);
    fixed |= digit_mask << shift;
  }
  return result;
}

double to_power(Bits key) {
  double power;
  static_assert(sizeof power == sizeof key, "powers are doubles");
  std::memcpy(&power, &key, sizeof power);
  return power;
}

struct IsTaken {
  const double* power;
  Cut cut;
  __host__ __device__ bool operator()(std::int64_t i) const {
    return power[i] > cut.level || (power[i] == cut.level && i <= cut.last_tie);
  }
};

__global__ void count_taken_kernel(Candidates candidates, IsTaken is_taken, Bits* total) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  Bits mine = 0;
  std::int64_t i = candidates.first + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < candidates.count; i += step) mine += is_taken(i) ? 1 : 0;
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(0xFFFFFFFFU, mine, lanes);
  if (threadIdx.x % 32 == 0 && mine != 0) atomicAdd(total, mine);
}

}  // namespace

double power_at_rank(const Candidates& candidates, std::int64_t rank, Stream stream) {
  return to_power(key_at_rank(PowerKey{candidates}, kPowerBits, rank, stream).key);
}

Cut cut_at_rank(const Candidates& candidates, std::int64_t rank, Stream stream) {
  const Ranked ranked = key_at_rank(PowerKey{candidates}, kPowerBits, rank, stream);
  const double level = to_power(ranked.key);
  if (ranked.rank_among_equals == ranked.equals) return {level, candidates.count - 1};
  int index_bits = 1;
  while (candidates.count >> index_bits != 0) ++index_bits;
  const Ranked tie = key_at_rank(TieKey{candidates, level}, index_bits, ranked.rank_among_equals, stream);
  return {level, candidates.count - 1 - static_cast<std::int64_t>(tie.key)};
}

std::int64_t count_taken(const Candidates& candidates, const Cut& cut, Stream stream) {
  const DeviceBuffer total(sizeof(Bits));
  check(cudaMemsetAsync(total.data(), 0, total.bytes(), stream), "clearing a counter");
  count_taken_kernel<<<strided_blocks(candidates.count), kThreads, 0, stream>>>(
      candidates, IsTaken{candidates.power, cut}, total.as<Bits>());
  check_launch("count_taken");
  Bits taken = 0;
  copy_to_host(&taken, total.data(), sizeof taken, stream);
  synchronize(stream);
  return static_cast<std::int64_t>(taken);
}

DeviceBuffer take(const Candidates& candidates, const Cut& cut, std::int64_t taken, Stream stream) {
  // CUB before CCCL 2.7 counts its elements in an int.
  constexpr std::int64_t kPiece = std::int64_t{1} << 30;
  DeviceBuffer indices(static_cast<std::size_t>(taken) * sizeof(std::int64_t));
  const DeviceBuffer counter(sizeof(std::int64_t));
  const IsTaken is_taken{candidates.power, cut};
  std::int64_t done = 0;
  for (std::int64_t begin = candidates.first; begin < candidates.count && done < taken; begin += kPiece) {
    const std::int64_t piece = std::min(kPiece, candidates.count - begin);
    const thrust::counting_iterator<std::int64_t> elements(begin);
    std::int64_t* out = indices.as<std::int64_t>() + done;
    std::size_t bytes = 0;
    check(cub::DeviceSelect::If(nullptr, bytes, elements, out, counter.as<std::int64_t>(),
                                static_cast<int>(piece), is_taken, stream),
          "sizing a selection");
    const DeviceBuffer scratch(std::max<std::size_t>(bytes, 1));
    check(cub::DeviceSelect::If(scratch.data(), bytes, elements, out, counter.as<std::int64_t>(),
                                static_cast<int>(piece), is_taken, stream),
          "selecting the strongest frequencies");
    std::int64_t found = 0;
    copy_to_host(&found, counter.data(), sizeof found, stream);
    synchronize(stream);
    done += found;
  }
  return indices;
}

}  // namespace sfft::detail::cuda
