// SPDX-License-Identifier: Apache-2.0
// The tuned kernels for values stored in 16 bits: one executable for each direction.
#include "kernels/dense/problem/gpu_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "kernels/dense/cpu/stored_values.hpp"
#include "kernels/dense/tuned/plan/geometry.hpp"
#include "kernels/dense/tuned/plan/needs.hpp"
#include "kernels/dense/tuned/policy/limits.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/run/loading.hpp"
#include "kernels/dense/tuned/run/product_tables.hpp"
#include "kernels/dense/tuned/search/tuner.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

using tuned::Executable;
using tuned::Formats;
using tuned::Program;
using tuned::TransformPolicy;

constexpr bool kCompactSingle = true;  // compact formats are read into float

Formats formats_of(const CompactFormats& formats, Direction direction) {
  return {formats.source(direction), formats.target(direction), formats.between,
          formats.source_peak(direction)};
}

Program program_of(const DenseProblem& problem, const CompactFormats& formats, Direction direction,
                   const TransformPolicy& policy) {
  return lay_out({problem, kCompactSingle, direction == Direction::inverse, own_type<float>(problem),
                  device::Keep::all, formats_of(formats, direction)},
                 policy);
}

bool multiplies(const TransformPolicy& policy) {
  return std::any_of(policy.kernels.begin(), policy.kernels.end(),
                     [](const tuned::KernelPolicy& kernel) { return kernel.tensor_cores; });
}

/// Whether the rules would choose products on tensor cores for a transform, on GPUs that support them.
bool could_multiply(const DenseProblem& problem, const CompactFormats& formats) {
  std::string why;
  const std::vector<tuned::LineNeed> needs = tuned::needs_of(
      problem, kCompactSingle, {}, {.multiplies_f16 = true}, why, formats_of(formats, Direction::forward));
  return !needs.empty() && tuned::prefers_products(needs[0]);
}

class TunedCompactEngine final : public GpuCompactEngine {
 public:
  TunedCompactEngine(const DenseProblem& problem, const CompactFormats& formats, TransformPolicy policy)
      : problem_(problem), formats_(formats), policy_(std::move(policy)), tables_(kCompactSingle) {
    std::vector<Program> programs;
    for (const Direction direction : {Direction::forward, Direction::inverse})
      programs.push_back(program_of(problem, formats, direction, policy_));
    for (std::size_t d = 0; d < programs.size(); ++d) {
      handovers_[d] = static_cast<int>(programs[d].kernels.size()) - 1;
      exponents_[d] = programs[d].exponent();
    }
    if (programs[0].kernels[0].step.multiplies())
      kernel_error_ = tuned::product_scale(static_cast<int>(problem.shape.points())).error;
    executables_ = load(programs, kCompactSingle, tables_, cuda::device_info(problem.device));
  }

  std::size_t workspace_bytes() const noexcept override {
    return std::max(executables_[0]->scratch_bytes(), executables_[1]->scratch_bytes());
  }

  void run(Direction direction, const void* from, void* to, double scale, std::byte* workspace,
           CUstream_st* stream) const override {
    const auto d = static_cast<std::size_t>(direction);
    const bool forward = direction == Direction::forward;
    tuned::Call call{from, to, workspace, std::ldexp(scale, -exponents_[d]), problem_.batch};
    (forward ? call.input_bytes : call.output_bytes) = storage_bytes(formats_.signal, signal_parts());
    (forward ? call.output_bytes : call.input_bytes) =
        storage_bytes(formats_.spectrum, 2 * problem_.spectrum_points());
    executables_[d]->run(call, stream);
  }

  int handovers(Direction direction) const noexcept override {
    return handovers_[static_cast<std::size_t>(direction)];
  }
  double kernel_error() const noexcept override { return kernel_error_; }
  std::string kernel() const override { return tuned::to_text(tuned::PlanPolicy{policy_, std::nullopt}); }
  std::string name() const override { return "tuned kernels: " + kernel(); }
  std::string note() const override {
    if (multiplies(policy_)) return "products on tensor cores";
    const cuda::DeviceInfo& device = cuda::device_info(problem_.device);
    if (device.major >= tuned::kMajorOfProducts || !could_multiply(problem_, formats_)) return "";
    return fmt::format(
        "passes or convolutions: products of f16 matrices need compute capability {}.0, this GPU has {}.{}",
        tuned::kMajorOfProducts, device.major, device.minor);
  }

