// SPDX-License-Identifier: Apache-2.0
// Processes one frame on the CPU: the executor's transform, then the reference and the error estimates.
// Repeats this with scaled samples if powers would leave the range of the arithmetic.
#include "sfft/plan/plan_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/argument_checks.hpp"
#include "kernels/base/host_resources.hpp"
#include "kernels/base/region.hpp"
#include "kernels/base/run_scope.hpp"
#include "kernels/cpu/stages/error_kernels.hpp"
#include "sfft/error.hpp"
#include "template/data/support_set.hpp"
#include "template/planning/witness.hpp"

namespace sfft::detail {

int thread_count(int option) {
  if (option < 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("threads = {} must be 0 or more", option));
  if (option > 0) return option;
  return usable_processors();
}

template <class Real>
void PlanImpl<Real>::check(const SignalView& frame) const {
  const Template& source = design->source;
  if (frame.shape() != source.shape()) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("the frame is {}, the template was learned for {}", frame.shape().to_string(),
                            source.shape().to_string()));
  }
  if (domain_of(frame.type()) != source.domain()) {
    throw Error(ErrorCode::type_mismatch, fmt::format("the frame is {}, the template is for {} signals",
                                                      to_string(frame.type()), to_string(source.domain())));
  }
}

template <class Real>
void PlanImpl<Real>::check(const DeviceView& frames,
                           const typename Plan<Real>::DeviceSpectra& spectra) const {
  const Template& source = design->source;
  check_enumerator(frames.type, ElementType::c128, "DeviceView::type");
  if (!design->device) {
    throw Error(ErrorCode::backend_unavailable,
                "enqueue() needs a plan made for the GPU: set PlanOptions::device to Device::gpu()");
  }
  if (domain_of(frames.type) != source.domain()) {
    throw Error(ErrorCode::type_mismatch, fmt::format("the frames are {}, the template is for {} signals",
                                                      to_string(frames.type), to_string(source.domain())));
  }
  constexpr std::int64_t kMaxFrames = 1 << 24;
  if (frames.count < 0 || frames.count > kMaxFrames)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} frames: at most {} at a time", frames.count, kMaxFrames));
  if (frames.shape != source.shape()) {
    throw Error(ErrorCode::shape_mismatch, fmt::format("the frames are {}, the template was learned for {}",
                                                       frames.shape.to_string(), source.shape().to_string()));
  }
  if (const int gpu = design->options.device.gpu_number(); frames.gpu.value_or(gpu) != gpu) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the frames are on GPU {}, and the plan runs on GPU {}: set DeviceView::gpu",
                            *frames.gpu, gpu));
  }
  if (frames.pitch && *frames.pitch < source.shape().points()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("frames of {} elements at a pitch of {} overlap",
                                                         source.shape().points(), *frames.pitch));
  }
  if (frames.count > 0 && (frames.data == nullptr || spectra.values == nullptr ||
                           spectra.standard_error == nullptr || spectra.errors == nullptr)) {
    throw Error(ErrorCode::invalid_argument, "a pointer to the frames or to the results is null");
  }
  check_device_alignment(frames.data, element_bytes(frames.type), "frames");
  check_device_alignment(spectra.values, sizeof(*spectra.values), "values");
  check_device_alignment(spectra.standard_error, sizeof(*spectra.standard_error), "standard errors");
  check_device_alignment(spectra.errors, alignof(Quality), "errors");
}

template <class Real>
void PlanImpl<Real>::set_reference(const SignalView& frame,
                                   std::span<const std::complex<double>> coefficients, double error) {
  check(frame);
  if (coefficients.size() != static_cast<std::size_t>(design->source.k())) {
    throw Error(ErrorCode::shape_mismatch, fmt::format("{} reference coefficients for a template of {}",
                                                       coefficients.size(), design->source.k()));
  }
  if (!frame.contiguous()) {
    std::vector<std::byte> copy(frame.bytes());
    copy_elements(frame, copy.data());
    return set_reference(copied(frame, copy.data()), coefficients, error);
  }
  if (design->device) {
    if (design->device->takes_reference())
      device_reference = design->device->make_reference(frame, coefficients, error);
    return;
  }
  const std::size_t reals = design->executor->reference_reals();
  if (reals == 0) return;  // direct and dense paths are exact without a reference
  reference_samples.resize(reals);
  design->executor->gather_reference(frame.data(), frame.type(), reference_samples.data());
  if (!design->witness.empty()) {
    reference_witness.resize(design->witness.reals());
    design->witness.read(frame.data(), frame.type(), reference_witness.data());
  }
  reference_error = error;
  reference_values.clear();
  reference_values.reserve(coefficients.size());
  for (const std::complex<double>& value : coefficients) reference_values.emplace_back(value);
}

