// SPDX-License-Identifier: Apache-2.0
// Plan and Workspace: check the arguments, make the workspace fit, run the executor frame by frame or on
// several threads, and turn its sums into the error account. Paths are chosen in design.cpp.
#include "sfft/plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <thread>

#include "kernels/base/error.hpp"
#include "kernels/base/exclusive.hpp"
#include "kernels/base/region.hpp"
#include "kernels/cpu/stages/account_kernels.hpp"
#include "sfft/plan/plan_impl.hpp"

namespace sfft {

namespace detail {

int thread_count(int option) {
  if (option < 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("threads = {} must be 0 or more", option));
  if (option > 0) return option;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

template <class Real>
void WorkspaceImpl<Real>::fit(const std::shared_ptr<const PlanDesign<Real>>& design) {
  const int threads = design->threads;
  if (threads > 1 && (!pool || pool->threads() < threads)) pool = std::make_unique<cpu::ThreadPool>(threads);
  if (design->device) {
    if (device_design == design) return;
    device.reset();  // first, so that both are never held at once
    device_design.reset();
    device = design->device->make_workspace(design->batch);
    device_design = design;
    return;
  }
  const std::size_t scratch_bytes = design->executor->scratch_bytes();
  const auto needed = static_cast<std::size_t>(std::max(threads, pool ? pool->threads() : 1));
  if (scratch.size() < needed) scratch.resize(needed);
  for (AlignedBuffer& buffer : scratch) {
    if (buffer.size() < scratch_bytes) buffer = AlignedBuffer(scratch_bytes);
  }
}

template <class Real>
void WorkspaceImpl<Real>::fit_copies(const cpu::Executor<Real>& executor,
                                     std::span<const SignalView> frames) {
  if (executor.takes_regions()) return;
  std::size_t bytes = 0;
  for (const SignalView& frame : frames) bytes = std::max(bytes, frame.contiguous() ? 0 : frame.bytes());
  if (bytes == 0) return;
  copies.resize(std::max(copies.size(), scratch.size()));
  for (AlignedBuffer& copy : copies) {
    if (copy.size() < bytes) copy = AlignedBuffer(bytes);
  }
}

template <class Real>
SignalView WorkspaceImpl<Real>::readable(const cpu::Executor<Real>& executor, const SignalView& frame,
                                         std::size_t thread) const noexcept {
  if (frame.contiguous() || executor.takes_regions()) return frame;
  copy_elements(frame, copies[thread].data());
  return copied(frame, copies[thread].data());
}

template <class Real>
void PlanImpl<Real>::check(const SignalView& frame) const {
  const Template& source = design->source;
  if (frame.shape() != source.shape()) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("the frame is {}, the template was learned for {}", frame.shape().to_string(),
                            source.shape().to_string()));
  }
  if (is_complex(frame.type()) == source.is_real()) {
    throw Error(ErrorCode::type_mismatch,
                fmt::format("the frame is {}, the template is for {} signals", to_string(frame.type()),
                            source.is_real() ? "real" : "complex"));
  }
}

template <class Real>
void PlanImpl<Real>::check(const DeviceFrames& frames, const DeviceSpectra<Real>& spectra) const {
  const Template& source = design->source;
  if (!design->device) {
    throw Error(ErrorCode::backend_unavailable,
                "enqueue() needs a plan made for the GPU: set PlanOptions::backend to Backend::cuda");
  }
  if (is_complex(frames.type) == source.is_real()) {
    throw Error(ErrorCode::type_mismatch,
                fmt::format("the frames are {}, the template is for {} signals", to_string(frames.type),
                            source.is_real() ? "real" : "complex"));
  }
  constexpr std::int64_t kMostFrames = 1 << 24;
  if (frames.count < 0 || frames.count > kMostFrames)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} frames: at most {} at a time", frames.count, kMostFrames));
  if (frames.pitch != 0 && frames.pitch < source.shape().points()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("frames of {} elements at a pitch of {} overlap",
                                                         source.shape().points(), frames.pitch));
  }
  if (frames.count > 0 && (frames.data == nullptr || spectra.values == nullptr ||
                           spectra.standard_error == nullptr || spectra.accounts == nullptr)) {
    throw Error(ErrorCode::invalid_argument, "a pointer to the frames or to the results is null");
  }
}

