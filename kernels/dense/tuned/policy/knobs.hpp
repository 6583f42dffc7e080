// SPDX-License-Identifier: Apache-2.0
// The knobs of policies as tables with one row per knob. Text, parsing, search, fuzzing and round-trip tests
// all follow from the rows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/dense/tuned/policy/transform_policy.hpp"

namespace sfft::detail::tuned {

/// What the values that a search tries may depend on.
struct SearchContext {
  const TransformPolicy& base;
  std::size_t step = 0;
  bool real = false, single = true;

  const KernelPolicy& kernel() const { return base.kernels[step]; }
  /// Whether a block with the kernel's tile has a multiprocessor almost for itself.
  bool alone_on_multiprocessor() const;
};

/// Returns the values of a knob that are worth trying as a change of the best policy found so far. Null or
/// empty means none.
using Tried = std::vector<int> (*)(const SearchContext&);

/// A knob of a KernelPolicy or a TransformPolicy; its value is an int. The member's initializer is the
/// default.
template <class Policy>
struct Knob {
  const char* name;  ///< name of the member, also in texts
  int min, max;
  int (*get)(const Policy&);
  void (*set)(Policy&, int);
  std::span<const char* const> words = {};  ///< names of an enumeration's values, from 0; texts use these

  Tried tries = nullptr;      ///< values for one kernel, or for the whole in a TransformPolicy
  Tried tries_all = nullptr;  ///< values that all kernels get at once
  /// If not null, each value is tried together with each of these values of another knob.
  void (*set_other)(Policy&, int) = nullptr;
  Tried tries_other = nullptr;
};

std::span<const Knob<KernelPolicy>> kernel_knobs();
std::span<const Knob<TransformPolicy>> transform_knobs();

/// Whether a block with such a tile has a multiprocessor almost for itself. Then only prefetching hides its
/// loads.
bool alone_on_multiprocessor(const KernelPolicy& kernel, bool single);
constexpr int kUsualPrefetchDistance = 25, kUsualMultiprocessorDelay = 14000;  ///< for such blocks

}  // namespace sfft::detail::tuned
