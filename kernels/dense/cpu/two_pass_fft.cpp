// SPDX-License-Identifier: Apache-2.0
// Processes eight columns, then eight rows, at a time: both are lanes of small FFTs. The intermediate result
// is stored in the order of the second pass.
#include "kernels/dense/cpu/two_pass_fft.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "kernels/base/math/index.hpp"
#include "kernels/base/math/smooth.hpp"
#include "kernels/cpu/small_fft/fft_cache.hpp"
#include "kernels/cpu/stages/two_pass.hpp"

namespace sfft::detail {

namespace {

using cpu::kTwoPassLanes;

constexpr std::int64_t kMinPoints = 2048;  ///< for fewer points, making the tables takes longer than the
                                           ///< transform
/// Both factors must fill the lanes. Real signals use two columns per lane and half of the rows.
constexpr std::int64_t kMinSide = 2 * kTwoPassLanes;
/// Longer lines do not fit in the L2 cache. Beyond 2^28 points they are still faster than passes over all
/// points, whose tables are as long as the signal and take minutes.
constexpr std::int64_t kMaxSide = std::int64_t{1} << 14, kMaxLongSide = std::int64_t{1} << 20;
/// Larger prime factors are worth it where passes over all points would not fit in a cache.
constexpr std::int64_t kLargestPrime = 13, kLargestPrimeOfLong = 61, kLongLine = std::int64_t{1} << 18;

/// The largest divisor up to the square root if both factors are usable, otherwise 0.
std::int64_t split(std::int64_t n) {
  if (n < kMinPoints || n > kMaxLongSide * kMaxLongSide) return 0;
  const bool smooth = is_smooth(n, kLargestPrime);
  if (!smooth && (n < kLongLine || !is_smooth(n, kLargestPrimeOfLong))) return 0;
  auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % side != 0) --side;
  const bool long_side = n > kMaxSide * kMaxSide || !smooth;
  return side >= kMinSide && n / side <= (long_side ? kMaxLongSide : kMaxSide) ? side : 0;
}

/// Buffers and planes begin at different page offsets; otherwise they would compete for the same sets of the
/// L1 cache.
std::int64_t padded(std::int64_t reals) {
  return (reals + 31) / 16 * 16;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The number of blocks ahead to prefetch for writing in turn(). Hardware prefetchers do not follow blocks so
/// far apart.
constexpr std::int64_t kGroupsAhead = 4;

/// Prefetches both planes of a block, or nothing if they are not separate.
template <class Real>
void prefetch_block(const Real* re, std::int64_t plane_reals) {
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(Real));
  if (plane_reals == 0) return;
  for (std::int64_t at = 0; at < kTwoPassLanes * kTwoPassLanes; at += kLine) {
    __builtin_prefetch(re + at, 1);
    __builtin_prefetch(re + plane_reals + at, 1);
  }
}

template <class Real>
std::shared_ptr<const cpu::SmallFft<Real>> lines(std::int64_t n) {
  return cpu::shared_small_fft<Real>({n, 1, 1}, kTwoPassLanes);
}

}  // namespace

bool two_pass_possible(std::int64_t n) {
  return split(n) > 0;
}

template <class Real>
TwoPassFft<Real>::TwoPassFft(std::int64_t n, bool real) : TwoPassFft(split(n), n / split(n), real) {}

template <class Real>
TwoPassFft<Real>::TwoPassFft(std::int64_t rows, std::int64_t columns) : TwoPassFft(rows, columns, false) {}

template <class Real>
TwoPassFft<Real>::TwoPassFft(std::int64_t rows, std::int64_t columns, bool real)
    : n_(rows * columns),
      rows_(rows),
      columns_(columns),
      real_(real),
      kept_rows_(real ? rows_ / 2 + 1 : rows_),
      plane_reals_(padded(columns_ * kTwoPassLanes)),
      buffer_reals_(padded((rows_ + 2) * kTwoPassLanes)),
      across_(lines<Real>(rows_)),
      along_(lines<Real>(columns_)),
      shift_(std::bit_width(static_cast<std::uint64_t>(n_)) / 2) {
  const std::int64_t n = n_;
  const auto add = [n](std::int64_t numerator, std::vector<double>& re, std::vector<double>& im) {
    const std::complex<double> root = unit_root(numerator, n);
    re.push_back(root.real());
    im.push_back(-root.imag());
  };
  const std::int64_t step = std::int64_t{1} << shift_;
  for (std::int64_t m = 0; m < step; ++m) add(m, fine_re_, fine_im_);
  for (std::int64_t m = 0; m < n; m += step) add(m, coarse_re_, coarse_im_);
}

template <class Real>
std::int64_t TwoPassFft<Real>::parts() const noexcept {
  return ceil_div(columns_, real_ ? 2 * kTwoPassLanes : kTwoPassLanes);
}
template <class Real>
std::int64_t TwoPassFft<Real>::groups() const noexcept {
  return ceil_div(kept_rows_, kTwoPassLanes);
}
template <class Real>
std::size_t TwoPassFft<Real>::intermediate_reals() const noexcept {
  return static_cast<std::size_t>(2 * groups() * plane_reals_);
}
template <class Real>
std::size_t TwoPassFft<Real>::scratch_reals() const noexcept {
  return static_cast<std::size_t>(std::max(4 * buffer_reals_, 2 * plane_reals_));
}

template <class Real>
std::int64_t TwoPassFft<Real>::group_start(std::int64_t group) const noexcept {
  return std::min(group * kTwoPassLanes, kept_rows_ - kTwoPassLanes);
}