template <class Real>
void PlanImpl<Real>::set_reference(const SignalView& frame,
                                   std::span<const std::complex<double>> coefficients) {
  check(frame);
  if (coefficients.size() != static_cast<std::size_t>(design->source.k())) {
    throw Error(ErrorCode::shape_mismatch, fmt::format("{} reference coefficients for a template of {}",
                                                       coefficients.size(), design->source.k()));
  }
  if (!frame.contiguous()) {
    std::vector<std::byte> copy(frame.bytes());
    copy_elements(frame, copy.data());
    return set_reference(copied(frame, copy.data()), coefficients);
  }
  if (design->device) {
    if (design->device->takes_reference())
      device_reference = design->device->make_reference(frame, coefficients);
    return;
  }
  const std::size_t reals = design->executor->reference_reals();
  if (reals == 0) return;  // direct and dense paths are exact without
  reference_samples.resize(reals);
  design->executor->gather_reference(frame.data(), frame.type(), reference_samples.data());
  if (!design->witness.empty()) {
    reference_witness.resize(kWitnessReals);
    design->witness.read(frame.data(), frame.type(), reference_witness.data());
  }
  reference_values.clear();
  reference_values.reserve(coefficients.size());
  for (const std::complex<double>& value : coefficients) reference_values.emplace_back(value);
}

template <class Real>
void PlanImpl<Real>::prepare(Spectrum<Real>& spectrum) const {
  const auto k = static_cast<std::size_t>(design->source.k());
  spectrum.support = design->source.data()->support;
  spectrum.values.resize(k);
  spectrum.standard_error.resize(k);
  spectrum.path = design->info.path;
  spectrum.backend = design->info.backend;
  spectrum.reason = design->info.reason;
  spectrum.transferred_bytes = 0;
}

