// SPDX-License-Identifier: Apache-2.0
// Checks the frames of a plan, and gives it a reference.
#include "sfft/plan/plan_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernels/base/math/region.hpp"
#include "kernels/cpu/stages/witness.hpp"
#include "kernels/runtime/argument_checks.hpp"
#include "kernels/runtime/host_resources.hpp"
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
  if (design->executor->backend() == Backend::cuda) check_gpu_type(frame.type(), "the frame's type");
}

template <class Real>
void PlanImpl<Real>::check(const DeviceView& frames,
                           const typename Plan<Real>::DeviceSpectra& spectra) const {
  const Template& source = design->source;
  check_gpu_type(frames.type, "DeviceView::type");
  if (design->executor->backend() != Backend::cuda) {
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
  if (design->executor->takes_reference())
    reference = design->executor->make_reference(frame, coefficients, error);
}

template <class Real>
double PlanImpl<Real>::error_of_reference(const SignalView& frame, std::span<const std::complex<Real>> found,
                                          std::span<const std::complex<double>> coefficients) const {
  cpu::Witness<Real> made;
  const cpu::Witness<Real>* witness = design->executor->host_witness();
  if (witness == nullptr || witness->empty()) {
    WitnessData data = design->witness_places;
    add_columns(SupportSet(*data_of(design->source)), data);
    made = cpu::Witness<Real>(data);
    witness = &made;
  }
  const std::vector<std::complex<Real>> given(coefficients.begin(), coefficients.end());
  const auto seen = witness->compare(frame, frame.type(), nullptr, given);
  const auto best = witness->compare(frame, frame.type(), nullptr, found);
  // Correct coefficients leave only the energy outside the support; those that the plan finds also leave
  // their errors. The samples are few, so the difference must exceed the scatter of both.
  constexpr double kLimit = 1.5;
  const ErrorModel& model = design->error_model;
  double explained = kLimit * best.residue;
  // The empty buckets measure that energy even if recovery finds little.
  if (const std::optional<double> scale = design->executor->tail_scale(frame))
    explained =
        std::min(explained, model.witness_limit * *scale * model.tail_per_scale / model.witness_scale);
  const double beyond = seen.residue - explained - model.witness_rounding * seen.samples;
  return beyond > 0 ? model.witness_scale * beyond : 0;  // 0 for a frame with NaN
}

template <class Real>
std::shared_ptr<const PlanState> PlanImpl<Real>::with_reference(
    const SignalView& frame, std::span<const std::complex<double>> coefficients) const {
  check(frame);
  for (const std::complex<double>& value : coefficients) {
    if (!std::isfinite(value.real()) || !std::isfinite(value.imag()))
      throw Error(ErrorCode::invalid_argument, "the reference's coefficients must be finite: one is not");
  }
  auto impl = std::make_shared<PlanImpl>();
  impl->design = design;
  double error = 0;
  if (design->info.witness_samples > 0 &&
      coefficients.size() == static_cast<std::size_t>(design->source.k())) {
    const Plan<Real> plain = PlanAccess<Real>::plan_of(impl);
    error = error_of_reference(frame, plain.execute(frame).values, coefficients);
  }
  impl->set_reference(frame, coefficients, error);
  return impl;
}

template <class Real>
std::shared_ptr<const PlanState> PlanImpl<Real>::without_reference() const {
  auto impl = std::make_shared<PlanImpl>();
  impl->design = design;
  return impl;
}

template <class Real>
void PlanImpl<Real>::fit(WorkspaceImpl& workspace) const {
  workspace.fit(design);
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

template class PlanImpl<float>;
template class PlanImpl<double>;

}  // namespace sfft::detail
