// SPDX-License-Identifier: Apache-2.0
// sfft transforms a signal at the frequencies that matter. This header includes the whole public API.
#pragma once

#include "sfft/dense.hpp"
#include "sfft/dense_compact.hpp"
#include "sfft/dense_convolution.hpp"
#include "sfft/dense_selective.hpp"
#include "sfft/dense_slabs.hpp"
#include "sfft/dense_trigonometric.hpp"
#include "sfft/device.hpp"
#include "sfft/discover.hpp"
#include "sfft/error.hpp"
#include "sfft/frequencies.hpp"
#include "sfft/learn_at.hpp"
#include "sfft/log.hpp"
#include "sfft/page_locked.hpp"
#include "sfft/plan.hpp"
#include "sfft/run_control.hpp"
#include "sfft/samples.hpp"
#include "sfft/template.hpp"
#include "sfft/tracker.hpp"
#include "sfft/types.hpp"
#include "sfft/workspace.hpp"

namespace sfft {

/// Transforms an unknown signal: finds its support, then returns X there. With Largest it calls discover(),
/// which reads a fraction of a sparse signal and, with `dense_fallback`, transforms any other densely;
/// without it, check `verified`. Energy and AboveNoise need a dense FFT (`support_learned_densely`),
/// and use only options.threads. Throws as discover() and learn() do, and invalid_argument if options.k is
/// set.
SFFT_EXPORT Discovery transform(const SignalView& signal, const Criterion& keep,
                                const DiscoverOptions& options = {});
/// One-shot transform at a known support: plans, executes and forgets. For more frames keep a Plan.
SFFT_EXPORT Spectrum<double> transform(const SignalView& frame, const Template& tmpl,
                                       const PlanOptions& options = {});

/// Library version: "major.minor.patch".
SFFT_EXPORT const char* version() noexcept;
/// What this build has and lacks, one item per line: compiler, vector instructions in use, FFTW, CUDA.
SFFT_EXPORT std::string build_info();

}  // namespace sfft
