// SPDX-License-Identifier: Apache-2.0
// Spectra for learning on the CPU or a GPU, and the step from such a spectrum to a template.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/runtime/memory_budget.hpp"
#include "sfft/discover.hpp"
#include "sfft/learning/device_signal.hpp"
#include "sfft/template.hpp"
#include "sfft/types.hpp"
#include "template/learning/learning_spectrum.hpp"

namespace sfft::detail {

/// What a template takes from a dense transform, in the units of LearningSpectrum::exponent.
struct Learned {
  SpectrumLayout layout;
  int exponent = 0;
  bool several = false;                      ///< several frames
  std::vector<RankedPower> chosen;           ///< ascending
  std::vector<std::complex<double>> values;  ///< of the first frame at the chosen elements
  std::vector<double> tail;    ///< Σ multiplicity × mean power over each cell, without the chosen elements
  std::vector<double> change;  ///< the same for the mean |X_t − X_0|², with several frames
  MemoryShare memory;          ///< for `chosen` and `values`
  double largest_outside = 0;  ///< largest power of an element that was not chosen, if requested
};

/// Transforms, selects and sums on the CPU; `bound` requests largest_outside. The frames have one shape and
/// element type. Throws invalid_argument for NaN or infinite samples, and for options that all-zero frames
/// cannot satisfy.
Learned learn_on_cpu(std::span<const SignalView> frames, const LearnOptions& options, bool bound = false);
/// A part of learn_on_cpu(): the k largest of one frame, from a spectrum that is never stored as a whole.
Learned learn_largest(const SignalView& frame, std::int64_t k, int threads);
/// The other part of learn_on_cpu(): stored spectra, which answer all queries.
std::unique_ptr<LearningSpectrum> stored_spectrum(std::span<const SignalView> frames, int threads);
/// Like learn_on_cpu(), on options.device; nothing larger than a template is copied to the host. Also throws
/// backend_unavailable, out_of_memory and device.
Learned learn_on_gpu(std::span<const SignalView> frames, const LearnOptions& options, bool bound = false);
/// The same for one frame that its device holds or can read, in the order of its stream. Rejects a frame that
/// the device cannot read.
Learned learn_on_gpu(const DeviceSignal& frame, const LearnOptions& options, bool bound = false);
/// Copies the samples to the host, in the order of the frame's stream; blocks.
void copy_to_host(const DeviceSignal& frame, std::byte* to);

/// Selects what the options request, from one frame or `several`, and removes it from the spectrum.
Learned select_from(LearningSpectrum& spectrum, bool several, const LearnOptions& options,
                    bool bound = false);
/// The template without a reference, still in the units of `learned`. Throws invalid_argument where sums of
/// powers overflow.
std::shared_ptr<TemplateData> to_template(Learned&& learned);
/// Converts from the units of a LearningSpectrum to those of the frames, in which powers may overflow; throws
/// invalid_argument if they do.
void to_frame_units(TemplateData& data, int exponent);

/// The exponent of the largest sample, clamped to ±1000, so that 2^-exponent is a normal double; 0 for
/// all-zero frames and frames with infinities.
int scale_exponent(std::span<const SignalView> frames);
/// The frame's samples times 2^-exponent; for frames of doubles.
CountedVector<double> scaled_samples(const SignalView& frame, int exponent);

/// The k of Largest; 0 for other criteria.
std::int64_t largest_k(const LearnOptions& options) noexcept;
/// Records the criterion that chose the support, unless it is Largest.
void note_criterion(TemplateData& data, const LearnOptions& options) noexcept;
/// Reject options that are out of range, and a k above the number of distinct frequencies.
void check_criteria(const LearnOptions& options);
void check_k(const SpectrumLayout& layout, const LearnOptions& options);
/// Rejects a cell whose sum, including the chosen elements, is not finite.
void check_range(const Learned& learned);
/// The template of a discovery. Throws not_sparse if it is not verified. Null without a discovery.
std::shared_ptr<TemplateData> verified_template(std::optional<Discovery>&& discovery, const Shape& shape,
                                                bool real, const LearnOptions& options, std::string& why);

/// Logs how a template was learned.
void log_learned(const TemplateData& data);

/// Rejects a frame whose X at f = 0 is not finite, which happens if any sample is NaN or infinite.
void check_finite(const std::complex<double>& mean, std::size_t frame);

}  // namespace sfft::detail
