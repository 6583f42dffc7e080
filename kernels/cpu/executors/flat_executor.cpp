// SPDX-License-Identifier: Apache-2.0
// Gathers all taps in one call, folds them with the window into buckets, transforms, then reads coefficients
// and probes.
#include "kernels/cpu/executors/executor.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/base/math/lattice_line.hpp"
#include "kernels/base/tables/flat_data.hpp"
#include "kernels/base/tables/lane_weights.hpp"
#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/cpu/stages/flat_recover.hpp"
#include "kernels/cpu/stages/permute.hpp"
#include "kernels/cpu/stages/region_gather.hpp"
#include "kernels/cpu/stages/subsample.hpp"

namespace sfft::detail::cpu {

namespace {

/// Rounds up to whole cache lines and adds one, so that arrays of a power-of-two size do not share cache
/// sets.
template <class Real>
std::size_t array_reals(std::size_t reals) {
  constexpr std::size_t kLine = 64 / sizeof(Real);
  return ((reals + kLine - 1) / kLine + 1) * kLine;
}

/// A lane carries one line of a complex frame, or two of a real one. If the number of real lines is odd, the
/// last lane carries its line twice and one copy is unused. The lines of all delays are transformed together,
/// so one thread works on one frame.
template <class Real>
class FlatExecutor final : public Executor<Real> {
 public:
  explicit FlatExecutor(const FlatPlanData& data);

  std::size_t scratch_bytes() const noexcept override;
  std::size_t reference_reals() const noexcept override;
  void gather_reference(const void* frame, ElementType type, Real* reference) const noexcept override;
  void execute(FrameData frame, ElementType type, const Real* reference, std::span<std::complex<Real>> values,
               ExecutionStats& stats, std::byte* scratch) const noexcept override;

 private:
  void list_offsets(const FlatPlanData& data);
  void pack_row(const FlatPlanData& data, std::int64_t row);
  void transform(FrameData frame, ElementType type, const Real* reference, Real* scratch) const noexcept;
  void recover(std::span<std::complex<Real>> values, ExecutionStats& stats, Real* scratch) const noexcept;

