// SPDX-License-Identifier: Apache-2.0
// Passes the units of a batch to StridedFft.
#include "kernels/dense/request/host/strided_runner.hpp"

#include "kernels/cpu/platform/isa.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"

namespace sfft::detail {

namespace {

template <class Real>
BatchThreads threads_for(const DenseRequest& request, const StridedFft<Real>& fft) {
  const int threads = thread_count(request.options);
  const auto across = static_cast<int>(std::min<std::int64_t>(threads, fft.units()));
  const int within = threads_worth(fft.unit_points(), threads);
  return across < within ? BatchThreads(1, within) : BatchThreads(across, 1);
}

}  // namespace

template <class Real>
StridedRunner<Real>::StridedRunner(const DenseRequest& request)
    : fft_(request.whole_layout(), request.problem.real),
      scales_(request.scales),
      threads_(threads_for(request, fft_)),
      slot_bytes_(fft_.workspace_bytes(threads_.within())) {}

template <class Real>
void StridedRunner<Real>::run(const FullCall& call) const {
  threads_.run(fft_.units(), [&](std::int64_t unit, int slot, cpu::ThreadPool* pool) {
    const EngineScratch scratch{call.workspace + static_cast<std::size_t>(slot) * slot_bytes_, pool};
    if (call.direction == Direction::forward) {
      fft_.forward(unit, call.from, call.type, static_cast<std::complex<Real>*>(call.to),
                   static_cast<Real>(scales_.forward), scratch);
    } else {
      fft_.inverse(unit, static_cast<const std::complex<Real>*>(call.from), call.to,
                   static_cast<Real>(scales_.inverse), scratch);
    }
  });
}

template <class Real>
std::string StridedRunner<Real>::name() const {
  return std::string("built-in ") + cpu::isa_name();
}

template class StridedRunner<float>;
template class StridedRunner<double>;

}  // namespace sfft::detail
