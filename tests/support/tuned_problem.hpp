// SPDX-License-Identifier: Apache-2.0
// Makes problems for the tuned engine and policies for them without a GPU, and checks that the resulting
// program computes the transform.
#pragma once

#include <string>
#include <vector>

#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/tuned/plan/geometry.hpp"
#include "kernels/dense/tuned/plan/needs.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/search/candidates.hpp"
#include "sfft/error.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/half_spectra.hpp"
#include "tests/support/tolerance.hpp"
#include "tests/support/tuned_interpreter.hpp"

namespace sfft::test {

/// Limits of data centre GPUs: H100 and H200, A100.
inline constexpr detail::tuned::Limits kHopper{227 << 10};
inline constexpr detail::tuned::Limits kAmpere{163 << 10};
/// Limits of the oldest GPUs that CUDA 13 compiles for (sm_75).
inline constexpr detail::tuned::Limits kTuring{64 << 10};

inline detail::DenseProblem dense_problem(const Shape& shape, bool real, std::int64_t batch = 1,
                                          dense::Options::Strides strides = {}) {
  if (strides.batch == 0) {
    strides.batch = 1;
    for (int d = shape.rank(); d-- > 0; strides.batch *= shape[d])
      strides.dims[static_cast<std::size_t>(d)] = strides.batch;
  }
  return {shape, real, batch, strides, 0};
}

/// Like choose_by_rules(), for given factors. Throws std::runtime_error if there is no policy.
inline detail::tuned::TransformPolicy rule_policy(const detail::DenseProblem& problem, bool single,
                                                  const std::vector<int>& factors = {},
                                                  const detail::tuned::Limits& limits = kHopper) {
  std::string why = "no candidate";
  detail::tuned::TransformPolicy policy;
  policy.factors = factors;
  const auto needs = needs_of(problem, single, factors, limits, why);
  for (const detail::tuned::LineNeed& need : needs) {
    const auto best = candidates(need, single, limits, 1);
    if (!best.empty()) policy.kernels.push_back(best.front());
  }
  if (needs.empty() || policy.kernels.size() != needs.size()) {
    throw std::runtime_error(fmt::format("no kernels for {} {}: {}", problem.shape.to_string(),
                                         single ? "floats" : "doubles", why));
  }
  return policy;
}

/// The policy of a transform that takes one kernel.
inline detail::tuned::TransformPolicy policy_of(const detail::tuned::KernelPolicy& kernel) {
  detail::tuned::TransformPolicy policy;
  policy.kernels = {kernel};
  return policy;
}

/// One execution to interpret.
struct TunedRun {
  detail::DenseProblem problem;
  detail::tuned::TransformPolicy policy;
  bool single = true, inverse = false, in_place = false;
  ElementType element = ElementType::f32;
  StreamOrder order = StreamOrder::as_issued;
  device::Keep keep = device::Keep::all;  ///< the interpreter stores what the output hook would see
};

/// The offsets of the elements of all signals, in row-major order, one signal of the batch after another.
inline std::vector<std::int64_t> offsets_of(const detail::DenseProblem& problem) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    for (std::int64_t flat = 0; flat < problem.shape.points(); ++flat) {
      std::int64_t at = b * problem.strides.batch, rest = flat;
      for (int d = problem.shape.rank(); d-- > 0; rest /= problem.shape[d])
        at += rest % problem.shape[d] * problem.strides.dims[static_cast<std::size_t>(d)];
      offsets.push_back(at);
    }
  }
  return offsets;
}

/// Random signals of a problem, one of the batch after another, and their spectra by definition. Real signals
/// have only the half that is kept. Inverse transforms get other spectra: any half spectra if the signals are
/// real.
struct TunedSignals {
  std::vector<std::complex<double>> samples, spectra, inverse_spectra, inverse_samples;

  explicit TunedSignals(const detail::DenseProblem& problem) {
    const std::int64_t points = problem.shape.points(), row = problem.row_points();
    samples = random_signal(static_cast<std::size_t>(problem.batch * points), 7);
    if (problem.real) {
      for (auto& value : samples) value = value.real();
    }
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      const auto full = direct_dft({samples.begin() + b * points, samples.begin() + (b + 1) * points},
                                   problem.shape.extents());
      for (std::int64_t f = 0; f < points; ++f) {
        if (!problem.real || 2 * (f % row) <= row) spectra.push_back(full[static_cast<std::size_t>(f)]);
      }
    }
    if (!problem.real) {
      inverse_spectra = spectra;
      inverse_samples = samples;
      return;
    }
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      const auto half =
          random_signal(static_cast<std::size_t>(problem.spectrum_points()), 8 + static_cast<unsigned>(b));
      const auto signal = inverse_of_half_spectrum(half, problem.shape.extents());
      inverse_spectra.insert(inverse_spectra.end(), half.begin(), half.end());
      inverse_samples.insert(inverse_samples.end(), signal.begin(), signal.end());
    }
  }
};

