// SPDX-License-Identifier: Apache-2.0
// The direct path: a sum over every sample for each coefficient, for tiny N·k.
#pragma once

#include <complex>
#include <vector>

#include "kernels/cuda/executors/executor.hpp"

namespace sfft::detail::cuda {

template <class Real>
class DirectExecutor final : public Executor<Real> {
 public:
  /// `twiddles`: exp(−2πi f t / n), k × N.
  DirectExecutor(std::int64_t points, int k, bool real, const std::vector<std::complex<double>>& twiddles,
                 const std::vector<std::uint8_t>& flags);

  std::unique_ptr<State> make_state(int frames) const override;
  void enqueue(const Batch<Real>& batch, State& state, Stream stream) const override;
  std::string describe() const override { return "a sum for each coefficient"; }

 private:
  std::int64_t points_;
  Binning<Real> plan_;  ///< only what finishing needs
  DeviceBuffer twiddles_, errors_, flags_;
};

template <class Real>
void launch_direct(const Binning<Real>& plan, std::int64_t points, const Complex<Real>* twiddles,
                   const Batch<Real>& batch, Stream stream);

}  // namespace sfft::detail::cuda
