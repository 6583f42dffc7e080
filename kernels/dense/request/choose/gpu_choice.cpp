// SPDX-License-Identifier: Apache-2.0
// Chooses the engine of a dense plan on a GPU: the requested one, otherwise one by measurement, wisdom or a
// comparison, otherwise cuFFT.
#include "kernels/dense/request/choose/gpu_choice.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <optional>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/request/choose/selection.hpp"
#include "kernels/dense/request/device/runners.hpp"
#include "kernels/dense/tuned/codegen/compiler.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/search/quick_search.hpp"
#include "kernels/dense/tuned/search/timing.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

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
std::unique_ptr<const Runner<FullCall>> make(Engine engine, const DenseRequest& request,
                                             const std::string& kernel, bool measure) {
  return make_gpu_runner<Real>(
      request, [engine, kernel, measure](const DenseProblem& problem, const GpuDenseEngine<Real>* like) {
        return like != nullptr ? make_engine<Real>(engine, problem, like->kernel(), false)
                               : make_engine<Real>(engine, problem, kernel, measure);
      });
}

/// Microseconds of a forward transform of the batch in device memory.
template <class Real>
double measured_on_gpu_us(const Runner<FullCall>& runner, const DenseProblem& problem) {
  const std::size_t sample = problem.real ? sizeof(Real) : sizeof(std::complex<Real>);
  const cuda::DeviceBuffer signals(static_cast<std::size_t>(span_points(problem)) * sample);
  const cuda::DeviceBuffer spectra(static_cast<std::size_t>(total_spectrum_points(problem)) *
                                   sizeof(std::complex<Real>));
  const cuda::DeviceBuffer workspace(runner.device_workspace_bytes());
  const cuda::Queue stream;
  fill_for_timing<Real>(signals, stream.get());
  const ElementType type = own_type<Real>(problem);
  return device_us(
      [&](cuda::Stream s) {
        runner.enqueue({Direction::forward, signals.data(), type, spectra.data(), workspace.data(), s});
      },
      stream.get());
}

/// What cached wisdom depends on in addition to the platform.
std::string build() {
  return tuned::compiler_version() + (have_vkfft() ? ", VkFFT" : "");
}
void recall(const WisdomPlatform& platform, const WisdomProblem& key) {
  const std::shared_ptr<const UserCache> cache = UserCache::global();
  if (cache->enabled()) recall_wisdom(*cache, build(), platform, key, Wisdom::global());
}
void remember(const WisdomPlatform& platform, const WisdomProblem& key, const WisdomEntry& entry) {
  remember_wisdom(*UserCache::global(), build(), platform, key, entry, Wisdom::global());
}

template <class Real>
Choice<FullCall> fastest(const DenseRequest& request, const WisdomPlatform& platform,
                         const WisdomProblem& key, const std::optional<WisdomEntry>& known) {
  Selection<FullCall> selection;
  for (const Candidate& candidate : kCandidates) {
    const Engine engine = candidate.engine;
    if (!gpu_engine_in_build(engine)) continue;
    // Kernels that wisdom names were tuned before, so they are only timed again.
    const bool tuned =
        known && !known->compared && engine == Engine::tuned && known->engine == dense::to_string(engine);
    const std::string kernel = tuned ? known->kernel : candidate.kernel;
    selection.enter(
        engine, candidate.name, [&] { return make<Real>(engine, request, kernel, true); },
        [&](const auto& runner) { return measured_on_gpu_us<Real>(runner, request.problem); });
  }
  return selection.winner([&](const WisdomEntry& entry) { remember(platform, key, entry); });
}

/// The same request for engines that may leave out what takes long to compile.
DenseRequest quickly(DenseRequest request) {
  request.problem.own_type_only = true;
  return request;
}

/// Compares the libraries with a few of the tuned kernels. All cores compile these while the GPU times cuFFT.
template <class Real>
class Comparison {
 public:
  /// `near` is wisdom about another batch of the transform.
  Comparison(const DenseRequest& full, const std::optional<WisdomEntry>& near)
      : request_(quickly(full)), forward_(request_) {
    forward_.problem.forward_only = true;
    try {
      search_.emplace(request_.problem,
                      near && near->engine == dense::to_string(Engine::tuned) ? near->kernel : "");
      compiled_ = in_background([this, deadline = std::chrono::steady_clock::now() + kCompiling] {
        return search_->compile(deadline);
      });
    } catch (const Error& error) {
      if (error.code() != ErrorCode::backend_unavailable) throw;
      no_search_ = error;
      search_.reset();
    }
    if (gpu_engine_in_build(Engine::vkfft))
      vkfft_ = in_background([this] { return make<Real>(Engine::vkfft, forward_, "", false); });
  }