 private:
  std::int64_t signal_parts() const noexcept { return problem_.shape.points() * (problem_.real ? 1 : 2); }

  DenseProblem problem_;
  CompactFormats formats_;
  TransformPolicy policy_;
  tuned::Tables tables_;
  std::array<int, 2> handovers_{}, exponents_{};
  double kernel_error_ = 0;
  std::vector<std::unique_ptr<const Executable>> executables_;
};

/// The formats that the search times. bf16 stands for block16, which has nearly as many bytes. f16 would also
/// allow products.
Formats timed_formats(const CompactFormats& formats) {
  Formats timed = formats_of(formats, Direction::forward);
  for (dense::Storage* const side : {&timed.source, &timed.target}) {
    if (*side == dense::Storage::block16) *side = dense::Storage::bf16;
  }
  return timed;
}

/// Whether a policy can transform both directions.
bool fits(const DenseProblem& problem, const CompactFormats& formats, const TransformPolicy& policy) {
  const std::size_t shared = cuda::device_info(problem.device).shared_bytes_per_block;
  try {
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      for (const tuned::Kernel& made : program_of(problem, formats, direction, policy).kernels) {
        if (made.shared_bytes(kCompactSingle) > shared) return false;
      }
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// Returns the policy itself or, where tiles must hold whole blocks of block16, the policy with enough
/// additional lines.
std::optional<TransformPolicy> fitted(const DenseProblem& problem, const CompactFormats& formats,
                                      TransformPolicy policy) {
  if (fits(problem, formats, policy)) return policy;
  constexpr int kOfBlock = dense::kBlockValues / 2;
  for (tuned::KernelPolicy& kernel : policy.kernels) {
    int& lines = kernel.transforms_per_block;
    lines = (lines + kOfBlock - 1) / kOfBlock * kOfBlock;
    if (lines * kernel.threads_per_transform > tuned::kMaxThreads) return std::nullopt;
    if (fits(problem, formats, policy)) return policy;
  }
  return std::nullopt;
}

/// The policy that wisdom remembers, if it is one for this problem.
std::optional<TransformPolicy> remembered(const DenseProblem& problem, const CompactFormats& formats,
                                          const std::string& kernel) {
  const auto policies = kernel.empty() ? std::nullopt : tuned::parse_plan_policy(kernel);
  return policies ? fitted(problem, formats, policies->own) : std::nullopt;
}

/// Chooses by rules, with the first factors for which kernels can do the transform.
TransformPolicy by_rules(const DenseProblem& problem, const CompactFormats& formats) {
  std::optional<TransformPolicy> found;
  const TransformPolicy first = tuned::choose_by_rules(
      problem, kCompactSingle, timed_formats(formats),
      [&](const TransformPolicy& policy) { return (found = fitted(problem, formats, policy)).has_value(); });
  return found ? *found : first;
}

}  // namespace

bool multiplies_f16(const std::string& kernel) {
  const auto policies = tuned::parse_plan_policy(kernel);
  return policies && multiplies(policies->own);
}

std::unique_ptr<const GpuCompactEngine> make_compact_engine(const DenseProblem& problem,
                                                            const CompactFormats& formats,
                                                            const std::string& kernel, bool measure) {
  cuda::nvrtc();
  const cuda::DeviceScope scope(problem.device);
  std::optional<TransformPolicy> policy = remembered(problem, formats, kernel);
  if (!policy && measure)
    policy =
        fitted(problem, formats,
               tuned::choose_by_measurement(problem, kCompactSingle, nullptr, timed_formats(formats)).own);
  if (!policy) policy = by_rules(problem, formats);
  return std::make_unique<const TunedCompactEngine>(problem, formats, std::move(*policy));
}

}  // namespace sfft::detail
