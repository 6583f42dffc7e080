// SPDX-License-Identifier: Apache-2.0
// Learning's spectra on the CPU or a GPU, and the step from such a spectrum to a template.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>

#include "kernels/base/types.hpp"
#include "sfft/discover.hpp"
#include "sfft/template.hpp"
#include "template/learning/learning_spectrum.hpp"

namespace sfft::detail {

/// The frames have one shape and one element type. Throws invalid_argument for NaN or infinite samples.
std::unique_ptr<LearningSpectrum> learn_on_cpu(std::span<const SignalView> frames, int threads);
/// The same on a GPU; only what the functions of LearningSpectrum return comes to the host. Throws
/// backend_unavailable, out_of_memory and device as well.
std::unique_ptr<LearningSpectrum> learn_on_gpu(std::span<const SignalView> frames, int device);
/// The same for one frame that the GPU holds or can read; waits for its stream first.
std::unique_ptr<LearningSpectrum> learn_on_gpu(const DeviceSignal& frame);

/// The template that the options ask for, of one frame or of `several`; without a reference, and in the
/// spectrum's units (LearningSpectrum::exponent).
std::shared_ptr<TemplateData> learn_from(LearningSpectrum& spectrum, bool several,
                                         const LearnOptions& options);

/// Refuses a frame whose X at f = 0 is not finite, which is so if any sample is NaN or infinite.
void check_finite(const std::complex<double>& mean, std::size_t frame);

}  // namespace sfft::detail
