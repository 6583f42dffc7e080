// SPDX-License-Identifier: Apache-2.0
// The tuned kernels as a dense engine: one executable for each element type that forward transforms read, and
// one for inverses.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/tuned/plan/geometry.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/run/loading.hpp"
#include "kernels/dense/tuned/search/tuner.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

using tuned::Call;
using tuned::Executable;
using tuned::PlanPolicy;
using tuned::Program;
using tuned::TransformPolicy;

/// The element types that kernels read. Camera samples are read without a conversion pass. Doubles in a real
/// float plan are not worth a kernel.
template <class Real>
std::vector<ElementType> read_types(const DenseProblem& problem) {
  if (!problem.real || problem.own_type_only) return {own_type<Real>(problem)};
  return {own_type<Real>(problem), ElementType::u8, ElementType::u16};
}

const TransformPolicy& policy_for(const PlanPolicy& policies, ElementType type) {
  return type == ElementType::u8 && policies.bytes ? *policies.bytes : policies.own;
}

/// Forward transforms of all types that a plan reads.
template <class Real>
std::vector<Program> forward_programs(const DenseProblem& problem, const PlanPolicy& policies,
                                      device::Keep keep = device::Keep::all) {
  std::vector<Program> programs;
  for (const ElementType type : read_types<Real>(problem))
    programs.push_back(lay_out({problem, sizeof(Real) == 4, false, type, keep}, policy_for(policies, type)));
  return programs;
}

using Executables = std::map<ElementType, std::unique_ptr<const Executable>>;

/// The executables of forward_programs(), by element type.
template <class Real>
Executables by_type(const DenseProblem& problem, std::vector<std::unique_ptr<const Executable>> forward) {
  const std::vector<ElementType> types = read_types<Real>(problem);
  Executables executables;
  for (std::size_t i = 0; i < types.size(); ++i) executables.emplace(types[i], std::move(forward[i]));
  return executables;
}

std::size_t max_scratch(const Executables& executables) {
  std::size_t max = 0;
  for (const auto& [type, executable] : executables) max = std::max(max, executable->scratch_bytes());
  return max;
}

std::size_t signal_bytes(const DenseProblem& problem, ElementType type) {
  return static_cast<std::size_t>(problem.strides.batch) * element_bytes(type);
}

template <class Real>
class TunedEngine final : public GpuDenseEngine<Real>, private GpuPhases<Real> {
 public:
  TunedEngine(const DenseProblem& problem, PlanPolicy policies)
      : problem_(problem), policies_(std::move(policies)), tables_(kSingle) {
    std::vector<Program> programs = forward_programs<Real>(problem, policies_);
    if (!problem.forward_only)
      programs.push_back(lay_out({problem, kSingle, true, own_type<Real>(problem)}, policies_.own));
    std::vector<std::unique_ptr<const Executable>> made =
        load(programs, kSingle, tables_, cuda::device_info(problem.device));
    if (!problem.forward_only) inverse_ = std::move(made.back());
    forward_ = by_type<Real>(problem, std::move(made));
  }

  std::size_t workspace_bytes() const noexcept override {
    return std::max(max_scratch(forward_), inverse_ == nullptr ? 0 : inverse_->scratch_bytes());
  }
  bool reads(ElementType type) const noexcept override { return forward_.count(type) > 0; }
  bool writes_strides() const noexcept override { return true; }

  void forward(const void* signals, ElementType type, std::complex<Real>* spectra, Real scale,
               std::byte* workspace, CUstream_st* stream) const override {
    Call call = this->call(signals, spectra, scale, workspace);
    call.input_bytes = signal_bytes(problem_, type);
    call.output_bytes = spectrum_bytes();
    forward_.at(type)->run(call, stream);
  }

  void inverse(const std::complex<Real>* spectra, void* signals, Real scale, std::byte* workspace,
               CUstream_st* stream) const override {
    Call call = this->call(spectra, signals, scale, workspace);
    call.input_bytes = spectrum_bytes();
    call.output_bytes = signal_bytes(problem_, own_type<Real>(problem_));
    inverse_->run(call, stream);
  }

  const GpuPhases<Real>* phases() const noexcept override {
    return problem_.batch == 1 && !problem_.real && columns_at_once() > 0 ? this : nullptr;
  }

  std::string kernel() const override { return tuned::to_text(policies_); }
  std::string name() const override { return "tuned kernels: " + tuned::to_text(policies_); }

 private:
  static constexpr bool kSingle = sizeof(Real) == 4;

  std::size_t spectrum_bytes() const {
    return static_cast<std::size_t>(problem_.spectrum_points()) * sizeof(std::complex<Real>);
  }

  using Volume = typename GpuPhases<Real>::Volume;