/// Why the program of a run is wrong; empty when it computes the transform, touches nothing else, and does
/// not depend on the order of concurrent work. Throws what lay_out() throws.
inline std::string trouble_of(const TunedRun& run, const TunedSignals& signals) {
  constexpr double kScale = 0.75;
  const detail::DenseProblem& problem = run.problem;
  const detail::tuned::Program program =
      lay_out({problem, run.single, run.inverse, run.element, run.keep}, run.policy);
  for (std::size_t k = 0; run.keep != device::Keep::all && k < program.kernels.size(); ++k) {
    const detail::tuned::Step& step = program.kernels[k].step;
    const bool last = k + 1 == program.kernels.size();
    if (step.in.buffer == detail::tuned::Buffer::output ||
        (!last && step.out.buffer == detail::tuned::Buffer::output))
      return "a step uses the output, of which only a part is kept";
    if ((program.kernels[k].step.keep == run.keep) != last)
      return "another step than the last one keeps a part";
  }
  const std::vector<std::int64_t> offsets = offsets_of(problem);
  const auto &x = run.inverse ? signals.inverse_samples : signals.samples,
             &spectra = run.inverse ? signals.inverse_spectra : signals.spectra;
  std::vector<std::int64_t> natural(spectra.size());
  for (std::size_t i = 0; i < natural.size(); ++i) natural[i] = static_cast<std::int64_t>(i);
  const auto &from = run.inverse ? natural : offsets, &to = run.inverse ? offsets : natural;
  const auto& given = run.inverse ? spectra : x;
  auto expected = run.inverse ? x : spectra;
  for (auto& value : expected)
    value *= kScale * (run.inverse ? static_cast<double>(problem.shape.points()) : 1.0);

  std::vector<std::complex<double>> values(
      static_cast<std::size_t>(*std::max_element(from.begin(), from.end()) + 1), TunedMemory::kPoison);
  for (std::size_t i = 0; i < from.size(); ++i) values[static_cast<std::size_t>(from[i])] = given[i];
  TunedMemory input("input", values);
  TunedMemory apart("output", *std::max_element(to.begin(), to.end()) + 1);
  TunedMemory& output = run.in_place ? input : apart;
  TunedInterpreter interpreter(program, input, output);
  try {
    const std::int64_t signal = problem.strides.batch, spectrum = problem.spectrum_points();
    interpreter.run(problem.batch, kScale, run.inverse ? spectrum : signal, run.inverse ? signal : spectrum,
                    run.order);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  std::vector<std::complex<double>> result;
  std::vector<bool> wanted(static_cast<std::size_t>(output.size()));
  for (const std::int64_t at : to) {
    if (!interpreter.is_last_kernel(output.kernel_that_wrote(at)))
      return fmt::format("element {} of the output is not written by the last kernel", at);
    result.push_back(output.values()[static_cast<std::size_t>(at)]);
    wanted[static_cast<std::size_t>(at)] = true;
  }
  for (std::int64_t at = 0; at < output.size(); ++at) {
    if (!wanted[static_cast<std::size_t>(at)] && output.kernel_that_wrote(at) >= 0)
      return fmt::format("element {} between the output's elements is written", at);
  }
  const double error = relative_l2(result, expected);
  // Sums by definition have up to about ten thousand terms; one wrong value causes a far larger error.
  return error <= 1e-11 ? "" : fmt::format("relative error {}", error);
}

/// Checks both directions, also in place if the problem allows it, and all orders of streams.
inline std::string trouble_of(const detail::DenseProblem& problem,
                              const detail::tuned::TransformPolicy& policy, bool single) {
  const TunedSignals signals(problem);
  const ElementType own = single ? ElementType::f32 : ElementType::f64;
  for (const bool inverse : {false, true}) {
    for (const bool in_place : {false, true}) {
      if (in_place && (problem.real || !problem.contiguous())) continue;
      for (const auto order :
           {StreamOrder::as_issued, StreamOrder::first_to_last, StreamOrder::last_to_first}) {
        if (order != StreamOrder::as_issued && (policy.alternating_groups == 0 || policy.streams == 1))
          continue;
        for (const device::Keep keep : {device::Keep::all, device::Keep::above}) {
          if (keep != device::Keep::all && (inverse || in_place)) continue;
          const std::string trouble =
              trouble_of({problem, policy, single, inverse, in_place, own, order, keep}, signals);
          if (!trouble.empty())
            return fmt::format("{}{}{}{}: {}", inverse ? "inverse" : "forward", in_place ? " in place" : "",
                               order == StreamOrder::as_issued ? "" : " with streams in another order",
                               keep == device::Keep::all ? "" : " of which a part is kept", trouble);
        }
      }
    }
  }
  return "";
}

}  // namespace sfft::test
