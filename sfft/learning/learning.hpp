// SPDX-License-Identifier: Apache-2.0
// Learning's spectra on the CPU or a GPU, and the step from such a spectrum to a template.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/types.hpp"
#include "sfft/discover.hpp"
#include "sfft/template.hpp"
#include "template/learning/learning_spectrum.hpp"

namespace sfft::detail {

/// What a dense transform has to tell about a template, in the units of LearningSpectrum::exponent.
struct Learned {
  SpectrumLayout layout;
  int exponent = 0;
  bool several = false;                      ///< frames
  std::vector<RankedPower> chosen;           ///< ascending
  std::vector<std::complex<double>> values;  ///< of the first frame at the chosen elements
  std::vector<double> tail;    ///< Σ multiplicity × mean power over each cell, without the chosen elements
  std::vector<double> change;  ///< the same of the mean |X_t − X_0|², for several frames
  double largest_outside = 0;  ///< largest power of an element that was not chosen, where asked for
};

/// Transforms, selects and sums on the CPU; `bound` asks for largest_outside. The frames have one shape and
/// one element type. Throws invalid_argument for NaN or infinite samples, and for what the options ask of
/// all-zero frames.
Learned learn_on_cpu(std::span<const SignalView> frames, const LearnOptions& options, bool bound = false);
/// The parts of it: the k largest of one frame, from a spectrum that is never stored as a whole, ...
Learned learn_largest(const SignalView& frame, std::int64_t k, int threads);
/// ... and spectra that answer every question about them.
std::unique_ptr<LearningSpectrum> stored_spectrum(std::span<const SignalView> frames, int threads);
/// The same as learn_on_cpu() on options.device; nothing larger than a template comes to the host. Throws
/// backend_unavailable, out_of_memory and device as well.
Learned learn_on_gpu(std::span<const SignalView> frames, const LearnOptions& options, bool bound = false);
/// The same for one frame that its device holds or can read, in the order of its stream. Refuses one that the
/// device cannot read.
Learned learn_on_gpu(const DeviceSignal& frame, const LearnOptions& options, bool bound = false);
/// Copies its samples to the host, in the order of its stream; blocks.
void copy_to_host(const DeviceSignal& frame, std::byte* to);

/// Selects what the options ask for, of one frame or of `several`, and removes it from the spectrum.
Learned select_from(LearningSpectrum& spectrum, bool several, const LearnOptions& options,
                    bool bound = false);
/// The template without a reference, still in the units of `learned`. Throws invalid_argument where sums of
/// powers overflow.
std::shared_ptr<TemplateData> to_template(Learned&& learned);
/// Converts from the units of a LearningSpectrum to those of the frames, in which powers may overflow: throws
/// invalid_argument.
void to_frame_units(TemplateData& data, int exponent);

/// The exponent of the largest finite sample, clamped so that no multiple of it leaves the range of a scale;
/// 0 for frames of zeros.
int scale_exponent(std::span<const SignalView> frames);
/// The frame's samples times 2^-exponent; for frames of doubles.
std::vector<double> scaled_samples(const SignalView& frame, int exponent);

/// Refuse options that are out of range, and a k above the number of distinct frequencies.
void check_criteria(const LearnOptions& options);
void check_k(const SpectrumLayout& layout, const LearnOptions& options);
/// Refuses a cell whose sum, that of the chosen elements included, is not finite.
void check_range(const Learned& learned);
/// The template of a blind discovery, which has to be verified: throws not_sparse. Null without a discovery.
std::shared_ptr<TemplateData> verified_template(std::optional<Discovery>&& discovery, const Shape& shape,
                                                bool real, const LearnOptions& options, std::string& why);

/// Refuses a frame whose X at f = 0 is not finite, which is so if any sample is NaN or infinite.
void check_finite(const std::complex<double>& mean, std::size_t frame);

}  // namespace sfft::detail