  const Executable& executable(bool inverse) const {
    return inverse ? *inverse_ : *forward_.at(own_type<Real>(problem_));
  }
  std::int64_t columns_at_once() const noexcept override { return executable(false).columns_at_once(); }
  bool planes_first(bool inverse) const noexcept override { return executable(inverse).planes_first(); }
  void columns(const Volume& volume, std::int64_t first, std::int64_t count,
               CUstream_st* stream) const override {
    executable(volume.inverse).run_columns(call(volume), first, count, stream);
  }
  void planes(const Volume& volume, std::int64_t first, std::int64_t count,
              CUstream_st* stream) const override {
    executable(volume.inverse).run_planes(call(volume), first, count, stream);
  }
  Call call(const Volume& volume) const {
    return call(volume.from, volume.to, volume.scale, volume.workspace);
  }

  Call call(const void* input, void* output, Real scale, std::byte* workspace) const {
    return {input, output, workspace, static_cast<double>(scale), problem_.batch};
  }

  DenseProblem problem_;
  PlanPolicy policies_;
  tuned::Tables tables_;
  Executables forward_;
  std::unique_ptr<const Executable> inverse_;  ///< none for forward-only problems
};

template <class Real>
class KeepingEngine final : public GpuKeepingEngine<Real> {
 public:
  KeepingEngine(const DenseProblem& problem, const PlanPolicy& policies, device::Keep keep)
      : problem_(problem),
        tables_(kSingle),
        forward_(by_type<Real>(problem, load(forward_programs<Real>(problem, policies, keep), kSingle,
                                             tables_, cuda::device_info(problem.device)))) {}

  std::size_t workspace_bytes() const noexcept override { return max_scratch(forward_); }
  bool reads(ElementType type) const noexcept override { return forward_.count(type) > 0; }
  void forward(const void* signals, ElementType type, const device::KeptPart& part, Real scale,
               std::byte* workspace, CUstream_st* stream) const override {
    Call call{signals, nullptr, workspace, static_cast<double>(scale), problem_.batch};
    call.input_bytes = signal_bytes(problem_, type);
    call.kept = part;
    forward_.at(type)->run(call, stream);
  }

 private:
  static constexpr bool kSingle = sizeof(Real) == 4;

  DenseProblem problem_;
  tuned::Tables tables_;
  Executables forward_;
};

/// The policies that wisdom remembers, if they are for this problem.
template <class Real>
std::optional<PlanPolicy> remembered(const DenseProblem& problem, const std::string& kernel) {
  const auto policies = kernel.empty() ? std::nullopt : tuned::parse_plan_policy(kernel);
  if (!policies) return std::nullopt;
  const std::size_t shared = cuda::device_info(problem.device).shared_bytes_per_block;
  try {
    constexpr bool kSingle = sizeof(Real) == 4;
    for (const Program& program : forward_programs<Real>(problem, *policies)) {
      for (const tuned::Kernel& made : program.kernels) {
        if (made.shared_bytes(kSingle) > shared) return std::nullopt;
      }
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return policies;
}

template <class Real>
PlanPolicy choose(const DenseProblem& problem, const std::string& kernel, bool measure) {
  constexpr bool kSingle = sizeof(Real) == 4;
  if (const auto known = remembered<Real>(problem, kernel)) return *known;
  if (measure) return tuned::choose_by_measurement(problem, kSingle);
  return {tuned::choose_by_rules(problem, kSingle), std::nullopt};
}

}  // namespace

template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_tuned_engine(const DenseProblem& problem,
                                                              const std::string& kernel, bool measure) {
  cuda::nvrtc();
  const cuda::DeviceScope scope(problem.device);
  return std::make_unique<const TunedEngine<Real>>(problem, choose<Real>(problem, kernel, measure));
}

template <class Real>
std::unique_ptr<const GpuKeepingEngine<Real>> make_keeping_engine(const DenseProblem& problem,
                                                                  const std::string& kernel,
                                                                  device::Keep keep) {
  cuda::nvrtc();
  const cuda::DeviceScope scope(problem.device);
  return std::make_unique<const KeepingEngine<Real>>(problem, choose<Real>(problem, kernel, false), keep);
}

template std::unique_ptr<const GpuKeepingEngine<float>> make_keeping_engine(const DenseProblem&,
                                                                            const std::string&, device::Keep);
template std::unique_ptr<const GpuKeepingEngine<double>> make_keeping_engine(const DenseProblem&,
                                                                             const std::string&,
                                                                             device::Keep);
template std::unique_ptr<const GpuDenseEngine<float>> make_tuned_engine(const DenseProblem&,
                                                                        const std::string&, bool);
template std::unique_ptr<const GpuDenseEngine<double>> make_tuned_engine(const DenseProblem&,
                                                                         const std::string&, bool);

}  // namespace sfft::detail