/// Adds the reference, if there is one, and says how wrong the values are. Values and sums are in units of
/// 2^stats.exponent where `frame` has been scaled, the result is not.
template <class Real>
void PlanImpl<Real>::give_account(FrameData frame, ElementType type, const cpu::ExecutionStats& stats,
                                  Spectrum<Real>& spectrum) const noexcept {
  const cpu::AccountKernels<Real>& kernels = cpu::account_kernels<Real>();
  const ErrorTable& errors = design->errors;
  const std::size_t k = spectrum.values.size();
  const auto count = static_cast<std::int64_t>(k);
  Real* const reals = reinterpret_cast<Real*>(spectrum.values.data());
  AccountSums sums;
  sums.scale = stats.scale;
  sums.finite = stats.finite;
  if (!design->fit.empty()) sums.fit = kernels.weighted_norm(reals, design->fit.data(), count);
  if (!design->witness.empty()) {
    const Real* reference = reference_witness.empty() ? nullptr : reference_witness.data();
    const auto seen = design->witness.compare(frame, type, reference, spectrum.values);
    sums.witness = seen.residue;
    sums.witness_samples = seen.samples;
  }
  if (!reference_samples.empty()) {
    for (std::size_t i = 0; i < k; ++i) spectrum.values[i] += reference_values[i];
  }
  // Exact paths leave values as they are, whatever their powers.
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
  const Ratios ratios = account_ratios(errors.model, sums, std::numeric_limits<Real>::epsilon());
  const Account account = make_account(ratios);
  spectrum.error_l2 = std::ldexp(account.error_l2, stats.exponent);
  spectrum.relative_error = account.relative_error;
  spectrum.tail_energy = std::ldexp(account.tail_energy, 2 * stats.exponent);
  spectrum.residual = account.residual;
  spectrum.finite = account.finite;
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

/// Whether powers of values like these are safe in the arithmetic of a sparse path, those of rounding
/// included.
template <class Real>
bool PlanImpl<Real>::powers_fit(const Spectrum<Real>& spectrum) const noexcept {
  constexpr bool kSingle = sizeof(Real) == sizeof(float);
  constexpr double kLeast = kSingle ? 1e-9 : 1e-130, kMost = kSingle ? 1e14 : 1e130;
  const double norm =
      spectrum.error_l2 > 0 && spectrum.relative_error > 0 ? spectrum.error_l2 / spectrum.relative_error : 0;
  const double sample = norm / static_cast<double>(design->source.shape().points());
  return sample > kLeast && sample < kMost;
}

template <class Real>
void PlanImpl<Real>::run(const SignalView& frame, Spectrum<Real>& spectrum, std::byte* scratch,
                         cpu::ThreadPool* pool) const noexcept {
  const Real* reference = reference_samples.empty() ? nullptr : reference_samples.data();
  const ElementType type = frame.type();
  cpu::ExecutionStats stats;
  const auto execute = [&](FrameData data) {
    if (pool != nullptr) {
      design->executor->execute_shared(data, type, reference, spectrum.values, stats, scratch, *pool);
    } else {
      design->executor->execute(data, type, reference, spectrum.values, stats, scratch);
    }
    give_account(data, type, stats, spectrum);
  };
  execute(frame);
  const bool sparse = design->info.path == Path::comb || design->info.path == Path::flat_window;
  if (!sparse || reference != nullptr || powers_fit(spectrum)) return;
  // Once more, the samples brought to a size whose powers are numbers.
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

}  // namespace detail

namespace {
constexpr const char* kWorkspaceInUse =
    "the workspace is in use by another thread: give each thread a workspace of its own, from "
    "make_workspace()";
}

template <class Real>
Workspace<Real>::Workspace() : impl_(std::make_unique<detail::WorkspaceImpl<Real>>()) {}
template <class Real>
Workspace<Real>::~Workspace() = default;
template <class Real>
Workspace<Real>::Workspace(Workspace&&) noexcept = default;
template <class Real>
Workspace<Real>& Workspace<Real>::operator=(Workspace&&) noexcept = default;

template <class Real>
detail::WorkspaceImpl<Real>& Workspace<Real>::impl() const {
  if (impl_ == nullptr) {
    throw Error(
        ErrorCode::invalid_argument,
        "the workspace was moved from: use the one it went to, or make another with make_workspace()");
  }
  return *impl_;
}

template <class Real>
std::size_t Workspace<Real>::bytes() const noexcept {
  if (impl_ == nullptr) return 0;
  std::size_t total = 0;
  for (const detail::AlignedBuffer& buffer : impl_->scratch) total += buffer.size();
  for (const detail::AlignedBuffer& buffer : impl_->copies) total += buffer.size();
  return total + (impl_->device ? impl_->device->bytes() : 0);
}

template <class Real>
Plan<Real>::Plan(const Template& tmpl, const PlanOptions& options) {
  auto impl = std::make_shared<detail::PlanImpl<Real>>();
  impl->design = detail::make_design<Real>(tmpl, options);
  if (impl->design->info.reference) {
    const detail::TemplateData& data = *tmpl.data();
    impl->set_reference(SignalView(data.reference.data(), static_cast<std::size_t>(data.shape.points()),
                                   data.reference_type, data.shape),
                        data.values);
  }
  impl_ = std::move(impl);
}

template <class Real>
void Plan<Real>::execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                         Workspace<Real>& workspace) const {
  if (frames.size() != spectra.size()) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("{} frames but {} spectra", frames.size(), spectra.size()));
  }
  for (const SignalView& frame : frames) impl_->check(frame);
  detail::WorkspaceImpl<Real>& own = workspace.impl();
  const detail::Exclusive exclusive(own.in_use, kWorkspaceInUse);
  for (Spectrum<Real>& spectrum : spectra) impl_->prepare(spectrum);
  const int threads = impl_->design->threads;
  own.fit(impl_->design);
  if (impl_->design->device) {
    impl_->design->device->execute(frames, spectra, impl_->device_reference.get(), *own.device,
                                   own.pool.get());
    return;
  }
  const detail::cpu::Executor<Real>& executor = *impl_->design->executor;
  own.fit_copies(executor, frames);
  if (threads > 1 && frames.size() > 1) {
    own.pool->run(static_cast<std::int64_t>(frames.size()), [&](std::int64_t i, int thread) {
      const auto at = static_cast<std::size_t>(i);
      const auto own_thread = static_cast<std::size_t>(thread);
      impl_->run(own.readable(executor, frames[at], own_thread), spectra[at], own.scratch[own_thread].data(),
                 nullptr);
    });
    return;
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    impl_->run(own.readable(executor, frames[i], 0), spectra[i], own.scratch[0].data(),
               threads > 1 ? own.pool.get() : nullptr);
  }
}

template <class Real>
void Plan<Real>::execute(const SignalView& frame, Spectrum<Real>& spectrum,
                         Workspace<Real>& workspace) const {
  execute(std::span<const SignalView>(&frame, 1), std::span<Spectrum<Real>>(&spectrum, 1), workspace);
}