template <class Real>
double PlanImpl<Real>::error_of_reference(const SignalView& frame, std::span<const std::complex<Real>> found,
                                          std::span<const std::complex<double>> coefficients) const {
  cpu::Witness<Real> made;
  if (design->witness.empty()) {
    WitnessData data = design->witness_places;
    add_columns(SupportSet(*data_of(design->source)), data);
    made = cpu::Witness<Real>(data);
  }
  const cpu::Witness<Real>& witness = design->witness.empty() ? made : design->witness;
  const std::vector<std::complex<Real>> given(coefficients.begin(), coefficients.end());
  const auto seen = witness.compare(frame, frame.type(), nullptr, given);
  const auto best = witness.compare(frame, frame.type(), nullptr, found);
  // Correct coefficients leave only the energy outside the support; those that the plan finds also leave
  // their errors. The samples are few, so the difference must exceed the scatter of both.
  constexpr double kLimit = 1.5;
  const ErrorModel& model = design->errors.model;
  double explained = kLimit * best.residue;
  if (design->executor) {
    // The empty buckets measure that energy even if recovery finds little.
    cpu::ExecutionStats stats;
    std::vector<std::complex<Real>> values(coefficients.size());
    const AlignedBuffer scratch(design->executor->scratch_bytes());
    design->executor->execute(frame, frame.type(), nullptr, values, stats, scratch.data());
    explained =
        std::min(explained, model.witness_limit * stats.scale * model.tail_per_scale / model.witness_scale);
  }
  const double beyond = seen.residue - explained - model.witness_rounding * seen.samples;
  return beyond > 0 ? model.witness_scale * beyond : 0;  // 0 for a frame with NaN
}

template <class Real>
void PlanImpl<Real>::prepare(Spectrum<Real>& spectrum) const {
  const auto k = static_cast<std::size_t>(design->source.k());
  spectrum.support = data_of(design->source)->support;
  spectrum.values.resize(k);
  spectrum.standard_error.resize(k);
  spectrum.path = design->info.path;
  spectrum.backend = design->info.backend;
  spectrum.shape = design->source.shape();
  spectrum.domain = design->source.domain();
  spectrum.transferred_bytes = 0;
}

