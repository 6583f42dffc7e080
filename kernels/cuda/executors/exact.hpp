// SPDX-License-Identifier: Apache-2.0
// The paths without errors but rounding: a sum over every sample for each coefficient, for tiny N·k, and the
// kernels of the dense path, which pick the coefficients from a full spectrum and sum the energy outside
// them.
#pragma once

#include <complex>
#include <vector>

#include "kernels/cuda/executors/executor.hpp"
#include "kernels/cuda/stages/stages.hpp"

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

/// The position of a coefficient in the spectrum that the engine writes.
struct DensePick {
  std::int64_t at;
  bool conjugate;
};

/// Sums over a spectrum and the picks, as kernels see them.
template <class Real>
struct DenseSpectrum {
  const Complex<Real>* values = nullptr;
  std::int64_t points = 0;      ///< elements of one frame's spectrum
  std::int64_t row_points = 0;  ///< elements in the spectrum's last dimension
  std::int64_t row_extent = 0;  ///< extent of the frame's last dimension; 0 for complex frames
  const DensePick* picks = nullptr;
};

/// Sums of one block: Σ|X|² of all elements and of the picked coefficients, then two members of Sums.
struct DensePartial {
  double total, picked, norm, held;
};
constexpr int kDenseBlocks = 128;  ///< per frame

/// Computes values, errors and estimates from spectra. `partials` has room for kDenseBlocks per frame.
template <class Real>
void launch_pick(const Binning<Real>& plan, const DenseSpectrum<Real>& spectrum, const Batch<Real>& batch,
                 DensePartial* partials, Stream stream);

}  // namespace sfft::detail::cuda
