// SPDX-License-Identifier: Apache-2.0
// The knobs of policies as tables: one row for each, from which text, parsing, search, fuzzing and round-trip
// tests follow.
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
  /// A block that holds such a tile has a multiprocessor for itself, or nearly so.
  bool alone_on_multiprocessor() const;
};

/// Values of a knob that are worth trying as a change of the best policy found so far; empty: none.
using Tried = std::vector<int> (*)(const SearchContext&);

/// A knob of a KernelPolicy or a TransformPolicy, with its value as an int. Its default is that of the
/// member.
template <class Policy>
struct Knob {
  const char* name;  ///< of the member, and in texts
  int min, max;
  int (*get)(const Policy&);
  void (*set)(Policy&, int);
  std::span<const char* const> words = {};  ///< of an enumeration's values, from 0; texts hold these

  Tried tries = nullptr;      ///< for one kernel; of a TransformPolicy for the whole
  Tried tries_all = nullptr;  ///< the same value for all kernels
  /// Not null: tried together with each of these values of another knob.
  void (*set_other)(Policy&, int) = nullptr;
  Tried tries_other = nullptr;
};

std::span<const Knob<KernelPolicy>> kernel_knobs();
std::span<const Knob<TransformPolicy>> transform_knobs();

/// Whether a block that holds such a tile has a multiprocessor for itself, or nearly so: nothing hides its
/// loads but prefetching.
bool alone_on_multiprocessor(const KernelPolicy& kernel, bool single);
constexpr int kUsualPrefetchDistance = 25, kUsualMultiprocessorDelay = 14000;  ///< for such blocks

}  // namespace sfft::detail::tuned
