// SPDX-License-Identifier: Apache-2.0
// Chooses the engine of a dense plan on the CPU: the requested one, otherwise one by measurement or wisdom,
// otherwise built_in.
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "kernels/dense/request/choose/selection.hpp"
#include "kernels/dense/request/host/cpu_runner.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/memory_budget.hpp"

namespace sfft::detail {

namespace {

using dense::Engine;
using Planning = dense::Options::Planning;

/// Whether signals with strides are faster if they are copied to contiguous memory first: single ones that
/// are small or long lines, and large grids whose rows and columns both have gaps.
bool faster_packed(const DenseProblem& problem) {
  constexpr std::int64_t kMaxSmall = 256, kMinLarge = 4096, kMinLong = 1 << 16;
  if (padded_for_spectrum(problem)) return false;  // works in place
  const std::int64_t points = problem.shape.points();
  const bool line = points == problem.row_points();
  bool adjacent = false;
  for (int d = 0; d < problem.shape.rank(); ++d)
    adjacent = adjacent || (problem.shape[d] > 1 && problem.strides.dims[static_cast<std::size_t>(d)] == 1);
  if (problem.batch == 1 && (line ? points >= kMinLong : points <= kMaxSmall)) return true;
  return !line && points >= kMinLarge && !adjacent;
}

template <class Real>
std::unique_ptr<const Runner<FullCall>> make(Engine engine, Planning planning, const DenseRequest& request) {
  const DenseProblem& problem = request.problem;
  // A batch with at least as many signals as threads is spread over the threads.
  const int threads = problem.batch < thread_count(request.options) ? thread_count(request.options) : 1;
  if (engine == Engine::fftw) {
    auto fftw =
        make_fftw_engine<Real>(problem.shape, problem.real, planning, problem.batch == 1 ? threads : 1);
    return std::make_unique<const CpuRunner<Real>>(std::move(fftw), request);
  }
  const bool packed = DenseProblem{problem.shape, problem.real, 1, problem.strides, 0}.contiguous();
  if (!packed && !faster_packed(problem)) return make_strided_runner<Real>(request);
  return std::make_unique<const CpuRunner<Real>>(
      make_built_in_engine<Real>(problem.shape, problem.real, threads), request,
      packed ? SignalGroup<Real>::best_size(problem.shape, problem.real, problem.batch) : 1, true);
}

/// Microseconds of a forward transform of the batch.
template <class Real>
double measured_on_cpu_us(const Runner<FullCall>& runner, const DenseProblem& problem) {
  const std::size_t sample = problem.real ? sizeof(Real) : sizeof(std::complex<Real>);
  CountedVector<Real> signals(static_cast<std::size_t>(span_points(problem)) * sample / sizeof(Real),
                              Real(1));
  CountedVector<std::complex<Real>> spectra(static_cast<std::size_t>(total_spectrum_points(problem)));
  CountedVector<std::byte> memory(runner.workspace_bytes() + 64);
  std::byte* workspace = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  const ElementType type = own_type<Real>(problem);
  return median_us([&] {
    const auto start = std::chrono::steady_clock::now();
    runner.run({Direction::forward, signals.data(), type, spectra.data(), workspace});
    return us_since(start);
  });
}

template <class Real>
Choice<FullCall> fastest(const DenseRequest& request) {
  Selection<FullCall> selection;
  for (const Engine engine : {Engine::built_in, Engine::fftw}) {
    if (!dense::availability(engine)) continue;
    selection.enter(
        engine, dense::to_string(engine), [&] { return make<Real>(engine, Planning::measure, request); },
        [&](const auto& runner) { return measured_on_cpu_us<Real>(runner, request.problem); });
  }
  return selection.winner([&](const WisdomEntry& entry) {
    Wisdom::global().add(cpu_platform(), wisdom_problem<Real>(request.problem), entry);
  });
}

}  // namespace

template <class Real>
Choice<FullCall> choose_on_cpu(const DenseRequest& request) {
  const Planning planning = request.options.planning;
  if (request.layout) {
    if (request.options.engine == Engine::fftw) {
      throw Error(ErrorCode::backend_unavailable,
                  "the engine fftw transforms up to three dimensions with one batch dimension and contiguous "
                  "spectra: leave Options::engine out for other layouts");
    }
    return {make_strided_runner<Real>(request), Engine::built_in, "the engine for any layout"};
  }
  if (request.options.engine != Engine::automatic)
    return {make<Real>(request.options.engine, planning, request), request.options.engine,
            "the engine was requested"};
  if (planning == Planning::measure) return fastest<Real>(request);
  const auto known = Wisdom::global().find(cpu_platform(), wisdom_problem<Real>(request.problem));
  if (known && known->engine == dense::to_string(Engine::fftw) && dense::availability(Engine::fftw))
    return {make<Real>(Engine::fftw, Planning::measure, request), Engine::fftw,
            fmt::format("wisdom: fastest when measured, {:.4g} us", known->us)};
  if (known && known->engine == dense::to_string(Engine::built_in))
    return {make<Real>(Engine::built_in, planning, request), Engine::built_in,
            fmt::format("wisdom: fastest when measured, {:.4g} us", known->us)};
  return {make<Real>(Engine::built_in, planning, request), Engine::built_in,
          "no wisdom for this transform: the engine that measured fastest most often"};
}

template Choice<FullCall> choose_on_cpu<float>(const DenseRequest&);
template Choice<FullCall> choose_on_cpu<double>(const DenseRequest&);

}  // namespace sfft::detail
