// SPDX-License-Identifier: Apache-2.0
// The tables of knobs for kernels and for transforms, with the values that the search tries. Assertions check
// that no member is missing.
#include "kernels/dense/tuned/policy/knobs.hpp"

#include <algorithm>
#include <iterator>

#include "kernels/dense/tuned/policy/limits.hpp"
#include "kernels/dense/tuned/policy/member_count.hpp"

namespace sfft::detail::tuned {

namespace {

using Context = const SearchContext&;
using Values = std::vector<int>;

/// Makes a row without the values that the search tries.
template <auto kMember>
struct Row;
template <class Policy, class Value, Value Policy::*kMember>
struct Row<kMember> {
  static constexpr Knob<Policy> of(const char* name, int min, int max,
                                   std::span<const char* const> words = {}) {
    Knob<Policy> knob{};
    knob.name = name;
    knob.min = min;
    knob.max = max;
    knob.get = [](const Policy& policy) { return static_cast<int>(policy.*kMember); };
    knob.set = [](Policy& policy, int value) { policy.*kMember = static_cast<Value>(value); };
    knob.words = words;
    return knob;
  }
};
// The name in texts is that of the member.
#define SFFT_KNOB(Policy, member, ...) Row<&Policy::member>::of(#member, __VA_ARGS__)

constexpr int kMaxCount = 999'999;  ///< for knobs without a natural bound
constexpr int kMaxPad = 64;         ///< slots
constexpr int kMaxDelay = 100'000;  ///< clock cycles
constexpr int kMaxDistance = 1000;  ///< per cent
constexpr int kMaxStreams = 4;

constexpr const char* kTwiddleWords[] = {"one_root", "two_roots", "table", "fused"};
constexpr const char* kLoadWords[] = {"cached", "bypass_l1", "prefetch_l2"};

constexpr Knob<KernelPolicy> tried(Knob<KernelPolicy> knob, Tried tries, Tried tries_all = nullptr) {
  knob.tries = tries;
  knob.tries_all = tries_all;
  return knob;
}
template <auto kOther>
constexpr Knob<KernelPolicy> together_with(Tried values, Knob<KernelPolicy> knob) {
  knob.set_other = Row<kOther>::of("", 0, 0).set;
  knob.tries_other = values;
  return knob;
}

/// Limits blocks to these tile sizes: if more blocks fit, they may only get in each other's way.
Values blocks_of_some_tiles(Context context) {
  constexpr int kTileBytes[] = {40 << 10, 56 << 10, 72 << 10, 88 << 10, 104 << 10};
  Values counts;
  const int tile =
      context.kernel().length() * context.kernel().transforms_per_block * (context.single ? 8 : 16);
  for (const int bytes : kTileBytes) {
    const int count = std::min(bytes / tile, kMaxBlocks);
    if (count > 0 && (counts.empty() || counts.back() != count)) counts.push_back(count);
  }
  return counts;
}

/// Prefetched tiles must still be in the L2 cache when their blocks start.
Values distances(Context) {
  return {0, 12, 25, 35};
}

/// The blocks of one wave all load for some microseconds before they all compute. Those of one multiprocessor
/// load for less.
Values multiprocessor_delays(Context context) {
  return context.alone_on_multiprocessor() ? Values{0, 7000, 14000, 21000} : Values{};
}
Values block_delays(Context) {
  return {0, 200, 400};
}

Values cached_or_not(Context) {
  return {0, 1, 2};
}

constexpr auto kTwoRoots = static_cast<int>(Twiddles::two_roots);

const Knob<KernelPolicy> kKernelKnobs[] = {
    SFFT_KNOB(KernelPolicy, threads_per_transform, 1, kMaxThreads),
    SFFT_KNOB(KernelPolicy, transforms_per_block, 1, kMaxThreads),
    SFFT_KNOB(KernelPolicy, interleaved_shared, 0, 1),
    SFFT_KNOB(KernelPolicy, half_shared, 0, 1),
    SFFT_KNOB(KernelPolicy, staged, 0, 1),
    SFFT_KNOB(KernelPolicy, interleaved_threads, 0, 1),
    tried(
        SFFT_KNOB(KernelPolicy, twiddles, 0, 3, kTwiddleWords),
        [](Context) {
          return Values{0, 1, 2, 3};
        },
        [](Context) { return Values{kTwoRoots}; }),
    tried(SFFT_KNOB(KernelPolicy, pad_interval, 0, kMaxLength),
          [](Context context) {
            return Values{0, context.kernel().radices[0], 8, 16, 32};
          }),
    tried(SFFT_KNOB(KernelPolicy, pad, 0, kMaxPad),
          [](Context) {
            return Values{0, 1, 2};
          }),
    together_with<&KernelPolicy::streaming>(
        [](Context) {
          return Values{0, 1};
        },
        tried(SFFT_KNOB(KernelPolicy, loads, 0, 2, kLoadWords), cached_or_not, cached_or_not)),
    SFFT_KNOB(KernelPolicy, streaming, 0, 1),
    SFFT_KNOB(KernelPolicy, tensor_cores, 0, 1),
    tried(SFFT_KNOB(KernelPolicy, max_blocks_per_multiprocessor, 0, kMaxBlocks), blocks_of_some_tiles),
    tried(SFFT_KNOB(KernelPolicy, prefetch_distance, 0, kMaxDistance), distances),
    tried(SFFT_KNOB(KernelPolicy, block_delay, 0, kMaxDelay), block_delays, block_delays),
    together_with<&KernelPolicy::prefetch_distance>(
        distances, tried(SFFT_KNOB(KernelPolicy, multiprocessor_delay, 0, kMaxDelay), multiprocessor_delays)),
    tried(SFFT_KNOB(KernelPolicy, early_prefetch, 0, 1),
          [](Context context) {
            return !context.real && context.base.kernels.size() == 1 ? Values{0, 1} : Values{};
          }),
    together_with<&KernelPolicy::transforms_per_block>(
        [](Context context) {
          const int transforms = context.kernel().transforms_per_block;
          return Values{transforms, 2 * transforms};
        },
        tried(SFFT_KNOB(KernelPolicy, double_buffered, 0, 1),
              [](Context context) {
                const bool columns_of_frames =
                    context.real && context.base.kernels.size() > 1 && context.step == 0;
                return columns_of_frames ? Values{1} : Values{};
              })),
};
static_assert(std::size(kKernelKnobs) + 1 == member_count<KernelPolicy>(),
              "each member of KernelPolicy but the radices needs a row");

constexpr Knob<TransformPolicy> tried(Knob<TransformPolicy> knob, Tried tries) {
  knob.tries = tries;
  return knob;
}

const Knob<TransformPolicy> kTransformKnobs[] = {
    SFFT_KNOB(TransformPolicy, alternating_groups, 0, kMaxCount),
    SFFT_KNOB(TransformPolicy, streams, 1, kMaxStreams),
    SFFT_KNOB(TransformPolicy, ring_buffer, 0, 1),
    tried(SFFT_KNOB(TransformPolicy, min_blocks_per_multiprocessor, 1, kMaxBlocks),
          [](Context) {
            return Values{2, 3, 4, 6, 8};
          }),
    SFFT_KNOB(TransformPolicy, outputs_per_group, 1, kMaxCount),
};
static_assert(std::size(kTransformKnobs) + 2 == member_count<TransformPolicy>(),
              "each member of TransformPolicy but the factors and kernels needs a row");
#undef SFFT_KNOB

template <class Policy>
bool same(std::span<const Knob<Policy>> knobs, const Policy& a, const Policy& b) {
  return std::all_of(knobs.begin(), knobs.end(),
                     [&](const Knob<Policy>& knob) { return knob.get(a) == knob.get(b); });
}

}  // namespace

std::span<const Knob<KernelPolicy>> kernel_knobs() {
  return kKernelKnobs;
}
std::span<const Knob<TransformPolicy>> transform_knobs() {
  return kTransformKnobs;
}

bool operator==(const KernelPolicy& a, const KernelPolicy& b) {
  return a.radices == b.radices && same(kernel_knobs(), a, b);
}
bool operator==(const TransformPolicy& a, const TransformPolicy& b) {
  return a.factors == b.factors && a.kernels == b.kernels && same(transform_knobs(), a, b);
}

bool alone_on_multiprocessor(const KernelPolicy& kernel, bool single) {
  constexpr int kBytes = 80 << 10;
  return kernel.length() * kernel.transforms_per_block * (single ? 8 : 16) > kBytes;
}
bool SearchContext::alone_on_multiprocessor() const {
  return tuned::alone_on_multiprocessor(kernel(), single);
}

}  // namespace sfft::detail::tuned
