// SPDX-License-Identifier: Apache-2.0
// Chooses the engine of a dense plan on a GPU: the requested one, otherwise one by measurement or wisdom,
// otherwise cuFFT.
#include <fmt/format.h>

#include <optional>

#include "kernels/dense/request/choice.hpp"
#include "kernels/dense/request/gpu_runner.hpp"
#include "kernels/dense/tuned/search/timing.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "kernels/dense/wisdom/wisdom_problem.hpp"

namespace sfft::detail {

namespace {

using dense::Engine;

/// An engine with its kernels, to be timed against the others.
struct Candidate {
  Engine engine;
  const char* kernel;
  const char* name;
};
constexpr Candidate kCandidates[] = {{Engine::cufft, "", "cufft"},
                                     {Engine::cufft, kCompiledKernels, "cufft compiled"},
                                     {Engine::vkfft, "", "vkfft"},
                                     {Engine::tuned, "", "tuned"},
                                     {Engine::tensor, "", "tensor"}};

template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_engine(Engine engine, const DenseProblem& problem,
                                                        const std::string& kernel, bool measure) {
  if (engine == Engine::vkfft) return make_vkfft_engine<Real>(problem);
  if (engine == Engine::tensor) return make_tensor_engine<Real>(problem);
  if (engine == Engine::tuned) return make_tuned_engine<Real>(problem, kernel, measure);
  return make_cufft_engine<Real>(problem, kernel);
}

/// The engine that wisdom names, if this build has it.
std::optional<Engine> named_by(const WisdomEntry& known) {
  for (const Candidate& candidate : kCandidates) {
    if (known.engine == dense::to_string(candidate.engine) && gpu_engine_in_build(candidate.engine))
      return candidate.engine;
  }
  return std::nullopt;
}

template <class Real>
std::unique_ptr<const GpuRunner<Real>> make(Engine engine, const DenseRequest& request,
                                            const std::string& kernel, bool measure) {
  return std::make_unique<const GpuRunner<Real>>(
      request.problem, request.scales,
      [engine, kernel, measure](const DenseProblem& problem, const GpuDenseEngine<Real>* like) {
        return like != nullptr ? make_engine<Real>(engine, problem, like->kernel(), false)
                               : make_engine<Real>(engine, problem, kernel, measure);
      });
}

/// Microseconds of a forward transform of the batch in device memory.
template <class Real>
double measured_us(const GpuRunner<Real>& runner, const DenseProblem& problem) {
  const std::size_t sample = problem.real ? sizeof(Real) : sizeof(std::complex<Real>);
  const cuda::DeviceBuffer signals(static_cast<std::size_t>(span_points(problem)) * sample);
  const cuda::DeviceBuffer spectra(static_cast<std::size_t>(total_spectrum_points(problem)) *
                                   sizeof(std::complex<Real>));
  const cuda::DeviceBuffer workspace(runner.device_workspace_bytes());
  const cuda::OwnedStream stream;
  fill_for_timing<Real>(signals, stream.get());
  const ElementType type = own_type<Real>(problem);
  return device_us(
      [&](cuda::Stream s) {
        runner.enqueue_forward(signals.data(), type, spectra.template as<std::complex<Real>>(),
                               workspace.data(), s);
      },
      stream.get());
}

template <class Real>
DenseChoice<Real> fastest(const DenseRequest& request, const WisdomPlatform& platform,
                          const WisdomProblem& key, const std::optional<WisdomEntry>& known) {
  Selection<DenseChoice<Real>> selection;
  for (const Candidate& candidate : kCandidates) {
    const Engine engine = candidate.engine;
    if (!gpu_engine_in_build(engine)) continue;
    // Kernels that wisdom names were tuned before, so they are only timed again.
    const bool tuned = known && engine == Engine::tuned && known->engine == dense::to_string(engine);
    const std::string kernel = tuned ? known->kernel : candidate.kernel;
    selection.enter(
        engine, candidate.name, [&] { return make<Real>(engine, request, kernel, true); },
        [&](const auto& runner) {
          return measured_us<Real>(static_cast<const GpuRunner<Real>&>(runner), request.problem);
        });
  }
  return selection.winner(platform, key, [](const DenseRunner<Real>& runner) {
    return static_cast<const GpuRunner<Real>&>(runner).kernel();
  });
}

template <class Real>
DenseChoice<Real> named(const DenseRequest& request, const std::optional<WisdomEntry>& known) {
  const Engine engine = request.options.engine;
  const bool remembered = known && known->engine == dense::to_string(engine);
  return {make<Real>(engine, request, remembered ? known->kernel : "",
                     request.options.planning == dense::Options::Planning::measure),
          engine, "the engine was requested"};
}

/// Uses the engine that wisdom names, or cuFFT if it is not available.
template <class Real>
DenseChoice<Real> remembered(const DenseRequest& request, const WisdomEntry& known) {
  std::string lacking = "this build lacks it";
  if (const auto engine = named_by(known)) {
    try {
      return {make<Real>(*engine, request, known.kernel, false), *engine,
              fmt::format("wisdom: fastest when measured, {:.4g} us", known.us)};
    } catch (const Error& error) {
      const bool plain = *engine == Engine::cufft && known.kernel.empty();
      if (error.code() != ErrorCode::backend_unavailable || plain) throw;
      lacking = error.what();
    }
  }
  return {make<Real>(Engine::cufft, request, "", false), Engine::cufft,
          fmt::format("wisdom names {}, but {}; so cuFFT", known.engine, lacking)};
}

}  // namespace

bool gpu_engine_in_build(dense::Engine engine) noexcept {
  return engine == Engine::cufft || engine == Engine::tuned || engine == Engine::tensor ||
         (engine == Engine::vkfft && have_vkfft());
}

template <class Real>
DenseChoice<Real> choose_on_gpu(const DenseRequest& request) {
  static_cast<void>(cuda::device_info(request.problem.device));  // throws without a usable GPU
  const cuda::DeviceScope scope(request.problem.device);
  const WisdomPlatform platform = gpu_platform(request.problem.device);
  const WisdomProblem key = wisdom_problem<Real>(request.problem);
  const bool measure = request.options.planning == dense::Options::Planning::measure;
  const std::optional<WisdomEntry> known =
      Wisdom::global().find(platform, key, measure ? Wisdom::Batch::exact : Wisdom::Batch::nearest);
  if (request.options.engine == Engine::automatic && measure)
    return fastest<Real>(request, platform, key, known);
  if (request.options.engine != Engine::automatic) return named<Real>(request, known);
  if (known) return remembered<Real>(request, *known);
  return {make<Real>(Engine::cufft, request, "", false), Engine::cufft,
          fmt::format("no wisdom for {} on {}: cuFFT; planning = measure finds out which engine is faster",
                      key.transform, platform.device)};
}

template <class Real>
cuda::DenseEngines<Real> remembered_engines(const DenseProblem& problem, Wisdom::Batch batch) {
  static_cast<void>(cuda::device_info(problem.device));  // throws without a usable GPU
  const auto known =
      Wisdom::global().find(gpu_platform(problem.device), wisdom_problem<Real>(problem), batch);
  const Engine engine = known ? named_by(*known).value_or(Engine::cufft) : Engine::cufft;
  const auto make = [engine, kernel = known ? known->kernel : ""](DenseProblem round) {
    round.forward_only = true;
    try {
      return make_engine<Real>(engine, round, kernel, false);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::backend_unavailable || (engine == Engine::cufft && kernel.empty()))
        throw;
      return make_engine<Real>(Engine::cufft, round, "", false);
    }
  };
  cuda::DenseEngines<Real> engines{make, {}, std::string("dense FFT, engine ") + dense::to_string(engine)};
  if (engine == Engine::tuned) {
    engines.keep = [kernel = known->kernel](const DenseProblem& round, device::Keep keep) {
      return make_keeping_engine<Real>(round, kernel, keep);
    };
  }
  return engines;
}

template cuda::DenseEngines<float> remembered_engines(const DenseProblem&, Wisdom::Batch);
template cuda::DenseEngines<double> remembered_engines(const DenseProblem&, Wisdom::Batch);

template DenseChoice<float> choose_on_gpu(const DenseRequest&);
template DenseChoice<double> choose_on_gpu(const DenseRequest&);

}  // namespace sfft::detail
