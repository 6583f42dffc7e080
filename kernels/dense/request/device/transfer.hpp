// SPDX-License-Identifier: Apache-2.0
// Streams signals and spectra in host memory through a GPU plan. Parts of the batch run on several streams,
// so that one is copied while another is transformed.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"
#include "kernels/dense/request/runner.hpp"

namespace sfft::detail {
/// The number of signals in a part.
template <class Real>
std::int64_t transfer_part(const DenseProblem& problem);

template <class Real>
class DenseTransfer {
 public:
  /// `runner` transforms `part` contiguous signals. `phases`, which may be null, lets the transform of a
  /// single signal begin before the signal has arrived completely. Both must outlive this object.
  DenseTransfer(const DenseProblem& problem, std::int64_t part, const Runner<FullCall>& runner,
                const GpuPhases<Real>* phases = nullptr, const DenseScales& scales = {});
  ~DenseTransfer();

  /// Blocks. The problem's device must be current. One set of GPU memory, and of page-locked memory for
  /// pageable arrays, is kept for the next call, regardless of the number of threads.
  void run(const FullCall& call) const;

 private:
  class Slots;
  struct Pass;

  Pass pass_of(const FullCall& call, std::int64_t parts) const;
  void run_parts(const Pass& pass, Slots& slots) const;
  void run_phases(const Pass& pass, Slots& slots) const;
  std::int64_t count_of(std::int64_t part) const noexcept;

  DenseProblem problem_;
  std::int64_t part_;
  const Runner<FullCall>& runner_;
  const GpuPhases<Real>* phases_;
  DenseScales scales_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Slots> idle_;
};

}  // namespace sfft::detail