  bool real_;
  std::int64_t lanes_, buckets_, folds_, row_buckets_, rows_, coefficients_;
  std::int64_t row_reals_;                    ///< length of a row, padded
  std::vector<std::int64_t> offsets_;         ///< linear index of each tap, lane fastest; pairs if real
  std::vector<Real> window_;                  ///< tap × lane
  std::vector<std::int32_t> start_, mirror_;  ///< of each row, in the bucket array
  std::vector<Real> weights_;                 ///< in the layout of FlatRecoverKernels
  std::vector<std::int64_t> self_conjugate_;
  SmallFft<Real> fft_;
  std::size_t taps_reals_, bucket_reals_;  ///< size of each array in scratch: two of taps, four of buckets
};

}  // namespace

template <class Real>
FlatExecutor<Real>::FlatExecutor(const FlatPlanData& data)
    : real_(data.real),
      lanes_(data.lanes()),
      buckets_(data.buckets),
      folds_(data.taps() / data.buckets),
      row_buckets_(data.row_buckets),
      rows_(data.rows()),
      coefficients_(data.coefficients()),
      row_reals_((row_buckets_ * lanes_ + kFlatRowAlign<Real> - 1) / kFlatRowAlign<Real> *
                 kFlatRowAlign<Real>),
      self_conjugate_(data.self_conjugate),
      fft_(std::span<const std::int64_t>(&data.buckets, 1), lanes_) {
  list_offsets(data);
  window_.reserve(data.window.size() * static_cast<std::size_t>(lanes_));
  for (const double tap : data.window) {
    window_.insert(window_.end(), static_cast<std::size_t>(lanes_), static_cast<Real>(tap));
  }
  weights_.assign(static_cast<std::size_t>(rows_ * row_reals_ * (real_ ? 4 : 2)), Real(0));
  for (std::int64_t row = 0; row < rows_; ++row) pack_row(data, row);
  // Recovery reuses the space of the taps for what the probes read.
  taps_reals_ = array_reals<Real>(std::max(window_.size(), static_cast<std::size_t>(data.probes())));
  bucket_reals_ = array_reals<Real>(
      std::max(fft_.buffer_reals(), static_cast<std::size_t>(buckets_ * lanes_ + row_reals_)));
}

template <class Real>
void FlatExecutor<Real>::list_offsets(const FlatPlanData& data) {
  const std::int64_t streams = lanes_ * (real_ ? 2 : 1);
  offsets_.resize(static_cast<std::size_t>(data.taps() * streams));
  for (std::int64_t j = 0; j < streams; ++j) {
    const auto& delay = data.delays[static_cast<std::size_t>(std::min(j, data.delay_count() - 1))];
    std::int64_t at = j;
    walk_line(data.shape.extents().data(), data.shape.rank(), data.sigma, delay, data.taps(),
              [&](std::int64_t flat) {
                offsets_[static_cast<std::size_t>(at)] = flat;
                at += streams;
              });
  }
}

/// Weights of the mirrored buckets are stored in reverse, because that run is also read upwards.
template <class Real>
void FlatExecutor<Real>::pack_row(const FlatPlanData& data, std::int64_t row) {
  const std::int64_t p = row_buckets_;
  const std::int64_t delays = data.delay_count();
  const std::int64_t first = data.first_bucket[static_cast<std::size_t>(row)];
  const std::int64_t mirrored = ((-(first + p - 1)) % buckets_ + buckets_) % buckets_;
  start_.push_back(static_cast<std::int32_t>(first * lanes_));
  mirror_.push_back(static_cast<std::int32_t>(mirrored * lanes_));
  Real* out = &weights_[static_cast<std::size_t>(row * row_reals_ * (real_ ? 4 : 2))];
  const auto put = [&](std::int64_t part, std::int64_t q, std::int64_t lane, std::complex<double> weight) {
    out[part * row_reals_ + q * lanes_ + lane] = static_cast<Real>(weight.real());
    out[(part + 1) * row_reals_ + q * lanes_ + lane] = static_cast<Real>(weight.imag());
  };
  for (std::int64_t q = 0; q < p; ++q) {
    const std::complex<double>* weights = &data.weights[static_cast<std::size_t>((row * p + q) * delays)];
    for (std::int64_t lane = 0; lane < lanes_; ++lane) {
      if (!real_) {
        put(0, q, lane, weights[lane]);
        continue;
      }
      const LaneWeights pair =
          real_lane_weights(weights[2 * lane], 2 * lane + 1 < delays ? weights[2 * lane + 1] : 0.0);
      put(0, q, lane, pair.alpha);
      put(2, p - 1 - q, lane, pair.beta);
    }
  }
}

template <class Real>
std::size_t FlatExecutor<Real>::scratch_bytes() const noexcept {
  return (2 * taps_reals_ + 4 * bucket_reals_) * sizeof(Real);
}

template <class Real>
std::size_t FlatExecutor<Real>::reference_reals() const noexcept {
  return 2 * window_.size();
}

template <class Real>
void FlatExecutor<Real>::gather_reference(const void* frame, ElementType type,
                                          Real* reference) const noexcept {
  const auto taps = static_cast<std::int64_t>(window_.size());
  permute_kernels<Real>().gather[static_cast<std::size_t>(type)](frame, 1, 0, offsets_.data(), taps,
                                                                 reference, reference + taps);
}

template <class Real>
void FlatExecutor<Real>::transform(FrameData frame, ElementType type, const Real* reference,
                                   Real* scratch) const noexcept {
  const PermuteKernels<Real>& permute = permute_kernels<Real>();
  const auto taps = static_cast<std::int64_t>(window_.size());
  Real* taps_re = scratch;
  Real* taps_im = taps_re + taps_reals_;
  // All taps are one row of the comb path's gather, in which each tap is a lane.
  if (frame.region != nullptr) {
    gather_region(*frame.region, 0, offsets_.data(), taps, taps_re, taps_im);
  } else {
    permute.gather[static_cast<std::size_t>(type)](frame.data, 1, 0, offsets_.data(), taps, taps_re, taps_im);
  }
  if (reference != nullptr) {
    permute.subtract(taps_re, reference, taps);
    permute.subtract(taps_im, reference + taps, taps);
  }
  if (frame.unit != 1) {
    for (std::int64_t i = 0; i < taps; ++i) {
      taps_re[i] *= static_cast<Real>(frame.unit);
      taps_im[i] *= static_cast<Real>(frame.unit);
    }
  }
  Real* re = taps_im + taps_reals_;
  Real* im = re + bucket_reals_;
  const auto fold = subsample_kernels<Real>().fold;
  fold(taps_re, window_.data(), buckets_ * lanes_, folds_, re);
  fold(taps_im, window_.data(), buckets_ * lanes_, folds_, im);
  fft_.execute(re, im, im + bucket_reals_, im + 2 * bucket_reals_);
}

template <class Real>
void FlatExecutor<Real>::recover(std::span<std::complex<Real>> values, ExecutionStats& stats,
                                 Real* scratch) const noexcept {
  const FlatRecoverKernels<Real>& kernels = flat_recover_kernels<Real>();
  Real* re = scratch + 2 * taps_reals_ + (fft_.result_in_scratch() ? 2 * bucket_reals_ : 0);
  Real* im = re + bucket_reals_;
  // The buckets form a circle, so the first ones are repeated beyond the end as far as rows read. Padding of
  // a row must be finite.
  const std::int64_t count = buckets_ * lanes_;
  const std::int64_t read = (row_buckets_ - 1) * lanes_;
  for (Real* z : {re, im}) {
    for (std::int64_t i = 0; i < read; ++i) z[count + i] = z[i];
    std::fill(z + count + read, z + count + row_reals_, Real(0));
  }
  const auto run = [&](std::int64_t first, std::int64_t rows, Real* out) {
    const Real* weights = weights_.data() + first * row_reals_ * (real_ ? 4 : 2);
    if (real_) {
      kernels.read_real(re, im, start_.data() + first, mirror_.data() + first, weights, row_reals_, rows,
                        out);
    } else {
      kernels.read_complex(re, im, start_.data() + first, weights, row_reals_, rows, out);
    }
  };
  run(0, coefficients_, reinterpret_cast<Real*>(values.data()));
  for (const std::int64_t i : self_conjugate_) values[static_cast<std::size_t>(i)].imag(Real(0));

  // The taps are no longer needed: their space holds what the probes read.
  const std::int64_t probes = rows_ - coefficients_;
  run(coefficients_, probes, scratch);
  double power = 0;
  for (std::int64_t i = 0; i < 2 * probes; ++i)
    power += static_cast<double>(scratch[i]) * static_cast<double>(scratch[i]);
  const double tail = probes > 0 ? power / static_cast<double>(probes) : 0;
  // A NaN among a line's samples reaches each of its buckets, and every row reads every line.
  Real finite = 0;
  for (const std::complex<Real>& value : values)
    finite += (value.real() - value.real()) + (value.imag() - value.imag());
  stats.finite = finite == 0 && std::isfinite(tail);
  stats.scale = tail;
}

template <class Real>
void FlatExecutor<Real>::execute(FrameData frame, ElementType type, const Real* reference,
                                 std::span<std::complex<Real>> values, ExecutionStats& stats,
                                 std::byte* scratch) const noexcept {
  Real* reals = reinterpret_cast<Real*>(scratch);
  transform(frame, type, reference, reals);
  recover(values, stats, reals);
}

template <class Real>
std::unique_ptr<const Executor<Real>> make_flat_executor(const FlatPlanData& data) {
  return std::make_unique<FlatExecutor<Real>>(data);
}
template std::unique_ptr<const Executor<float>> make_flat_executor(const FlatPlanData&);
template std::unique_ptr<const Executor<double>> make_flat_executor(const FlatPlanData&);

}  // namespace sfft::detail::cpu
