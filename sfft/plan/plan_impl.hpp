// SPDX-License-Identifier: Apache-2.0
// Behind sfft::Plan: the design (chosen once, shared) and the reference (swappable).
#pragma once

#include <atomic>
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/aligned_buffer.hpp"
#include "kernels/base/error_table.hpp"
#include "kernels/base/memory_budget.hpp"
#include "kernels/cpu/executors/executor.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/cpu/stages/witness.hpp"
#include "sfft/error.hpp"
#include "sfft/plan.hpp"
#include "sfft/plan/device_plan.hpp"
#include "sfft/plan/workspace_impl.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// The part of a plan that does not change with the reference.
template <class Real>
struct PlanDesign {
  PlanDesign(const Template& t, const PlanOptions& o) : source(t), options(o) {}
  Template source;
  /// What planning holds for each frequency at the same time, with the tables of the plan, and does not count
  /// array by array.
  static constexpr std::size_t kBytesPerFrequency = 2560;
  MemoryShare tables{static_cast<std::size_t>(source.k()) * kBytesPerFrequency};
  PlanOptions options;
  PlanInfo info;
  int threads = 1;
  std::int64_t mean_coefficient = -1;  ///< index of f = 0 in the support, or -1
  std::vector<std::int64_t>
      self_conjugate;  ///< indices of a real signal's coefficients with f = −f, except f = 0
  ErrorTable errors;
  std::vector<Real> root_gain;                          ///< roots of errors.gain, where the rows are unbiased
  std::vector<Real> fit;                                ///< errors.fit, where they are not
  cpu::Witness<Real> witness;                           ///< cpu backend only; empty: none
  WitnessData witness_places;                           ///< cuda backend only: without rows
  std::unique_ptr<const cpu::Executor<Real>> executor;  ///< of the cpu backend
  std::unique_ptr<const DevicePlan<Real>> device;       ///< of the cuda backend
  int batch = 1;
  std::vector<KeptPlan> decisions;  ///< this plan's, and also the CPU's if a GPU was chosen over it
};

/// Chooses the path and builds the executor. Throws as Plan's constructor does.
template <class Real>
std::shared_ptr<const PlanDesign<Real>> make_design(const Template& tmpl, const PlanOptions& options);

template <class Real>
class PlanImpl {
 public:
  std::shared_ptr<const PlanDesign<Real>> design;
  CountedVector<Real> reference_samples;  ///< in the executor's order; empty: no reference
  CountedVector<Real> reference_witness;  ///< the witness's samples of the reference
  std::vector<std::complex<Real>> reference_values;
  double reference_error = 0;                               ///< of the values, as ErrorSums::reference_error
  std::shared_ptr<const DeviceReference> device_reference;  ///< the reference on the cuda backend

  /// `error`: of the coefficients, as ErrorSums::reference_error.
  void set_reference(const SignalView& frame, std::span<const std::complex<double>> coefficients,
                     double error = 0);
  /// Error of coefficients, as ErrorSums::reference_error: how much more the witness contradicts them than it
  /// contradicts the values that the plan has `found` without a reference.
  double error_of_reference(const SignalView& frame, std::span<const std::complex<Real>> found,
                            std::span<const std::complex<double>> coefficients) const;
  void check(const SignalView& frame) const;
  void check(const DeviceView& frames, const typename Plan<Real>::DeviceSpectra& spectra) const;
  void run(const SignalView& frame, Spectrum<Real>& spectrum, std::byte* scratch,
           cpu::ThreadPool* pool) const noexcept;
  void give_errors(FrameData frame, ElementType type, const cpu::ExecutionStats& stats,
                   Spectrum<Real>& spectrum) const noexcept;
  bool powers_fit(const Spectrum<Real>& spectrum) const noexcept;
  void prepare(Spectrum<Real>& spectrum) const;
};

/// Internal access to the contents of plans.
template <class Real>
struct PlanAccess {
  static const PlanImpl<Real>& inside(const Plan<Real>& plan) noexcept { return *plan.impl_; }
  static Plan<Real> plan_of(std::shared_ptr<const PlanImpl<Real>> inside) {
    return Plan<Real>(std::move(inside));
  }
  /// Plan::with_reference() for coefficients that are known to be exact.
  static Plan<Real> with_exact_reference(const Plan<Real>& plan, const SignalView& frame,
                                         std::span<const std::complex<double>> coefficients) {
    auto impl = std::make_shared<PlanImpl<Real>>();
    impl->design = plan.impl_->design;
    impl->set_reference(frame, coefficients);
    return Plan<Real>(std::move(impl));
  }
};

template <class Real>
const PlanImpl<Real>& inside(const Plan<Real>& plan) noexcept {
  return PlanAccess<Real>::inside(plan);
}

/// The number of threads that an option of 0 means.
int thread_count(int option);

extern template class PlanImpl<float>;
extern template class PlanImpl<double>;

/// Several lines about a plan for `source`.
std::string explain(const PlanInfo& info, const Template& source);

}  // namespace sfft::detail
