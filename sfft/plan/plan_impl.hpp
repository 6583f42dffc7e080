// SPDX-License-Identifier: Apache-2.0
// Behind sfft::Plan: the design (chosen once, shared) and the reference (swappable). Behind sfft::Workspace:
// the scratch of whichever plan uses it.
#pragma once

#include <atomic>
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/tables/error_table.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/runtime/aligned_buffer.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "sfft/error.hpp"
#include "sfft/plan.hpp"
#include "sfft/plan/plan_executor.hpp"
#include "sfft/template_access.hpp"
#include "sfft/workspace.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// The part of a plan that does not change with the reference.
struct AnyPlanDesign {
  AnyPlanDesign(const Template& t, const PlanOptions& o) : source(t), options(o) {}
  Template source;
  /// What planning holds for each frequency at the same time, with the tables of the plan, and does not count
  /// array by array.
  static constexpr std::size_t kBytesPerFrequency = 2560;
  MemoryShare tables{static_cast<std::size_t>(source.k()) * kBytesPerFrequency};
  PlanOptions options;
  PlanInfo info;
  int threads = 1;
  std::int64_t mean_coefficient = -1;  ///< index of f = 0 in the support, or -1
  ErrorModel error_model;
  WitnessData witness_places;  ///< without rows; empty if the executor has them (PlanExecutor::host_witness)
  int batch = 1;
  std::vector<KeptPlan> decisions;  ///< this plan's, and also the CPU's if a GPU was chosen over it
};
template <class Real>
struct PlanDesign : AnyPlanDesign {
  using AnyPlanDesign::AnyPlanDesign;
  std::unique_ptr<const PlanExecutor<Real>> executor;
};

/// Chooses the path on the backend of the options, and builds the executor. The options were checked.
template <class Real>
std::shared_ptr<PlanDesign<Real>> design_on_backend(const Template& tmpl, const PlanOptions& options);
/// Chooses backend and path, and builds the executor. Throws as Plan's constructor does.
template <class Real>
std::shared_ptr<const PlanDesign<Real>> make_design(const Template& tmpl, const PlanOptions& options);

struct WorkspaceImpl;

/// Behind AnyPlan.
class PlanState {
 public:
  virtual ~PlanState() = default;
  virtual const AnyPlanDesign& any_design() const noexcept = 0;
  /// Sizes the workspace for this plan.
  virtual void fit(WorkspaceImpl& workspace) const = 0;
  virtual std::shared_ptr<const PlanState> with_reference(
      const SignalView& frame, std::span<const std::complex<double>> coefficients) const = 0;
  virtual std::shared_ptr<const PlanState> without_reference() const = 0;
};

/// Behind Plan.
template <class Real>
class PlanImpl final : public PlanState {
 public:
  const AnyPlanDesign& any_design() const noexcept override { return *design; }
  void fit(WorkspaceImpl& workspace) const override;
  std::shared_ptr<const PlanState> with_reference(
      const SignalView& frame, std::span<const std::complex<double>> coefficients) const override;
  std::shared_ptr<const PlanState> without_reference() const override;

  std::shared_ptr<const PlanDesign<Real>> design;
  std::shared_ptr<const PlanReference> reference;  ///< null: none

  /// `error`: of the coefficients, as ErrorSums::reference_error.
  void set_reference(const SignalView& frame, std::span<const std::complex<double>> coefficients,
                     double error = 0);
  /// Error of coefficients, as ErrorSums::reference_error: how much more the witness contradicts them than it
  /// contradicts the values that the plan has `found` without a reference.
  double error_of_reference(const SignalView& frame, std::span<const std::complex<Real>> found,
                            std::span<const std::complex<double>> coefficients) const;
  void check(const SignalView& frame) const;
  void check(const DeviceView& frames, const typename Plan<Real>::DeviceSpectra& spectra) const;
  void prepare(Spectrum<Real>& spectrum) const;
};

/// Behind sfft::Workspace.
struct WorkspaceImpl {
  std::unique_ptr<cpu::ThreadPool> pool;    ///< nullptr for one thread
  std::unique_ptr<PlanWorkspace> state;     ///< of the executor that used it last
  std::shared_ptr<const void> made_for;     ///< the PlanDesign that the state on a GPU was made for
  AlignedBuffer dense_host;                 ///< for a dense plan
  std::shared_ptr<std::byte> dense_device;  ///< GPU memory for a dense plan
  std::size_t dense_device_bytes = 0;
  std::atomic<bool> in_use{false};  ///< set during a call

  template <class Real>
  void fit(const std::shared_ptr<const PlanDesign<Real>>& design);
  /// On a GPU, only frames in host memory need threads; the first such frame starts them.
  void fit_threads(int threads);
};

struct WorkspaceAccess {
  /// Throws invalid_argument for a workspace that was moved from.
  static WorkspaceImpl& inside(const Workspace& workspace);
};

inline WorkspaceImpl& inside(const Workspace& workspace) {
  return WorkspaceAccess::inside(workspace);
}

/// Internal access to the contents of plans.
template <class Real>
struct PlanAccess {
  static const PlanImpl<Real>& inside(const Plan<Real>& plan) noexcept {
    return static_cast<const PlanImpl<Real>&>(*plan.state_);
  }
  static Plan<Real> plan_of(std::shared_ptr<const PlanImpl<Real>> inside) {
    return Plan<Real>(std::move(inside));
  }
  /// Plan::with_reference() for coefficients that are known to be exact.
  static Plan<Real> with_exact_reference(const Plan<Real>& plan, const SignalView& frame,
                                         std::span<const std::complex<double>> coefficients) {
    auto impl = std::make_shared<PlanImpl<Real>>();
    impl->design = inside(plan).design;
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
