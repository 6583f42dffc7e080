// SPDX-License-Identifier: Apache-2.0
// Processes frames on the CPU: the executor's transform, then the reference and the error estimates. Repeats
// this with scaled samples if powers would leave the range of the arithmetic.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/math/region.hpp"
#include "kernels/cpu/executors/executor.hpp"
#include "kernels/cpu/platform/isa.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/cpu/stages/error_kernels.hpp"
#include "kernels/cpu/stages/witness.hpp"
#include "kernels/runtime/aligned_buffer.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "kernels/runtime/trace.hpp"
#include "sfft/plan/dense_path.hpp"
#include "sfft/plan/plan_executor.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "template/planning/error_table.hpp"

namespace sfft::detail {

namespace {

template <class Real>
struct CpuReference final : PlanReference {
  CountedVector<Real> samples;  ///< in the executor's order
  CountedVector<Real> witness;  ///< the witness's samples
  std::vector<std::complex<Real>> values;
  double error = 0;  ///< of the values, as ErrorSums::reference_error
};

struct CpuWorkspace final : PlanWorkspace {
  std::vector<AlignedBuffer> scratch;  ///< one per thread
  std::vector<AlignedBuffer> copies;   ///< one per thread: regions, for executors that need them contiguous

  std::size_t host_bytes() const noexcept override {
    std::size_t total = 0;
    for (const AlignedBuffer& buffer : scratch) total += buffer.size();
    for (const AlignedBuffer& buffer : copies) total += buffer.size();
    return total;
  }
  /// Makes room in each thread for a copy of any one frame, if the executor needs copies.
  template <class Real>
  void fit_copies(const cpu::Executor<Real>& executor, std::span<const SignalView> frames);
  /// The frame, or the thread's copy of it.
  template <class Real>
  SignalView readable(const cpu::Executor<Real>& executor, const SignalView& frame,
                      std::size_t thread) const noexcept;
};

template <class Real>
void CpuWorkspace::fit_copies(const cpu::Executor<Real>& executor, std::span<const SignalView> frames) {
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
SignalView CpuWorkspace::readable(const cpu::Executor<Real>& executor, const SignalView& frame,
                                  std::size_t thread) const noexcept {
  if (frame.contiguous() || executor.takes_regions()) return frame;
  copy_elements(frame, copies[thread].data());
  return copied(frame, copies[thread].data());
}

template <class Real>
class CpuExecutor final : public PlanExecutor<Real> {
 public:
  /// `sparse`: the path reads some of the samples. `threads` share a call.
  struct Kind {
    std::string engine;
    bool sparse = false;
    int threads = 1;
  };
  CpuExecutor(std::unique_ptr<const cpu::Executor<Real>> executor, Kind kind, ErrorTable errors,
              const PlanTables& tables);

  Backend backend() const noexcept override { return Backend::cpu; }
  std::string describe() const override { return kind_.engine; }
  // Direct and dense paths are exact without a reference.
  bool takes_reference() const noexcept override { return executor_->reference_reals() > 0; }
  std::shared_ptr<const PlanReference> make_reference(const SignalView& frame,
                                                      std::span<const std::complex<double>> coefficients,
                                                      double error) const override;
  std::unique_ptr<PlanWorkspace> make_workspace(int frames, int threads) const override {
    return refit(nullptr, frames, threads);
  }
  std::unique_ptr<PlanWorkspace> refit(std::unique_ptr<PlanWorkspace> old, int frames,
                                       int threads) const override;
  void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
               const PlanReference* reference, PlanWorkspace& workspace,
               cpu::ThreadPool* pool) const override;
  const cpu::Witness<Real>* host_witness() const noexcept override { return &witness_; }
  std::optional<double> tail_scale(const SignalView& frame) const override;

 private:
  void run(const SignalView& frame, Spectrum<Real>& spectrum, const CpuReference<Real>* reference,
           std::byte* scratch, cpu::ThreadPool* pool) const;
  void give_errors(FrameData frame, ElementType type, const CpuReference<Real>* reference,
                   const cpu::ExecutionStats& stats, Spectrum<Real>& spectrum) const noexcept;
  bool powers_fit(const Spectrum<Real>& spectrum) const noexcept;

  std::unique_ptr<const cpu::Executor<Real>> executor_;
  Kind kind_;
  ErrorTable errors_;
  std::vector<Real> root_gain_;  ///< roots of errors_.gain, where the rows are unbiased
  std::vector<Real> fit_;        ///< errors_.fit, where they are not
  cpu::Witness<Real> witness_;   ///< may be empty
  std::int64_t points_, mean_;   ///< samples of a frame; index of f = 0 in the support, or -1
  /// Indices of a real signal's coefficients with f = −f, except f = 0.
  std::vector<std::int64_t> self_conjugate_;
};

template <class Real>
CpuExecutor<Real>::CpuExecutor(std::unique_ptr<const cpu::Executor<Real>> executor, Kind kind,
                               ErrorTable errors, const PlanTables& tables)
    : executor_(std::move(executor)),
      kind_(std::move(kind)),
      errors_(std::move(errors)),
      points_(tables.data.shape.points()),
      mean_(tables.support.mean_coefficient) {
  if (kind_.sparse && !tables.witness.samples.empty()) witness_ = cpu::Witness<Real>(tables.witness);
  if (tables.data.real) self_conjugate_ = tables.support.self_conjugate();
  if (errors_.unbiased()) {
    for (const double gain : errors_.gain) root_gain_.push_back(static_cast<Real>(std::sqrt(gain)));
  } else {
    fit_.assign(errors_.fit.begin(), errors_.fit.end());
  }
}

template <class Real>
auto CpuExecutor<Real>::make_reference(const SignalView& frame,
                                       std::span<const std::complex<double>> coefficients, double error) const
    -> std::shared_ptr<const PlanReference> {
  auto reference = std::make_shared<CpuReference<Real>>();
  reference->samples.resize(executor_->reference_reals());
  executor_->gather_reference(frame.data(), frame.type(), reference->samples.data());
  if (!witness_.empty()) {
    reference->witness.resize(witness_.reals());
    witness_.read(frame.data(), frame.type(), reference->witness.data());
  }
  reference->error = error;
  reference->values.reserve(coefficients.size());
  for (const std::complex<double>& value : coefficients) reference->values.emplace_back(value);
  return reference;
}

template <class Real>
auto CpuExecutor<Real>::refit(std::unique_ptr<PlanWorkspace> old, int /*frames*/, int threads) const
    -> std::unique_ptr<PlanWorkspace> {
  if (dynamic_cast<CpuWorkspace*>(old.get()) == nullptr) old = std::make_unique<CpuWorkspace>();
  std::vector<AlignedBuffer>& scratch = static_cast<CpuWorkspace&>(*old).scratch;
  const std::size_t scratch_bytes = executor_->scratch_bytes();
  const auto needed = static_cast<std::size_t>(threads);
  if (scratch.size() < needed) scratch.resize(needed);
  for (AlignedBuffer& buffer : scratch) {
    if (buffer.size() < scratch_bytes) buffer = AlignedBuffer(scratch_bytes);
  }
  const std::size_t shared_bytes = kind_.threads > 1 ? executor_->shared_scratch_bytes() : 0;
  if (scratch[0].size() < shared_bytes) scratch[0] = AlignedBuffer(shared_bytes);
  return old;
}

template <class Real>
void CpuExecutor<Real>::execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                                const PlanReference* reference, PlanWorkspace& workspace,
                                cpu::ThreadPool* pool) const {
  const auto* const subtracted = static_cast<const CpuReference<Real>*>(reference);
  auto& own = static_cast<CpuWorkspace&>(workspace);
  own.fit_copies(*executor_, frames);
  if (frames.size() > 1) enter_stage("frames");
  LoopPolls polls(static_cast<std::int64_t>(frames.size()));
  if (kind_.threads > 1 && frames.size() > 1) {
    pool->run(static_cast<std::int64_t>(frames.size()), [&](std::int64_t i, int thread) {
      if (polls.stopped()) return;
      const TraceRange one("frame");
      const auto at = static_cast<std::size_t>(i);
      const auto own_thread = static_cast<std::size_t>(thread);
      const RunScope::Use part(polls.scope(), true);
      try {
        run(own.readable(*executor_, frames[at], own_thread), spectra[at], subtracted,
            own.scratch[own_thread].data(), nullptr);
      } catch (const Stopped&) {  // finish() throws it on the caller's thread
      }
    });
    return polls.finish();
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    polls.poll();
    const TraceRange one("frame");
    const RunScope::Use part(polls.scope(), frames.size() > 1 || polls.in_part());
    run(own.readable(*executor_, frames[i], 0), spectra[i], subtracted, own.scratch[0].data(),
        kind_.threads > 1 ? pool : nullptr);
  }
}

template <class Real>
std::optional<double> CpuExecutor<Real>::tail_scale(const SignalView& frame) const {
  cpu::ExecutionStats stats;
  std::vector<std::complex<Real>> values(errors_.gain.size());
  const AlignedBuffer scratch(executor_->scratch_bytes());
  executor_->execute(frame, frame.type(), nullptr, values, stats, scratch.data());
  return stats.scale;
}

/// Adds the reference, if there is one, and estimates the errors of the values. Values and sums are in units
/// of 2^stats.exponent if `frame` has been scaled; the result is not.
template <class Real>
void CpuExecutor<Real>::give_errors(FrameData frame, ElementType type, const CpuReference<Real>* reference,
                                    const cpu::ExecutionStats& stats,
                                    Spectrum<Real>& spectrum) const noexcept {
  const cpu::ErrorKernels<Real>& kernels = cpu::error_kernels<Real>();
  const ErrorTable& errors = errors_;
  const std::size_t k = spectrum.values.size();
  const auto count = static_cast<std::int64_t>(k);
  Real* const reals = reinterpret_cast<Real*>(spectrum.values.data());
  ErrorSums sums;
  sums.scale = stats.scale;
  sums.finite = stats.finite;
  sums.reference_error = reference == nullptr ? 0 : reference->error;
  if (!fit_.empty()) sums.fit = kernels.weighted_norm(reals, fit_.data(), count);
  if (!witness_.empty()) {
    const Real* there = reference == nullptr ? nullptr : reference->witness.data();
    const auto seen = witness_.compare(frame, type, there, spectrum.values);
    sums.witness = seen.residue;
    sums.witness_all = seen.all;
    sums.witness_samples = seen.samples;
  }
  if (reference != nullptr) {
    for (std::size_t i = 0; i < k; ++i) spectrum.values[i] += reference->values[i];
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
  if (mean_ >= 0) sums.norm = std::max(0.0, sums.norm - power(static_cast<std::size_t>(mean_)));
  sums.held = errors.model.halves * sums.norm;
  for (const std::int64_t i : self_conjugate_)
    sums.held = std::max(0.0, sums.held - power(static_cast<std::size_t>(i)));
  const Ratios ratios = error_ratios(errors.model, sums, std::numeric_limits<Real>::epsilon());
  const ErrorEstimate estimate = estimate_error(ratios);
  spectrum.quality.error_l2 = std::ldexp(estimate.error_l2, stats.exponent);
  spectrum.quality.relative_error = estimate.relative_error;
  spectrum.quality.tail_energy = std::ldexp(estimate.tail_energy, 2 * stats.exponent);
  spectrum.quality.residual = estimate.residual;
  spectrum.quality.finite = estimate.finite;
  if (!root_gain_.empty()) {
    const double scale = std::ldexp(std::sqrt(ratios.gain_scale), stats.exponent);
    kernels.scaled_errors(static_cast<Real>(scale), root_gain_.data(), count, spectrum.standard_error.data());
  } else {
    kernels.standard_errors(std::ldexp(ratios.gain_scale, 2 * stats.exponent), errors.gain.data(),
                            std::ldexp(ratios.bias_scale, 2 * stats.exponent), errors.bias.data(), count,
                            spectrum.standard_error.data());
  }
}

/// Whether powers of such values, and of their rounding errors, are in the range of a sparse path's
/// arithmetic.
template <class Real>
bool CpuExecutor<Real>::powers_fit(const Spectrum<Real>& spectrum) const noexcept {
  constexpr bool kSingle = sizeof(Real) == sizeof(float);
  constexpr double kMin = kSingle ? 1e-9 : 1e-130, kMax = kSingle ? 1e14 : 1e130;
  const double norm = spectrum.quality.error_l2 > 0 && spectrum.quality.relative_error > 0
                          ? spectrum.quality.error_l2 / spectrum.quality.relative_error
                          : 0;
  const double sample = norm / static_cast<double>(points_);
  return sample > kMin && sample < kMax;
}

template <class Real>
void CpuExecutor<Real>::run(const SignalView& frame, Spectrum<Real>& spectrum,
                            const CpuReference<Real>* reference, std::byte* scratch,
                            cpu::ThreadPool* pool) const {
  const Real* const samples = reference == nullptr ? nullptr : reference->samples.data();
  const ElementType type = frame.type();
  cpu::ExecutionStats stats;
  const auto execute = [&](FrameData data) {
    if (pool != nullptr) {
      executor_->execute_shared(data, type, samples, spectrum.values, stats, scratch, *pool);
    } else {
      executor_->execute(data, type, samples, spectrum.values, stats, scratch);
    }
    give_errors(data, type, reference, stats, spectrum);
  };
  execute(frame);
  if (!kind_.sparse || reference != nullptr || powers_fit(spectrum)) return;
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

template <class Real>
class CpuExecutors final : public ExecutorMaker<Real> {
 public:
  using typename ExecutorMaker<Real>::Made;

  Made comb(const CombData& comb, const PlanTables& tables) const override {
    return sparse(cpu::make_comb_executor<Real>(comb), tables);
  }
  Made flat(const FlatPlanData& flat, const PlanTables& tables) const override {
    return sparse(cpu::make_flat_executor<Real>(flat), tables);
  }
  Made direct(const PlanTables& tables) const override {
    auto executor = cpu::make_direct_executor<Real>(tables.data.shape, *tables.data.support);
    ErrorTable errors = make_error_table(tables.support, {executor->rounding_power(), {}, {}, 0});
    return make(std::move(executor), {"sum", false, threads(tables)}, std::move(errors), tables);
  }
  Made dense(const PlanTables& tables) const override {
    auto executor = std::make_unique<DenseExecutor<Real>>(tables.data, threads(tables));
    std::string engine = executor->plan().engine_name();
    return make(std::move(executor), {std::move(engine), false, threads(tables)},
                exact_errors(tables.support), tables);
  }

 private:
  static int threads(const PlanTables& tables) { return thread_count(tables.options.threads); }
  static Made sparse(std::unique_ptr<const cpu::Executor<Real>> executor, const PlanTables& tables) {
    return make(std::move(executor), {fmt::format("built-in {}", cpu::isa_name()), true, threads(tables)},
                tables.errors, tables);
  }
  static Made make(std::unique_ptr<const cpu::Executor<Real>> executor, typename CpuExecutor<Real>::Kind kind,
                   ErrorTable errors, const PlanTables& tables) {
    return std::make_unique<const CpuExecutor<Real>>(std::move(executor), std::move(kind), std::move(errors),
                                                     tables);
  }
};

}  // namespace

template <class Real>
const ExecutorMaker<Real>& cpu_executors() {
  static const CpuExecutors<Real> makers;
  return makers;
}

template const ExecutorMaker<float>& cpu_executors();
template const ExecutorMaker<double>& cpu_executors();

}  // namespace sfft::detail