/// Adds the reference, if there is one, and estimates the errors of the values. Values and sums are in units
/// of 2^stats.exponent if `frame` has been scaled; the result is not.
template <class Real>
void PlanImpl<Real>::give_errors(FrameData frame, ElementType type, const cpu::ExecutionStats& stats,
                                 Spectrum<Real>& spectrum) const noexcept {
  const cpu::ErrorKernels<Real>& kernels = cpu::error_kernels<Real>();
  const ErrorTable& errors = design->errors;
  const std::size_t k = spectrum.values.size();
  const auto count = static_cast<std::int64_t>(k);
  Real* const reals = reinterpret_cast<Real*>(spectrum.values.data());
  ErrorSums sums;
  sums.scale = stats.scale;
  sums.finite = stats.finite;
  sums.reference_error = reference_error;
  if (!design->fit.empty()) sums.fit = kernels.weighted_norm(reals, design->fit.data(), count);
  if (!design->witness.empty()) {
    const Real* reference = reference_witness.empty() ? nullptr : reference_witness.data();
    const auto seen = design->witness.compare(frame, type, reference, spectrum.values);
    sums.witness = seen.residue;
    sums.witness_all = seen.all;
    sums.witness_samples = seen.samples;
  }
  if (!reference_samples.empty()) {
    for (std::size_t i = 0; i < k; ++i) spectrum.values[i] += reference_values[i];
  }
  // Exact paths scale only the powers, so values must be scaled before powers are taken.
  const double unit = std::ldexp(1.0, frame.unit == 1 ? -stats.exponent : 0);
  const auto power = [&](std::size_t i) {
    return std::norm(std::complex<double>(spectrum.values[i]) * unit);
  };
  if (unit == 1) {
    sums.norm = kernels.norm(reals, 2 * count);
  } else {
    for (std::size_t i = 0; i < k; ++i) sums.norm += power(i);
  }
  if (design->mean_coefficient >= 0)
    sums.norm = std::max(0.0, sums.norm - power(static_cast<std::size_t>(design->mean_coefficient)));
  sums.held = errors.model.halves * sums.norm;
  for (const std::int64_t i : design->self_conjugate)
    sums.held = std::max(0.0, sums.held - power(static_cast<std::size_t>(i)));
  const Ratios ratios = error_ratios(errors.model, sums, std::numeric_limits<Real>::epsilon());
  const ErrorEstimate estimate = estimate_error(ratios);
  spectrum.quality.error_l2 = std::ldexp(estimate.error_l2, stats.exponent);
  spectrum.quality.relative_error = estimate.relative_error;
  spectrum.quality.tail_energy = std::ldexp(estimate.tail_energy, 2 * stats.exponent);
  spectrum.quality.residual = estimate.residual;
  spectrum.quality.finite = estimate.finite;
  if (!design->root_gain.empty()) {
    const double scale = std::ldexp(std::sqrt(ratios.gain_scale), stats.exponent);
    kernels.scaled_errors(static_cast<Real>(scale), design->root_gain.data(), count,
                          spectrum.standard_error.data());
  } else {
    kernels.standard_errors(std::ldexp(ratios.gain_scale, 2 * stats.exponent), errors.gain.data(),
                            std::ldexp(ratios.bias_scale, 2 * stats.exponent), errors.bias.data(), count,
                            spectrum.standard_error.data());
  }
}

/// Whether powers of such values, and of their rounding errors, are in the range of a sparse path's
/// arithmetic.
template <class Real>
bool PlanImpl<Real>::powers_fit(const Spectrum<Real>& spectrum) const noexcept {
  constexpr bool kSingle = sizeof(Real) == sizeof(float);
  constexpr double kMin = kSingle ? 1e-9 : 1e-130, kMax = kSingle ? 1e14 : 1e130;
  const double norm = spectrum.quality.error_l2 > 0 && spectrum.quality.relative_error > 0
                          ? spectrum.quality.error_l2 / spectrum.quality.relative_error
                          : 0;
  const double sample = norm / static_cast<double>(design->source.shape().points());
  return sample > kMin && sample < kMax;
}

template <class Real>
void PlanImpl<Real>::run(const SignalView& frame, Spectrum<Real>& spectrum, std::byte* scratch,
                         cpu::ThreadPool* pool) const noexcept {
  const RunScope::Use none(nullptr);  // a frame is not stopped half way
  const Real* reference = reference_samples.empty() ? nullptr : reference_samples.data();
  const ElementType type = frame.type();
  cpu::ExecutionStats stats;
  const auto execute = [&](FrameData data) {
    if (pool != nullptr) {
      design->executor->execute_shared(data, type, reference, spectrum.values, stats, scratch, *pool);
    } else {
      design->executor->execute(data, type, reference, spectrum.values, stats, scratch);
    }
    give_errors(data, type, stats, spectrum);
  };
  execute(frame);
  const bool sparse = design->info.path == Path::comb || design->info.path == Path::flat_window;
  if (!sparse || reference != nullptr || powers_fit(spectrum)) return;
  // Repeats the transform with samples scaled to a size whose powers are representable.
  Real largest = 0;
  for (const std::complex<Real>& value : spectrum.values)
    largest = std::max({largest, std::abs(value.real()), std::abs(value.imag())});
  if (!(largest > 0) || !std::isfinite(largest)) return;
  constexpr int kReach = std::numeric_limits<Real>::max_exponent - 2;
  stats.exponent = std::clamp(std::ilogb(largest), -kReach, kReach);
  FrameData scaled(frame);
  scaled.unit = std::ldexp(1.0, -stats.exponent);
  execute(scaled);
  for (std::complex<Real>& value : spectrum.values) {
    value = {static_cast<Real>(std::ldexp(value.real(), stats.exponent)),
             static_cast<Real>(std::ldexp(value.imag(), stats.exponent))};
  }
}

template class PlanImpl<float>;
template class PlanImpl<double>;

}  // namespace sfft::detail