template <class Real>
Spectrum<Real> Plan<Real>::execute(const SignalView& frame) const {
  Workspace<Real> workspace;
  Spectrum<Real> spectrum;
  execute(frame, spectrum, workspace);
  return spectrum;
}

template <class Real>
void Plan<Real>::enqueue(const DeviceFrames& frames, const DeviceSpectra<Real>& spectra,
                         Workspace<Real>& workspace, CUstream_st* stream) const {
  impl_->check(frames, spectra);
  detail::WorkspaceImpl<Real>& own = workspace.impl();
  const detail::Exclusive exclusive(own.in_use, kWorkspaceInUse);
  if (own.device_design != impl_->design) {
    throw Error(
        ErrorCode::invalid_argument,
        "the workspace was made for another plan, and enqueue() never allocates: use make_workspace()");
  }
  if (frames.count > 0)
    impl_->design->device->enqueue(frames, spectra, impl_->device_reference.get(), *own.device, stream);
}

template <class Real>
Workspace<Real> Plan<Real>::make_workspace() const {
  Workspace<Real> workspace;
  workspace.impl_->fit(impl_->design);
  return workspace;
}

template <class Real>
Spectrum<Real> Plan<Real>::make_spectrum() const {
  Spectrum<Real> spectrum;
  impl_->prepare(spectrum);
  return spectrum;
}

template <class Real>
Plan<Real> Plan<Real>::with_reference(const SignalView& frame,
                                      std::span<const std::complex<double>> coefficients) const {
  auto impl = std::make_shared<detail::PlanImpl<Real>>();
  impl->design = impl_->design;
  impl->set_reference(frame, coefficients);
  return Plan(std::move(impl));
}

template <class Real>
Plan<Real> Plan<Real>::without_reference() const {
  auto impl = std::make_shared<detail::PlanImpl<Real>>();
  impl->design = impl_->design;
  return Plan(std::move(impl));
}

template <class Real>
const Template& Plan<Real>::source() const noexcept {
  return impl_->design->source;
}

template <class Real>
const PlanInfo& Plan<Real>::info() const noexcept {
  return impl_->design->info;
}

template <class Real>
std::string Plan<Real>::explain() const {
  const PlanInfo& info = impl_->design->info;
  const Template& source = impl_->design->source;
  std::string text = fmt::format("path       {} on the {}: {}\n", to_string(info.path),
                                 to_string(info.backend), info.reason);
  text += fmt::format("signal     {} {}, k = {}{}\n", source.shape().to_string(),
                      source.is_real() ? "real" : "complex", source.k(),
                      info.reference ? ", as the difference to a reference frame" : "");
  if (info.path == Path::comb || info.path == Path::flat_window) {
    const bool comb = info.path == Path::comb;
    std::string grid = fmt::format("{}", info.buckets[0]);
    for (int d = 1; d < source.shape().rank(); ++d)
      grid += fmt::format("x{}", info.buckets[static_cast<std::size_t>(d)]);
    text += fmt::format("buckets    {} ({})\n", comb ? grid : fmt::format("{}", info.bucket_count),
                        info.bucket_count);
    text += fmt::format("{:<10} {}\n", comb ? "delays" : "lines", info.delays);
    text +=
        fmt::format("samples    {} ({:.3g} % of the frame){}\n", info.samples, 100 * info.samples_fraction,
                    info.witness_samples > 0 ? fmt::format(", {} of them a witness", info.witness_samples)
                                             : ", no witness");
    text += fmt::format("error      {:.3g} predicted{}, noise gain at most {:.3g}\n", info.predicted_error,
                        info.reference ? " of the change since the reference" : "", info.noise_gain);
  }
  text += fmt::format("time       {:.1f} us predicted, dense {:.1f} us; planned in {:.1f} ms\n",
                      info.predicted_us, info.predicted_dense_us, 1e3 * info.plan_seconds);
  text += fmt::format("engine     {}\n", info.engine);
  for (const RejectedCandidate& other : info.rejected) {
    text += fmt::format("rejected   {}: {}\n", other.description, other.reason);
  }
  return text;
}

template class Plan<float>;
template class Plan<double>;
template class Workspace<float>;
template class Workspace<double>;

}  // namespace sfft