template <class Real>
void TwoPassFft<Real>::roots(std::int64_t row, std::int64_t first_column, Real* to) const {
  const std::int64_t mask = (std::int64_t{1} << shift_) - 1;
  for (std::int64_t c = 0; c < kTwoPassLanes; ++c) {
    const std::int64_t m = row * (first_column + c);  // < N
    const auto high = static_cast<std::size_t>(m >> shift_), low = static_cast<std::size_t>(m & mask);
    to[c] = static_cast<Real>(coarse_re_[high] * fine_re_[low] - coarse_im_[high] * fine_im_[low]);
    to[kTwoPassLanes + c] =
        static_cast<Real>(coarse_re_[high] * fine_im_[low] + coarse_im_[high] * fine_re_[low]);
  }
}

template <class Real>
void TwoPassFft<Real>::turn(const Real* re, const Real* im, std::int64_t first_column, std::int64_t skipped,
                            Real* intermediate) const {
  if (skipped >= kTwoPassLanes) return;
  // Row 8 (8 a + b) + r is multiplied by the roots of rows 64 a, 8 b and r, so only a few roots are computed.
  constexpr std::int64_t kBlock = kTwoPassLanes * kTwoPassLanes;
  const cpu::TwoPassKernels<Real>& kernels = cpu::two_pass_kernels<Real>();
  alignas(64) std::array<Real, 2 * kBlock> near, middle;
  alignas(64) std::array<Real, 2 * kTwoPassLanes> far, last;
  for (std::int64_t r = 0; r < kTwoPassLanes; ++r) {
    roots(r, first_column, &near[static_cast<std::size_t>(2 * r * kTwoPassLanes)]);
    roots(r * kTwoPassLanes % rows_, first_column, &middle[static_cast<std::size_t>(2 * r * kTwoPassLanes)]);
  }
  for (std::int64_t group = 0; group < groups(); ++group) {
    const std::int64_t start = group_start(group);
    cpu::TurnRoots<Real> turns{near.data(),
                               &middle[static_cast<std::size_t>(2 * (group % kTwoPassLanes) * kTwoPassLanes)],
                               far.data()};
    prefetch_block(intermediate + 2 * (group + kGroupsAhead) * plane_reals_ + first_column * kTwoPassLanes,
                   group + kGroupsAhead < groups() ? plane_reals_ : 0);
    if (group % kTwoPassLanes == 0) roots(group * kTwoPassLanes, first_column, far.data());
    if (start != group * kTwoPassLanes) {  // the last group overlaps the previous one
      roots(start, first_column, last.data());
      turns.middle = near.data();  // the roots of row 0 are ones
      turns.far = last.data();
    }
    Real* const to = intermediate + 2 * group * plane_reals_ + first_column * kTwoPassLanes;
    const Real* const from_re = re + start * kTwoPassLanes;
    const Real* const from_im = im + start * kTwoPassLanes;
    if (skipped <= 0) {
      kernels.turn(from_re, from_im, turns, to, to + plane_reals_);
      continue;
    }
    // The first columns belong to another part, which may run concurrently.
    alignas(64) std::array<Real, 2 * kBlock> turned;
    kernels.turn(from_re, from_im, turns, turned.data(), turned.data() + kBlock);
    const std::int64_t own = skipped * kTwoPassLanes;
    std::copy(turned.begin() + own, turned.begin() + kBlock, to + own);
    std::copy(turned.begin() + kBlock + own, turned.end(), to + plane_reals_ + own);
  }
}

template <class Real>
void TwoPassFft<Real>::first(std::int64_t part, const void* signal, ElementType type, Real* intermediate,
                             Real* scratch, bool inverse) const {
  const cpu::TwoPassKernels<Real>& kernels = cpu::two_pass_kernels<Real>();
  const std::int64_t width = real_ ? 2 * kTwoPassLanes : kTwoPassLanes;
  const std::int64_t column = std::min(part * width, columns_ - width);
  Real *re = scratch, *im = re + buffer_reals_, *other_re = im + buffer_reals_,
       *other_im = other_re + buffer_reals_;
  const auto* from =
      static_cast<const std::byte*>(signal) + static_cast<std::size_t>(column) * element_bytes(type);
  kernels.load[static_cast<std::size_t>(type)](from, columns_, rows_, inverse ? im : re, inverse ? re : im);
  if (across_->execute(re, im, other_re, other_im)) {
    std::swap(re, other_re);
    std::swap(im, other_im);
  }
  const std::int64_t skipped = part * width - column;
  if (!real_) return turn(re, im, column, skipped, intermediate);
  // Each of the two spectra fills little more than half a buffer.
  const std::int64_t half = kept_rows_ * kTwoPassLanes;
  kernels.separate(re, im, rows_, other_re, other_im, other_re + half, other_im + half);
  turn(other_re, other_im, column, skipped, intermediate);
  turn(other_re + half, other_im + half, column + kTwoPassLanes, skipped - kTwoPassLanes, intermediate);
}

template <class Real>
void TwoPassFft<Real>::first_of(std::int64_t column, const cpu::SplitBuffers<Real>& part,
                                Real* intermediate) const {
  const bool moved = across_->execute(part.re, part.im, part.other_re, part.other_im);
  turn(moved ? part.other_re : part.re, moved ? part.other_im : part.im, column, 0, intermediate);
}

template <class Real>
typename TwoPassFft<Real>::Group TwoPassFft<Real>::second(std::int64_t group, Real* intermediate,
                                                          Real* scratch) const {
  Real* re = intermediate + 2 * group * plane_reals_;
  Real* im = re + plane_reals_;
  if (along_->execute(re, im, scratch, scratch + plane_reals_)) {
    re = scratch;
    im = scratch + plane_reals_;
  }
  const std::int64_t start = group_start(group);
  return {re, im, start, static_cast<int>(group * kTwoPassLanes - start)};
}

template class TwoPassFft<float>;
template class TwoPassFft<double>;

}  // namespace sfft::detail