  /// The fastest or, if nothing could be compared, cuFFT.
  Choice<FullCall> choice(const WisdomPlatform& platform, const WisdomProblem& key) {
    enter(Engine::cufft, "cufft", [&] { return make<Real>(Engine::cufft, request_, "", false); });
    enter(Engine::cufft, "cufft compiled",
          [&] { return make<Real>(Engine::cufft, request_, kCompiledKernels, false); });
    if (vkfft_.valid()) enter(Engine::vkfft, "vkfft", [&] { return vkfft_.get(); });
    enter(Engine::tuned, "tuned", [&] { return fastest_tuned(); });
    std::optional<WisdomEntry> found;
    Choice<FullCall> choice;
    try {
      choice = selection_.winner([&](const WisdomEntry& entry) { found = entry; });
      if (choice.engine == Engine::vkfft && !request_.problem.forward_only)
        choice.runner = make<Real>(Engine::vkfft, request_, "", false);  // with inverse transforms
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory && error.code() != ErrorCode::backend_unavailable) throw;
      return {make<Real>(Engine::cufft, request_, "", false), Engine::cufft,
              fmt::format("cuFFT, because engines could not be compared: {}", error.what())};
    }
    keep(platform, key, *found);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    choice.reason =
        fmt::format("{}, in {:.2g} s; planning = measure tries more kernels", choice.reason, seconds);
    return choice;
  }

 private:
  static constexpr auto kCompiling = std::chrono::milliseconds(150);  ///< no compilation begins later

  template <class Work>
  auto in_background(Work work) const {
    return std::async(std::launch::async | std::launch::deferred, [device = request_.problem.device, work] {
      const cuda::DeviceScope scope(device);
      return work();
    });
  }
  template <class Make>
  void enter(Engine engine, const char* name, const Make& make_runner) {
    selection_.enter(engine, name, make_runner, [&](const Runner<FullCall>& runner) {
      return measured_on_gpu_us<Real>(runner, request_.problem);
    });
  }
  std::unique_ptr<const Runner<FullCall>> fastest_tuned() {
    if (!search_) throw no_search_;
    complete_ = compiled_.get();
    return make<Real>(Engine::tuned, request_, tuned::to_text(search_->fastest()), false);
  }
  /// What was left out for lack of time or memory is compared in the next process.
  void keep(const WisdomPlatform& platform, const WisdomProblem& key, WisdomEntry found) const {
    found.compared = true;
    if (complete_ && !selection_.lacked_memory()) return remember(platform, key, found);
    Wisdom::global().add(platform, key, found);
  }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  DenseRequest request_;
  DenseRequest forward_;  ///< the inverse transform is compiled if VkFFT wins
  Selection<FullCall> selection_;
  Error no_search_{ErrorCode::backend_unavailable, ""};
  bool complete_ = true;  ///< there was time for everything
  std::optional<tuned::QuickSearch<Real>> search_;
  // The last members, because their destructors wait for work that uses the others.
  std::future<bool> compiled_;
  std::future<std::unique_ptr<const Runner<FullCall>>> vkfft_;
};

template <class Real>
Choice<FullCall> named(const DenseRequest& request, const std::optional<WisdomEntry>& known) {
  const Engine engine = request.options.engine;
  const bool remembered = known && known->engine == dense::to_string(engine);
  return {make<Real>(engine, request, remembered ? known->kernel : "",
                     request.options.planning == dense::Options::Planning::measure),
          engine, "the engine was requested"};
}

/// Uses the engine that wisdom names, or cuFFT if it is not available.
template <class Real>
Choice<FullCall> remembered(const DenseRequest& full, const WisdomEntry& known) {
  const DenseRequest request = known.compared ? quickly(full) : full;
  std::string lacking = "this build lacks it";
  if (const auto engine = named_by(known)) {
    try {
      return {make<Real>(*engine, request, known.kernel, false), *engine,
              fmt::format("wisdom: fastest {}, {:.4g} us",
                          known.compared ? "in a quick comparison" : "when measured", known.us)};
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
Choice<FullCall> choose_on_gpu(const DenseRequest& request) {
  static_cast<void>(cuda::device_info(request.problem.device));  // throws without a usable GPU
  const cuda::DeviceScope scope(request.problem.device);
  const WisdomPlatform platform = gpu_platform(request.problem.device);
  const WisdomProblem key = wisdom_problem<Real>(request.problem);
  using Planning = dense::Options::Planning;
  const Planning planning = request.options.planning;
  if (planning != Planning::estimate && request.options.engine == Engine::automatic) recall(platform, key);
  const std::optional<WisdomEntry> known = Wisdom::global().find(
      platform, key, planning == Planning::estimate ? Wisdom::Batch::nearest : Wisdom::Batch::exact);
  if (request.options.engine == Engine::automatic && planning == Planning::measure)
    return fastest<Real>(request, platform, key, known);
  const std::optional<WisdomEntry> near = Wisdom::global().find(platform, key, Wisdom::Batch::nearest);
  if (request.options.engine != Engine::automatic)
    return named<Real>(request, planning == Planning::measure ? known : near);
  if (known) return remembered<Real>(request, *known);
  if (planning == Planning::quick) return Comparison<Real>(request, near).choice(platform, key);
  return {make<Real>(Engine::cufft, request, "", false), Engine::cufft,
          fmt::format("no wisdom for {} on {}: cuFFT; planning = measure finds out which engine is faster",
                      key.transform, platform.device)};
}

template <class Real>
cuda::DenseEngines<Real> remembered_engines(const DenseProblem& problem, Wisdom::Batch batch) {
  static_cast<void>(cuda::device_info(problem.device));  // throws without a usable GPU
  auto known = Wisdom::global().find(gpu_platform(problem.device), wisdom_problem<Real>(problem), batch);
  if (known && known->compared) known.reset();  // results shall not depend on plans that were made before
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

template Choice<FullCall> choose_on_gpu<float>(const DenseRequest&);
template Choice<FullCall> choose_on_gpu<double>(const DenseRequest&);

}  // namespace sfft::detail
