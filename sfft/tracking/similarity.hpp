// SPDX-License-Identifier: Apache-2.0
// How much of an old template a new frame still has.
#pragma once

#include <complex>
#include <optional>
#include <span>

#include "sfft/tracker.hpp"

namespace sfft::detail {

/// The exact coefficients of two frames at the support of `old`.
struct OldSupport {
  const Template& old;
  std::span<const std::complex<double>> before;  ///< of the frame that it was renewed from; empty: unknown
  std::span<const std::complex<double>> now;     ///< of the new frame
};

/// As Similarity defines it. `largest` holds the k largest of the new frame, k that of the old template, as
/// learned from it densely.
Similarity similarity(const OldSupport& coefficients, const Template& largest);

/// The k largest of a frame, learned as `how` says where; nothing for a frame that cannot be learned from.
std::optional<Template> largest_of(const SignalView& frame, std::int64_t k, const LearnOptions& how);

}  // namespace sfft::detail
