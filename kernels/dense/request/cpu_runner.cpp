// SPDX-License-Identifier: Apache-2.0
// Threads that take one signal of the batch at a time have their own parts of the workspace. Strided signals
// are packed there first.
#include "kernels/dense/request/cpu_runner.hpp"

#include <algorithm>

#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/cpu/strided_copy.hpp"

namespace sfft::detail {

namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

[[noreturn]] void not_on_gpu() {
  throw Error(ErrorCode::backend_unavailable,
              "this plan is on the CPU and cannot be queued: plan with Options{.backend = Backend::cuda}");
}

template <class Real>
BatchThreads threads_of(const DenseRequest& request, const DenseEngine<Real>& engine) {
  const int threads = thread_count(request.options);
  const int across = static_cast<int>(std::min<std::int64_t>(threads, request.problem.batch));
  const int within = std::min(threads, engine.most_threads());
  return across < within ? BatchThreads(1, within) : BatchThreads(across, 1);
}

}  // namespace

template <class Real>
CpuRunner<Real>::CpuRunner(std::unique_ptr<const DenseEngine<Real>> engine, const DenseRequest& request)
    : engine_(std::move(engine)),
      problem_(request.problem),
      scales_(request.scales),
      packed_(DenseProblem{problem_.shape, problem_.real, 1, problem_.strides, 0}.contiguous()),
      threads_(threads_of(request, *engine_)) {
  engine_bytes_ = aligned(engine_->workspace_bytes(threads_.within()));
  slot_bytes_ = engine_bytes_;
  const std::size_t largest = problem_.real ? sizeof(double) : sizeof(std::complex<double>);
  if (!packed_) slot_bytes_ += aligned(static_cast<std::size_t>(problem_.shape.points()) * largest);
}

template <class Real>
template <class Transform>
void CpuRunner<Real>::over_batch(std::byte* workspace, const Transform& transform) const {
  threads_.run(problem_.batch, [&](std::int64_t b, int slot, cpu::ThreadPool* pool) {
    transform(b, EngineScratch{workspace + static_cast<std::size_t>(slot) * slot_bytes_, pool});
  });
}

template <class Real>
void CpuRunner<Real>::forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                              std::byte* workspace) const {
  const std::int64_t points = problem_.spectrum_points();
  const auto scale = static_cast<Real>(scales_.forward);
  over_batch(workspace, [&](std::int64_t b, const EngineScratch& scratch) {
    const auto start = static_cast<std::size_t>(b * problem_.strides.batch) * element_bytes(type);
    const void* signal = static_cast<const std::byte*>(signals) + start;
    if (!packed_) {
      gather_signal(problem_, b, signals, type, scratch.workspace + engine_bytes_);
      signal = scratch.workspace + engine_bytes_;
    }
    std::complex<Real>* spectrum = spectra + b * points;
    engine_->forward(signal, type, spectrum, scratch);
    if (scale == 1) return;
    over_stretches(scratch, 0, points, 1, [&](std::int64_t begin, std::int64_t end, std::byte*) {
      std::for_each(spectrum + begin, spectrum + end, [scale](auto& value) { value *= scale; });
    });
  });
}

template <class Real>
void CpuRunner<Real>::inverse(const std::complex<Real>* spectra, void* signals, std::byte* workspace) const {
  const auto scale = static_cast<Real>(scales_.inverse);
  const auto run = [&]<class T>(T* all) {
    over_batch(workspace, [&](std::int64_t b, const EngineScratch& scratch) {
      const std::complex<Real>* spectrum = spectra + b * problem_.spectrum_points();
      if (packed_) return engine_->inverse(spectrum, all + b * problem_.strides.batch, scale, scratch);
      engine_->inverse(spectrum, reinterpret_cast<T*>(scratch.workspace + engine_bytes_), scale, scratch);
      scatter_signal(problem_, b, scratch.workspace + engine_bytes_, element_type_of<T>::value, signals);
    });
  };
  problem_.real ? run(static_cast<Real*>(signals)) : run(static_cast<std::complex<Real>*>(signals));
}

template <class Real>
void CpuRunner<Real>::enqueue_forward(const void*, ElementType, std::complex<Real>*, std::byte*,
                                      CUstream_st*) const {
  not_on_gpu();
}
template <class Real>
void CpuRunner<Real>::enqueue_inverse(const std::complex<Real>*, void*, std::byte*, CUstream_st*) const {
  not_on_gpu();
}

template class CpuRunner<float>;
template class CpuRunner<double>;

}  // namespace sfft::detail
