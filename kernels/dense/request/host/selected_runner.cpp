// SPDX-License-Identifier: Apache-2.0
// Selected coefficients on the CPU: stores the complete spectra of the batch in memory of the call, and picks
// from them. Ranges of frequencies have an FFT of their own, unless the dense one is faster.
#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "kernels/base/math/index.hpp"
#include "kernels/cpu/platform/isa.hpp"
#include "kernels/dense/cpu/strided_copy.hpp"
#include "kernels/dense/cpu/zoom_fft.hpp"
#include "kernels/dense/request/host/batch_threads.hpp"
#include "kernels/dense/request/runner.hpp"
#include "kernels/runtime/aligned_buffer.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

namespace {

template <class Real>
class SelectedCpuRunner final : public Runner<SelectedCall<Real>> {
  using Value = std::complex<Real>;

 public:
  SelectedCpuRunner(const DenseProblem& problem, std::unique_ptr<const Runner<FullCall>> full,
                    const KeptOutput& kept)
      : problem_(problem), full_(std::move(full)), kept_(kept) {}

  void run(const SelectedCall<Real>& call) const override {
    const auto count = static_cast<std::size_t>(total_spectrum_points(problem_));
    CountedVector<Value> spectra;
    try {
      spectra.resize(count);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory, fmt::format("no memory for {} coefficients", count));
    }
    const Scratch scratch({}, full_->workspace_bytes());
    enter_stage("dense transform");
    full_->run({Direction::forward, call.from, call.type, spectra.data(), scratch.data()});
    if (kept_.values() == 0) return keep_above(spectra, call);
    auto* values = static_cast<Value*>(call.to);
    for (std::int64_t b = 0; b < problem_.batch; ++b, values += kept_.values()) {
      const Value* const spectrum = spectra.data() + b * problem_.spectrum_points();
      kept_.range ? keep_band(spectrum, values) : keep_at(spectrum, values);
    }
  }
  bool on_gpu() const noexcept override { return false; }
  std::string name() const override { return full_->name(); }

 private:
  static void keep_above(const CountedVector<Value>& spectra, const SelectedCall<Real>& call) {
    const Real least = call.magnitude * call.magnitude;
    for (std::size_t i = 0; i < spectra.size(); ++i) {
      const Real re = spectra[i].real(), im = spectra[i].imag();
      if (re * re + im * im <= least) continue;
      call.indices->push_back(static_cast<std::int64_t>(i));
      call.values->push_back(spectra[i]);
    }
  }
  void keep_at(const Value* spectrum, Value* values) const {
    for (const std::int64_t element : kept_.support) *values++ = spectrum[element];
  }
  void keep_band(const Value* spectrum, Value* values) const {
    const std::int64_t n = problem_.shape.points();
    std::int64_t f = floor_mod(static_cast<std::int64_t>(kept_.range->start), n);
    for (std::int64_t j = 0; j < kept_.range->count; ++j, ++f) {
      if (f == n) f = 0;
      values[j] = f < problem_.spectrum_points() ? spectrum[f] : std::conj(spectrum[n - f]);
    }
  }

  DenseProblem problem_;
  std::unique_ptr<const Runner<FullCall>> full_;
  KeptOutput kept_;
};

/// Computes ranges of frequencies from the signals, without spectra. Threads take whole signals of the batch,
/// or share one after another.
template <class Real>
class ZoomRunner final : public Runner<SelectedCall<Real>> {
 public:
  ZoomRunner(const DenseRequest& request, const FrequencyRange& range)
      : problem_(request.problem),
        count_(range.count),
        packed_(problem_.strides.dims[0] == 1),
        fft_(problem_.shape.points(), problem_.real, range, request.scales.forward),
        threads_(BatchThreads::divided(thread_count(request.options), problem_.batch,
                                       fft_.threads_of(thread_count(request.options)))),
        slot_bytes_(aligned_bytes(fft_.workspace_bytes(threads_.within()))) {}

  void run(const SelectedCall<Real>& call) const override {
    const std::size_t signal_bytes =
                          static_cast<std::size_t>(problem_.shape.points()) * element_bytes(call.type),
                      bytes = slot_bytes_ + (packed_ ? 0 : aligned_bytes(signal_bytes));
    const Scratch scratch({}, bytes * static_cast<std::size_t>(threads_.slots()));
    enter_stage("transform of a band");
    threads_.run(problem_.batch, [&](std::int64_t b, int slot, cpu::ThreadPool* pool) {
      std::byte* const own = scratch.data() + static_cast<std::size_t>(slot) * bytes;
      const auto* signal = static_cast<const std::byte*>(call.from);
      if (packed_) {
        signal += static_cast<std::size_t>(b * problem_.strides.batch) * element_bytes(call.type);
      } else {
        gather_signal(problem_, b, call.from, call.type, own + slot_bytes_);
        signal = own + slot_bytes_;
      }
      fft_.forward(signal, call.type, static_cast<std::complex<Real>*>(call.to) + b * count_, {own, pool});
    });
  }
  bool on_gpu() const noexcept override { return false; }
  bool stores_spectrum() const noexcept override { return false; }
  std::string name() const override { return fmt::format("built-in {}", cpu::isa_name()); }

  std::string reason() const {
    const ZoomPlan& plan = fft_.plan();
    const std::string last =
        fmt::format("{} of {} points", plan.chirp ? "a chirp-z transform with FFTs" : "an FFT", plan.fft);
    if (plan.block == 1) return fmt::format("by operations counted, {} is fastest", last);
    return fmt::format("by operations counted, decimation by {} with {} taps and {} are fastest", plan.block,
                       plan.block * plan.taps, last);
  }

 private:
  DenseProblem problem_;
  std::int64_t count_;
  bool packed_;  ///< each signal is contiguous
  ZoomFft<Real> fft_;
  BatchThreads threads_;
  std::size_t slot_bytes_;
};

}  // namespace

template <class Real>
Choice<SelectedCall<Real>> select_on_cpu(const DenseRequest& request, const KeptOutput& kept) {
  const dense::Engine engine = request.options.engine;
  const bool built_in = engine == dense::Engine::automatic || engine == dense::Engine::built_in;
  const std::int64_t n = request.problem.shape.points();
  if (kept.range && !kept.range->bins && !built_in) {
    throw Error(ErrorCode::backend_unavailable,
                fmt::format("zoom() is computed by the engine built_in: leave out Options::engine {}",
                            dense::to_string(engine)));
  }
  if (kept.range && built_in &&
      (!kept.range->bins ||
       plan_zoom<Real>(n, request.problem.real, *kept.range).us < dense_us<Real>(n, request.problem.real))) {
    auto runner = std::make_unique<const ZoomRunner<Real>>(request, *kept.range);
    std::string reason = runner->reason();
    return {std::move(runner), dense::Engine::built_in, std::move(reason)};
  }
  Choice<FullCall> full = choose_on_cpu<Real>(request);
  return {std::make_unique<const SelectedCpuRunner<Real>>(request.problem, std::move(full.runner), kept),
          full.engine, std::move(full.reason)};
}

template Choice<SelectedCall<float>> select_on_cpu(const DenseRequest&, const KeptOutput&);
template Choice<SelectedCall<double>> select_on_cpu(const DenseRequest&, const KeptOutput&);

}  // namespace sfft::detail
