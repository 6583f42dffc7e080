// SPDX-License-Identifier: Apache-2.0
// The dense path on a GPU: runs a full FFT and picks the template's frequencies from it. It is exact, and
// also measures the energy outside the support.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/executors/exact.hpp"
#include "kernels/dense/problem/gpu_engine.hpp"

namespace sfft::detail::cuda {

template <class Real>
class DenseExecutor final : public Executor<Real> {
 public:
  /// `frame`: a problem of batch 1, contiguous.
  DenseExecutor(const DenseProblem& frame, DenseEngines<Real> engines, const std::vector<DensePick>& picks,
                const std::vector<std::uint8_t>& flags);

  std::unique_ptr<State> make_state(int frames) const override;
  bool takes(const State& state, int frames) const override;
  void enqueue(const Batch<Real>& batch, State& state, Stream stream) const override;
  std::string describe() const override { return engines_.name; }

 private:
  std::size_t input_bytes() const noexcept;
  std::size_t spectrum_bytes() const noexcept;
  /// The problem of a round, for calls of up to `frames` frames.
  DenseProblem round(int frames) const noexcept;

  DenseProblem frame_;
  DenseEngines<Real> engines_;
  std::int64_t points_ = 1;
  Binning<Real> plan_;  ///< only the members that finishing needs
  DenseSpectrum<Real> spectrum_;
  DeviceBuffer picks_, errors_, flags_;
};

}  // namespace sfft::detail::cuda
