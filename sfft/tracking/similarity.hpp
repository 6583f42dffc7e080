// SPDX-License-Identifier: Apache-2.0
// How similar a new frame's spectrum is to an old template.
#pragma once

#include <complex>
#include <optional>
#include <span>

#include "sfft/tracker.hpp"

namespace sfft::detail {

/// The exact coefficients of two frames at the support of `old`.
struct OldSupport {
  const Template& old;
  std::span<const std::complex<double>> before;  ///< frame that `old` was renewed from; empty: unknown
  std::span<const std::complex<double>> now;     ///< new frame
};

/// Computes what TrackedFrame::Similarity defines. `largest` holds the k largest coefficients of the new
/// frame, learned densely, where k is that of the old template.
TrackedFrame::Similarity similarity(const OldSupport& coefficients, const Template& largest);

/// The k largest coefficients of a frame, learned on the device and with the threads of `how`. Empty if the
/// frame has NaN or powers beyond double precision.
std::optional<Template> largest_of(const SignalView& frame, std::int64_t k, const LearnOptions& how);

}  // namespace sfft::detail
