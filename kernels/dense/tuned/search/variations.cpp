// SPDX-License-Identifier: Apache-2.0
// Varies one knob at a time with the tables of knobs, and omits duplicates and policies equal to the base.
#include "kernels/dense/tuned/search/variations.hpp"

#include <algorithm>

#include "kernels/dense/tuned/policy/limits.hpp"
#include "kernels/dense/tuned/search/candidates.hpp"

namespace sfft::detail::tuned {

namespace {

constexpr int kMaxPoints = 32;  ///< per thread

/// Adds every value of `knob` that `tries` returns, in one kernel or in all. Each is combined with the values
/// of the other knob that its row names.
template <class Add>
void vary(const SearchContext& context, const Knob<KernelPolicy>& knob, Tried tries, bool all_kernels,
          const Add& add) {
  if (tries == nullptr || context.kernel().tensor_cores) return;
  const bool alone = knob.set_other == nullptr;
  for (const int other : alone ? std::vector{0} : knob.tries_other(context)) {
    for (const int value : tries(context)) {
      TransformPolicy varied = context.base;
      for (std::size_t step = 0; step < varied.kernels.size(); ++step) {
        if (!all_kernels && step != context.step) continue;
        if (!alone) knob.set_other(varied.kernels[step], other);
        knob.set(varied.kernels[step], value);
      }
      add(varied);
    }
  }
}

}  // namespace

TransformPolicy with_caching(TransformPolicy policy, Loads loads, bool streaming) {
  for (KernelPolicy& kernel : policy.kernels) {
    kernel.loads = loads;
    kernel.streaming = streaming;
  }
  return policy;
}

std::vector<TransformPolicy> neighbours(const TransformPolicy& base) {
  std::vector<TransformPolicy> all;
  if (base.factors.size() == 3 && base.factors[0] % (2 * base.outputs_per_group) == 0) {
    TransformPolicy wider = base;
    wider.outputs_per_group *= 2;
    wider.kernels[1].transforms_per_block *= 2;
    wider.kernels[2].transforms_per_block *= 2;
    const auto fits = [](const KernelPolicy& kernel) {
      return kernel.threads_per_transform * kernel.transforms_per_block <= kMaxThreads;
    };
    if (std::all_of(wider.kernels.begin(), wider.kernels.end(), fits)) all.push_back(wider);
  }
  for (std::size_t step = 0; step < base.kernels.size(); ++step) {
    const KernelPolicy& best = base.kernels[step];
    if (best.tensor_cores) continue;  // the candidates already include all of these
    const auto add = [&](const IntList& radices, int threads, int transforms) {
      KernelPolicy kernel = best;
      kernel.radices = radices;
      kernel.threads_per_transform = threads;
      kernel.transforms_per_block = transforms;
      if (best.pad_interval == best.radices[0]) kernel.pad_interval = radices[0];
      if (kernel == best || transforms < 1 || threads * transforms > kMaxThreads ||
          kernel.registers() > std::max(kMaxPoints, best.registers()))
        return;
      all.push_back(base);
      all.back().kernels[step] = kernel;
    };
    IntList order = best.radices;
    std::sort(order.begin(), order.end());
    do {
      add(order, best.threads_per_transform, best.transforms_per_block);
    } while (std::next_permutation(order.begin(), order.end()));
    const int transforms = best.transforms_per_block;
    for (const int threads : thread_counts(best.radices, kMaxPoints)) {
      for (const int count : {transforms / 2, transforms, 2 * transforms}) add(best.radices, threads, count);
    }
  }
  return all;
}

std::vector<TransformPolicy> refinements(const TransformPolicy& base, bool real, bool single) {
  std::vector<TransformPolicy> all;
  const auto add = [&](const TransformPolicy& policy) {
    if (!(policy == base) && std::find(all.begin(), all.end(), policy) == all.end()) all.push_back(policy);
  };
  SearchContext context{base, 0, real, single};
  for (const Knob<TransformPolicy>& knob : transform_knobs()) {
    if (knob.tries == nullptr) continue;
    for (const int value : knob.tries(context)) {
      TransformPolicy varied = base;
      knob.set(varied, value);
      add(varied);
    }
  }
  for (const Knob<KernelPolicy>& knob : kernel_knobs()) vary(context, knob, knob.tries_all, true, add);
  for (; context.step < base.kernels.size(); ++context.step) {
    for (const Knob<KernelPolicy>& knob : kernel_knobs()) vary(context, knob, knob.tries, false, add);
  }
  return all;
}

}  // namespace sfft::detail::tuned
