// SPDX-License-Identifier: Apache-2.0
// Gathers a round's samples, folds windowed lines and runs the small FFT, two delays of a real signal per
// complex transform. Scratch memory is kept process-wide for the next discovery.
#include "template/discovery/sampler.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include "kernels/base/math/lattice_line.hpp"
#include "kernels/cpu/small_fft/fft_cache.hpp"
#include "kernels/cpu/stages/hash.hpp"
#include "kernels/cpu/stages/subsample.hpp"

namespace sfft::detail {

struct DiscoveryScratch::Shelf {
  static constexpr std::size_t kMaxBlocks = 4;
  static constexpr std::size_t kMaxBytes = std::size_t{32} << 20;
  Shelf() { blocks.reserve(kMaxBlocks); }
  std::mutex mutex;
  std::vector<AlignedBuffer> blocks;
};

DiscoveryScratch::Shelf& DiscoveryScratch::shelf() {
  static Shelf shelf;
  return shelf;
}

std::byte* DiscoveryScratch::fit(std::size_t bytes) {
  if (block_.size() >= bytes) return block_.data();
  give_back();
  {
    Shelf& kept = shelf();
    const std::lock_guard lock(kept.mutex);
    const auto found = std::find_if(kept.blocks.begin(), kept.blocks.end(),
                                    [&](const AlignedBuffer& block) { return block.size() >= bytes; });
    if (found != kept.blocks.end()) {
      block_ = std::move(*found);
      kept.blocks.erase(found);
      return block_.data();
    }
  }
  // Rounded up to a power of two, so that somewhat larger requests fit later.
  const std::size_t room = std::bit_ceil(std::max<std::size_t>(bytes, 4096));
  block_ = AlignedBuffer(room);
  return block_.data();
}

/// Frees the smallest block if there are too many.
void DiscoveryScratch::give_back() noexcept {
  if (block_.size() == 0) return;
  AlignedBuffer block = std::move(block_);
  block_ = {};
  if (block.size() > Shelf::kMaxBytes) return;
  Shelf& kept = shelf();
  const std::lock_guard lock(kept.mutex);
  if (kept.blocks.size() < Shelf::kMaxBlocks) {
    kept.blocks.push_back(std::move(block));
    return;
  }
  const auto smallest =
      std::min_element(kept.blocks.begin(), kept.blocks.end(),
                       [](const AlignedBuffer& a, const AlignedBuffer& b) { return a.size() < b.size(); });
  if (smallest->size() < block.size()) *smallest = std::move(block);
}

template <class Real>
Real* DiscoverySampler<Real>::buffer(std::size_t reals) {
  pitch_ = (reals + 15) / 16 * 16 + 16;
  return reinterpret_cast<Real*>(storage_.fit(4 * pitch_ * sizeof(Real)));
}

template <class Real>
std::int64_t DiscoverySampler<Real>::flat(const GridPoint& at) const noexcept {
  std::int64_t index = 0;
  for (int d = 0; d < shape_.rank(); ++d) index = index * shape_[d] + at[static_cast<std::size_t>(d)];
  return index;
}

template <class Real>
BucketValues<Real> DiscoverySampler<Real>::comb(const GridPoint& buckets, std::span<const GridPoint> delays) {
  const std::int64_t lane_count = lanes(delays.size());
  const std::int64_t count = buckets[0] * buckets[1] * buckets[2];
  const auto fft = cpu::shared_small_fft<Real>(buckets, lane_count);
  // A real frame's unpacked buckets reuse one pair of arrays.
  const std::size_t reals = std::max(fft->buffer_reals(), static_cast<std::size_t>(2 * count * lane_count));
  Real* re = buffer(reals);
  Real* im = re + pitch_;

  std::vector<std::int64_t> offsets;
  offsets.reserve(delays.size() + 1);
  for (const GridPoint& delay : delays) offsets.push_back(flat(delay));
  if (real() && offsets.size() % 2 != 0) offsets.push_back(offsets.back());

  // Dimensions are aligned to the right, because the reader proceeds along rows.
  SampleSet set{{1, 1, 1}, {0, 0, 0}, offsets.data(), lane_count};
  std::int64_t pitch = 1;
  for (int d = shape_.rank() - 1; d >= 0; --d) {
    const std::int64_t along = buckets[static_cast<std::size_t>(d)];
    set.counts[3 - shape_.rank() + d] = along;
    set.strides[3 - shape_.rank() + d] = shape_[d] / along * pitch;
    pitch *= shape_[d];
  }
  signal_.read(set, re, im);
  samples_ += count * static_cast<std::int64_t>(delays.size());
  return transform(*fft, buckets, static_cast<std::int64_t>(delays.size()));
}

template <class Real>
BucketValues<Real> DiscoverySampler<Real>::lines(const WindowedLines& lines) {
  const auto taps = static_cast<std::int64_t>(lines.window.size());
  const std::int64_t lane_count = lanes(lines.delays.size());
  const std::int64_t streams = real() ? 2 * lane_count : lane_count;
  const auto all = static_cast<std::size_t>(taps * lane_count);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(taps * streams));
  for (std::int64_t j = 0; j < streams; ++j) {
    const std::size_t source = std::min(static_cast<std::size_t>(j), lines.delays.size() - 1);
    std::int64_t at = j;
    walk_line(shape_.extents().data(), shape_.rank(), lines.sigma, lines.delays[source], taps,
              [&](std::int64_t index) {
                offsets[static_cast<std::size_t>(at)] = index;
                at += streams;
              });
  }
  std::vector<Real> window(all);
  for (std::size_t i = 0; i < all; ++i)
    window[i] = static_cast<Real>(lines.window[i / static_cast<std::size_t>(lane_count)]);
  std::vector<Real> gathered(2 * all);
  signal_.read({{1, 1, 1}, {0, 0, 0}, offsets.data(), taps * lane_count}, gathered.data(),
               gathered.data() + all);

