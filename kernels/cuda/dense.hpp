// The dense path: a full FFT by cuFFT, then the template's frequencies are picked. Exact; also says what lies
// outside.
#pragma once

#include <vector>

#include "kernels/cuda/executor.hpp"
#include "kernels/cuda/hash.hpp"

namespace sfft::detail::cuda {

/// Where a coefficient is in the spectrum that cuFFT leaves.
struct DensePick {
  std::int64_t at;
  bool conjugate;
};

/// Sums over a spectrum and the picks, as kernels see them.
template <class Real>
struct DenseSpectrum {
  const Complex<Real>* values = nullptr;
  std::int64_t points = 0;      ///< of one frame's spectrum
  std::int64_t row_points = 0;  ///< of its last dimension
  std::int64_t row_extent = 0;  ///< of the frame's last dimension, real frames only: 0 for complex ones
  const DensePick* picks = nullptr;
};

constexpr int kEnergyBlocks = 128;  ///< a frame

template <class Real>
class DenseExecutor final : public Executor<Real> {
 public:
  DenseExecutor(const GridShape& shape, bool real, const std::vector<DensePick>& picks,
                const std::vector<std::uint8_t>& flags);

  std::unique_ptr<State> make_state(int frames) const override;
  void enqueue(const Batch<Real>& batch, State& state, Stream stream) const override;
  const std::vector<std::int64_t>& sample_indices() const noexcept override { return none_; }
  void enqueue_compact(const Batch<Real>&, State&, Stream) const override {}
  std::int64_t taps() const noexcept override { return 0; }
  std::string describe() const override;

 private:
  GridShape shape_;
  std::int64_t points_ = 1;
  Binning<Real> plan_;  ///< only what finishing needs
  DenseSpectrum<Real> spectrum_;
  DeviceBuffer picks_, errors_, flags_;
  std::vector<std::int64_t> none_;
};

/// out[i] = frame sample i in the precision and kind that cuFFT reads; `count` frames.
template <class Real>
void launch_convert(const Batch<Real>& batch, std::int64_t points, void* out, Stream stream);
/// Values, errors and accounts from spectra. `energies` holds kEnergyBlocks doubles a frame.
template <class Real>
void launch_pick(const Binning<Real>& plan, const DenseSpectrum<Real>& spectrum, const Batch<Real>& batch,
                 double* energies, Stream stream);

}  // namespace sfft::detail::cuda
