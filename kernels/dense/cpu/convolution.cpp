// SPDX-License-Identifier: Apache-2.0
// Each block is read with its margin, transformed, multiplied by the kernel's spectrum, and transformed back
// while it is in cache.
#include "kernels/dense/cpu/convolution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/base/math/index.hpp"
#include "kernels/base/math/smooth.hpp"
#include "kernels/cpu/stages/matrix_product.hpp"
#include "kernels/runtime/aligned_buffer.hpp"

namespace sfft::detail {

namespace {

/// The next length >= n that FFTs like: even, without primes above 7.
std::int64_t good_length(std::int64_t n) {
  n = std::max<std::int64_t>(2, n + n % 2);
  while (!is_smooth(n, 7)) n += 2;
  return n;
}

/// Relative time of all blocks. Blocks beyond the cache take longer per operation.
double time_of(const std::array<ConvolutionAxis, 3>& axes, double value_bytes) {
  constexpr double kCacheBytes = 1 << 20, kBeyond = 1.6, kCopies = 6;
  double points = 1, blocks = 1;
  for (const ConvolutionAxis& axis : axes) {
    points *= static_cast<double>(axis.block);
    blocks *= static_cast<double>(axis.blocks());
  }
  const double cache = 2 * points * value_bytes > kCacheBytes ? kBeyond : 1;
  return blocks * points * (std::log2(points) + kCopies) * cache;
}

/// The blocks that are worth considering along one dimension.
std::vector<ConvolutionAxis> candidates(const ConvolutionAxis& axis) {
  std::vector<ConvolutionAxis> all;
  const auto add = [&](std::int64_t block, std::int64_t skipped) {
    all.push_back(axis);
    all.back().block = block;
    all.back().skipped = skipped;
  };
  if (axis.points == 1 && axis.taps == 1) {
    add(1, 0);
    return all;
  }
  // A whole period needs no margin, whatever its length. A single block of a signal with zeros around it
  // needs room only for what would wrap onto results.
  const std::int64_t alone =
      std::max({axis.points + axis.taps - 1 - axis.shift, axis.shift + axis.results, axis.taps});
  axis.periodic ? add(axis.points, 0) : add(good_length(alone), axis.shift);
  const std::int64_t whole = axis.results + axis.taps - 1;
  for (std::int64_t block = good_length(2 * axis.taps); block < whole; block = good_length(block + block / 2))
    add(block, axis.taps - 1);
  return all;
}

std::array<ConvolutionAxis, 3> fastest(const std::array<ConvolutionAxis, 3>& axes, double value_bytes) {
  std::array<ConvolutionAxis, 3> best = axes, trial;
  double least = std::numeric_limits<double>::infinity();
  const auto planes = candidates(axes[0]), rows = candidates(axes[1]), columns = candidates(axes[2]);
  for (const ConvolutionAxis& plane : planes) {
    for (const ConvolutionAxis& row : rows) {
      for (const ConvolutionAxis& column : columns) {
        trial = {plane, row, column};
        const double time = time_of(trial, value_bytes);
        if (time >= least) continue;
        least = time;
        best = trial;
      }
    }
  }
  return best;
}

}  // namespace

ConvolutionAxis convolution_axis(std::int64_t points, std::int64_t taps, dense::Options::Extent extent,
                                 bool correlate) noexcept {
  using Extent = dense::Options::Extent;
  switch (extent) {
    case Extent::full:
      return {points, taps, points + taps - 1, 0};
    case Extent::same:
      return {points, taps, points, (taps - 1) / 2};
    case Extent::valid:
      return {points, taps, points - taps + 1, taps - 1};
    case Extent::circular:
      return {points, taps, points, correlate ? taps - 1 : 0, true};
  }
  return {};
}

template <class T>
Convolution<T>::Convolution(const Axes& axes, const T* kernel)
    : axes_(fastest(axes, sizeof(T))), points_(axes_[0].block * axes_[1].block * axes_[2].block) {
  constexpr bool kReal = std::is_same_v<T, Real>;
  const std::array<std::int64_t, 3> blocks{axes_[0].block, axes_[1].block, axes_[2].block};
  const std::size_t unused = blocks[0] > 1 ? 0 : blocks[1] > 1 ? 1 : 2;
  engine_ = make_built_in_engine<Real>(Shape(std::span<const std::int64_t>(blocks).subspan(unused)), kReal);
  spectrum_points_ = kReal ? points_ / blocks[2] * (blocks[2] / 2 + 1) : points_;
  kernel_.resize(static_cast<std::size_t>(spectrum_points_));
  CountedVector<T> padded(static_cast<std::size_t>(points_));
  for (std::int64_t i = 0; i < axes_[0].taps; ++i)
    for (std::int64_t j = 0; j < axes_[1].taps; ++j)
      std::copy_n(kernel + (i * axes_[1].taps + j) * axes_[2].taps, axes_[2].taps,
                  padded.data() + (i * blocks[1] + j) * blocks[2]);
  const AlignedBuffer scratch(engine_->workspace_bytes(1));
  engine_->forward(padded.data(), element_type_of<T>::value, kernel_.data(), {scratch.data(), nullptr});
}

template <class T>
std::size_t Convolution<T>::workspace_bytes(int threads) const noexcept {
  return aligned_bytes(static_cast<std::size_t>(points_) * sizeof(T)) +
         aligned_bytes(static_cast<std::size_t>(spectrum_points_) * sizeof(std::complex<Real>)) +
         aligned_bytes(engine_->workspace_bytes(threads));
}

template <class T>
void Convolution<T>::gather(const T* signal, const Starts& start, T* window) const {
  // The place of element i of the window along an axis; −1 for zeros.
  const auto place = [&](std::size_t axis, std::int64_t i) -> std::int64_t {
    const std::int64_t at = start[axis] + i, n = axes_[axis].points;
    if (axes_[axis].periodic) return floor_mod(at, n);
    return at >= 0 && at < n ? at : -1;
  };
  const ConvolutionAxis& columns = axes_[2];
  for (std::int64_t i = 0; i < axes_[0].block; ++i) {
    for (std::int64_t j = 0; j < axes_[1].block; ++j, window += columns.block) {
      const std::int64_t plane = place(0, i), row = place(1, j);
      if (plane < 0 || row < 0) {
        std::fill_n(window, columns.block, T());
        continue;
      }
      const T* const from = signal + (plane * axes_[1].points + row) * columns.points;
      for (std::int64_t k = 0; k < columns.block;) {
        const std::int64_t at = place(2, k), outside = start[2] + k;
        const std::int64_t count = std::min(columns.block - k, at >= 0       ? columns.points - at
                                                               : outside < 0 ? -outside
                                                                             : columns.block - k);
        at >= 0 ? std::copy_n(from + at, count, window + k) : std::fill_n(window + k, count, T());
        k += count;
      }
    }
  }
}

template <class T>
void Convolution<T>::run(std::int64_t block, const T* signal, T* results,
                         const EngineScratch& scratch) const {
  auto* const window = reinterpret_cast<T*>(scratch.workspace);
  std::byte* const after = scratch.workspace + aligned_bytes(static_cast<std::size_t>(points_) * sizeof(T));
  auto* const spectrum = reinterpret_cast<std::complex<Real>*>(after);
  const EngineScratch rest{
      after + aligned_bytes(static_cast<std::size_t>(spectrum_points_) * sizeof(std::complex<Real>)),
      scratch.pool};
  Starts first, start;
  for (std::size_t a = 3; a-- > 0; block /= axes_[a].blocks()) {
    first[a] = block % axes_[a].blocks() * axes_[a].stride();
    start[a] = first[a] + axes_[a].shift - axes_[a].skipped;
  }
  gather(signal, start, window);
  engine_->forward(window, element_type_of<T>::value, spectrum, rest);
  cpu::matrix_kernels<Real>().multiply(reinterpret_cast<const Real*>(kernel_.data()), spectrum_points_,
                                       reinterpret_cast<Real*>(spectrum));
  engine_->inverse(spectrum, window, Real(1) / static_cast<Real>(points_), rest);
  const auto count = [&](std::size_t a) { return std::min(axes_[a].stride(), axes_[a].results - first[a]); };
  for (std::int64_t i = 0; i < count(0); ++i) {
    for (std::int64_t j = 0; j < count(1); ++j) {
      const std::int64_t row = (i + axes_[0].skipped) * axes_[1].block + j + axes_[1].skipped;
      std::copy_n(window + row * axes_[2].block + axes_[2].skipped, count(2),
                  results + ((first[0] + i) * axes_[1].results + first[1] + j) * axes_[2].results + first[2]);
    }
  }
}

template class Convolution<float>;
template class Convolution<double>;
template class Convolution<std::complex<float>>;
template class Convolution<std::complex<double>>;

}  // namespace sfft::detail
