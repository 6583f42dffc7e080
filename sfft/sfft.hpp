// SPDX-License-Identifier: Apache-2.0
// sfft transforms a signal at the frequencies that matter. This header includes the whole public API.
#pragma once

#include "kernels/base/error.hpp"
#include "kernels/base/types.hpp"
#include "sfft/dense.hpp"
#include "sfft/dense_compact.hpp"
#include "sfft/dense_selective.hpp"
#include "sfft/dense_slabs.hpp"
#include "sfft/device_pictures.hpp"
#include "sfft/device_signal.hpp"
#include "sfft/discover.hpp"
#include "sfft/learn_at.hpp"
#include "sfft/page_locked.hpp"
#include "sfft/plan.hpp"
#include "sfft/template.hpp"
#include "sfft/tracker.hpp"

namespace sfft {

/// Options for a signal of unknown support.
struct TransformOptions {
  std::int64_t k = 0;  ///< as in LearnOptions: set exactly one of the three
  /// As in LearnOptions.
  double energy = 0;
  /// As in LearnOptions.
  double threshold_sigma = 0;
  /// Threads of a dense transform.
  int threads = 1;
  Fallback fallback = Fallback::dense;  ///< with k: when discovery is not verified
  /// Seed of discovery: same seed, same answer.
  std::uint64_t seed = 1;
};

/// Transforms an unknown signal: finds its support, then returns X there. With `k` it calls discover(),
/// which reads a fraction of a sparse signal and, unless fallback is none, transforms any other
/// densely. `energy` and `threshold_sigma` need a dense FFT (`support_learned_densely`). With
/// Fallback::none check `verified`.
SFFT_EXPORT Spectrum<double> transform(const SignalView& signal, const TransformOptions& options);
/// One-shot transform at a known support: plans, executes and forgets. For more frames keep a Plan.
SFFT_EXPORT Spectrum<double> transform(const SignalView& frame, const Template& tmpl,
                                       const PlanOptions& options = {});

/// Why a backend cannot be used here: no driver, no GPU, or no code for it in
/// this build. Empty if it can.
SFFT_EXPORT std::string unavailable(Backend backend, int device = 0);

/// Library version: "major.minor.patch".
SFFT_EXPORT const char* version() noexcept;
/// What this build has and lacks, one item per line: compiler, vector instructions in use, FFTW, CUDA.
SFFT_EXPORT std::string build_info();

}  // namespace sfft