  const GridPoint grid{lines.buckets, 1, 1};
  const auto fft = cpu::shared_small_fft<Real>(grid, lane_count);
  const std::int64_t folded = lines.buckets * lane_count;
  Real* re = buffer(std::max(fft->buffer_reals(), static_cast<std::size_t>(2 * folded)));
  const auto fold = cpu::subsample_kernels<Real>().fold;
  fold(gathered.data(), window.data(), folded, taps / lines.buckets, re);
  fold(gathered.data() + all, window.data(), folded, taps / lines.buckets, re + pitch_);
  samples_ += taps * static_cast<std::int64_t>(lines.delays.size());
  return transform(*fft, grid, static_cast<std::int64_t>(lines.delays.size()));
}

template <class Real>
BucketValues<Real> DiscoverySampler<Real>::transform(const cpu::SmallFft<Real>& fft, const GridPoint& grid,
                                                     std::int64_t delays) {
  Real* at[4];
  for (std::size_t i = 0; i < 4; ++i) at[i] = reinterpret_cast<Real*>(storage_.data()) + i * pitch_;
  const std::size_t first = fft.execute(at[0], at[1], at[2], at[3]) ? 2 : 0;
  const std::int64_t count = grid[0] * grid[1] * grid[2];
  if (!real()) return {at[first], at[first + 1], count, delays};
  return unpack_real(at[first], at[first + 1], at[2 - first], at[3 - first], grid, delays);
}

/// Two delays of a real frame share one complex transform Z: the even one is (Z[b] + conj Z[−b])/2, the odd
/// one (Z[b] − conj Z[−b])/(2i).
template <class Real>
BucketValues<Real> DiscoverySampler<Real>::unpack_real(const Real* re, const Real* im, Real* to_re,
                                                       Real* to_im, const GridPoint& grid,
                                                       std::int64_t delays) const {
  const std::int64_t count = grid[0] * grid[1] * grid[2];
  const std::int64_t lane_count = (delays + 1) / 2;
  constexpr Real kHalf = Real(0.5);
  for (std::int64_t b = 0; b < count; ++b) {
    const std::int64_t own = b * lane_count;
    const std::int64_t other = cpu::mirror_bucket(b, grid) * lane_count;
    for (std::int64_t l = 0; l < lane_count; ++l) {
      const Real zr = re[own + l], zi = im[own + l], mr = re[other + l], mi = -im[other + l];
      Real* out_re = to_re + b * delays + 2 * l;
      Real* out_im = to_im + b * delays + 2 * l;
      out_re[0] = kHalf * (zr + mr);
      out_im[0] = kHalf * (zi + mi);
      if (2 * l + 1 == delays) continue;
      out_re[1] = kHalf * (zi - mi);
      out_im[1] = -kHalf * (zr - mr);
    }
  }
  return {to_re, to_im, count, delays};
}

template class DiscoverySampler<float>;
template class DiscoverySampler<double>;

}  // namespace sfft::detail
