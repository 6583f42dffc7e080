// SPDX-License-Identifier: Apache-2.0
// Threads that transform separate signals of the batch have their own parts of the workspace. Strided signals
// are packed there first.
#include "kernels/dense/request/host/cpu_runner.hpp"

#include <algorithm>

#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/cpu/strided_copy.hpp"
#include "kernels/runtime/aligned_buffer.hpp"

namespace sfft::detail {

namespace {

template <class Real>
BatchThreads threads_of(const DenseRequest& request, const DenseEngine<Real>& engine, std::int64_t together) {
  const int threads = thread_count(request.options);
  const std::int64_t parts = (request.problem.batch + together - 1) / together;
  return BatchThreads::divided(threads, parts, together > 1 ? 1 : engine.threads_of(threads));
}

}  // namespace

template <class Real>
CpuRunner<Real>::CpuRunner(std::unique_ptr<const DenseEngine<Real>> engine, const DenseRequest& request,
                           std::int64_t together, bool real_in_place)
    : engine_(std::move(engine)),
      problem_(request.problem),
      scales_(request.scales),
      real_in_place_(real_in_place),
      packed_(DenseProblem{problem_.shape, problem_.real, 1, problem_.strides, 0}.contiguous()),
      threads_(threads_of(request, *engine_, together)),
      alone_(problem_.batch == 1 && packed_ && threads_.slots() == 1 && threads_.within() == 1 &&
             scales_.forward == 1) {
  engine_bytes_ = aligned_bytes(engine_->workspace_bytes(threads_.within()));
  if (together > 1) {
    group_.emplace(problem_.shape, problem_.real, together);
    const std::int64_t rest = problem_.batch % together;
    if (rest > 1) rest_.emplace(problem_.shape, problem_.real, rest);
    for (const auto* group : {&group_, &rest_})
      if (*group) engine_bytes_ = std::max(engine_bytes_, (*group)->workspace_bytes());
  }
  slot_bytes_ = engine_bytes_;
  const std::size_t largest = problem_.real ? sizeof(double) : sizeof(std::complex<double>);
  if (!packed_) slot_bytes_ += aligned_bytes(static_cast<std::size_t>(problem_.shape.points()) * largest);
}

template <class Real>
template <class Grouped, class Transform>
void CpuRunner<Real>::over_batch(std::byte* workspace, const Grouped& grouped,
                                 const Transform& transform) const {
  const std::int64_t together = group_ ? group_->signals() : 1;
  threads_.run((problem_.batch + together - 1) / together, [&](std::int64_t part, int slot, auto* pool) {
    const EngineScratch scratch{workspace + static_cast<std::size_t>(slot) * slot_bytes_, pool};
    const std::int64_t first = part * together;
    const auto& group = first + together <= problem_.batch ? group_ : rest_;
    if (group) return grouped(*group, first, scratch.workspace);
    transform(first, scratch);
  });
}

template <class Real>
void CpuRunner<Real>::run(const FullCall& call) const {
  if (call.direction == Direction::forward)
    return forward(call.from, call.type, static_cast<std::complex<Real>*>(call.to), call.workspace);
  inverse(static_cast<const std::complex<Real>*>(call.from), call.to, call.workspace);
}

template <class Real>
void CpuRunner<Real>::forward(const void* signals, ElementType type, std::complex<Real>* spectra,
                              std::byte* workspace) const {
  if (alone_) return engine_->forward(signals, type, spectra, {workspace, nullptr});
  const std::int64_t points = problem_.spectrum_points(), stride = problem_.strides.batch;
  const auto scale = static_cast<Real>(scales_.forward);
  const auto signal_at = [&](std::int64_t b) {
    return static_cast<const std::byte*>(signals) +
           static_cast<std::size_t>(b * stride) * element_bytes(type);
  };
  const auto grouped = [&](const SignalGroup<Real>& group, std::int64_t first, std::byte* scratch) {
    group.forward(signal_at(first), type, stride, spectra + first * points, scale, scratch);
  };
  over_batch(workspace, grouped, [&](std::int64_t b, const EngineScratch& scratch) {
    const void* signal = signal_at(b);
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
  const std::int64_t points = problem_.spectrum_points(), stride = problem_.strides.batch;
  const auto scale = static_cast<Real>(scales_.inverse);
  const auto run = [&]<class T>(T* all) {
    const auto grouped = [&](const SignalGroup<Real>& group, std::int64_t first, std::byte* scratch) {
      group.inverse(spectra + first * points, all + first * stride, stride, scale, scratch);
    };
    over_batch(workspace, grouped, [&](std::int64_t b, const EngineScratch& scratch) {
      const std::complex<Real>* spectrum = spectra + b * points;
      if (packed_) return engine_->inverse(spectrum, all + b * stride, scale, scratch);
      engine_->inverse(spectrum, reinterpret_cast<T*>(scratch.workspace + engine_bytes_), scale, scratch);
      scatter_signal(problem_, b, scratch.workspace + engine_bytes_, element_type_of<T>::value, signals);
    });
  };
  problem_.real ? run(static_cast<Real*>(signals)) : run(static_cast<std::complex<Real>*>(signals));
}

template class CpuRunner<float>;
template class CpuRunner<double>;

}  // namespace sfft::detail
