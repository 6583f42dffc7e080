// SPDX-License-Identifier: Apache-2.0
// The stages that discovery shares with known-support plans (permute, subsample, small FFT), for sampling
// patterns that change every round and therefore are not worth a plan.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/runtime/aligned_buffer.hpp"
#include "sfft/types.hpp"
#include "template/discovery/grid_point.hpp"
#include "template/discovery/sample_reader.hpp"

namespace sfft::detail {

/// Y_j[b], bucket b of delay j, at [b*delays + j], unscaled. Points into the sampler's memory, valid until
/// its next call.
template <class Real>
struct BucketValues {
  Real* re;
  Real* im;
  std::int64_t buckets, delays;

  std::complex<double> at(std::int64_t bucket, std::int64_t delay) const noexcept {
    const auto i = static_cast<std::size_t>(bucket * delays + delay);
    return {static_cast<double>(re[i]), static_cast<double>(im[i])};
  }
};

/// 64-byte aligned memory, borrowed from a few blocks that the process keeps, because the page faults of
/// fresh memory would cost more than the transform that needs it. Several threads may use it, each with its
/// own object.
class DiscoveryScratch {
 public:
  DiscoveryScratch() = default;
  ~DiscoveryScratch() { give_back(); }
  DiscoveryScratch(const DiscoveryScratch&) = delete;
  DiscoveryScratch& operator=(const DiscoveryScratch&) = delete;

  /// At least `bytes` bytes; the previous content is lost.
  std::byte* fit(std::size_t bytes);
  std::byte* data() const noexcept { return block_.data(); }

 private:
  struct Shelf;
  static Shelf& shelf();
  void give_back() noexcept;

  AlignedBuffer block_;
};

/// Lattice lines t_j(m) = (τ_j + σ m) mod n under one window, folded to `buckets`
/// (kernels/base/tables/flat_data.hpp).
struct WindowedLines {
  GridPoint sigma;
  std::vector<GridPoint> delays;
  std::int64_t buckets;
  std::vector<double> window;  ///< a multiple of `buckets` taps
};

/// Computes buckets of one signal. Owns its scratch; only one thread at a time may use it.
template <class Real>
class DiscoverySampler {
 public:
  /// Keeps a reference to the reader.
  DiscoverySampler(SampleReader& signal, const Shape& shape) : signal_(signal), shape_(shape) {}

  const Shape& shape() const noexcept { return shape_; }
  bool real() const noexcept { return !is_complex(signal_.type()); }

  /// Combs of B_d points per dimension, which lie ⌊n_d/B_d⌋ samples apart; every delay lies in ∏[0,
  /// ⌊n_d/B_d⌋).
  BucketValues<Real> comb(const GridPoint& buckets, std::span<const GridPoint> delays);
  BucketValues<Real> lines(const WindowedLines& lines);

  std::int64_t samples() const noexcept { return samples_; }  ///< read so far

 private:
  /// Four arrays of `reals`, at different page offsets so that they do not compete for the same cache sets.
  Real* buffer(std::size_t reals);
  std::int64_t flat(const GridPoint& at) const noexcept;
  BucketValues<Real> transform(const cpu::SmallFft<Real>& fft, const GridPoint& grid, std::int64_t delays);
  BucketValues<Real> unpack_real(const Real* re, const Real* im, Real* to_re, Real* to_im,
                                 const GridPoint& grid, std::int64_t delays) const;
  std::int64_t lanes(std::size_t delays) const noexcept {
    const auto count = static_cast<std::int64_t>(delays);
    return real() ? (count + 1) / 2 : count;
  }

  SampleReader& signal_;
  Shape shape_;
  std::int64_t samples_ = 0;
  std::size_t pitch_ = 0;  ///< distance between the four arrays, in reals
  DiscoveryScratch storage_;
};

extern template class DiscoverySampler<float>;
extern template class DiscoverySampler<double>;

}  // namespace sfft::detail
