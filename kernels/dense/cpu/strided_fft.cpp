// SPDX-License-Identifier: Apache-2.0
// Real transforms begin with the last dimension, or end with it; the order of the others follows from their
// strides.
#include "kernels/dense/cpu/strided_fft.hpp"

#include <algorithm>

#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "kernels/runtime/aligned_buffer.hpp"

namespace sfft::detail {

namespace {

using Dimension = dense::Layout::Dimension;
using DimensionList = std::vector<Dimension>;

/// DimensionList whose points share a pass have at most this many bytes in its four buffers, with few lines.
constexpr std::int64_t kGridBytes = 64 << 10;
/// The signals of a unit and its spectra stay in the L2 cache.
constexpr std::int64_t kUnitBytes = 512 << 10;
/// Cache lines in a run of values that belongs to a unit.
constexpr std::int64_t kUnitLines = 4;

/// Groups of dimensions that share a pass, those with the smallest strides first. The last dimension of a
/// group is the fastest in the buffers; in real transforms it is the last one of the layout.
std::vector<DimensionList> groups_of(const dense::Layout& layout, bool real, std::int64_t value_bytes) {
  DimensionList rest = layout.transformed;
  std::vector<DimensionList> groups;
  if (real) {
    groups.push_back({rest.back()});
    rest.pop_back();
  }
  std::erase_if(rest, [](const Dimension& dimension) { return dimension.extent == 1; });
  std::sort(rest.begin(), rest.end(), [](const Dimension& a, const Dimension& b) {
    return std::pair(a.spectrum_stride, a.signal_stride) > std::pair(b.spectrum_stride, b.signal_stride);
  });
  if (groups.empty() && rest.empty()) return {DimensionList(1)};
  constexpr std::int64_t kLanes = 8, kBuffers = 4;
  std::int64_t points = real ? groups[0][0].extent / 2 + 1 : 0;
  for (; !rest.empty(); rest.pop_back()) {
    const Dimension next = rest.back();
    if (points > 0 && points * next.extent * kLanes * kBuffers * value_bytes / 2 <= kGridBytes) {
      groups.back().insert(groups.back().begin(), next);
      points *= next.extent;
    } else {
      groups.push_back({next});
      points = next.extent;
    }
  }
  return groups;
}

}  // namespace

template <class Real>
StridedFft<Real>::StridedFft(const dense::Layout& layout, bool real) : real_(real) {
  const std::vector<DimensionList> groups = groups_of(layout, real, sizeof(Complex));
  const Dimension last = layout.transformed.back();
  const std::int64_t kept = real ? last.extent / 2 + 1 : last.extent;
  DimensionList batch;
  std::vector<PassDimension> runs;
  for (const Dimension& dimension : layout.batch)
    runs.push_back({dimension.extent, dimension.signal_stride, dimension.spectrum_stride});
  for (const PassDimension& run : merged(runs)) batch.push_back({run.extent, run.from, run.to});
  for (const Dimension& dimension : layout.transformed) unit_points_ *= dimension.extent;
  if (groups.size() > 1) make_units(batch, unit_points_);
  for (const Dimension& dimension : batch) unit_points_ *= dimension.extent;

  /// A pass over one group, from one array to another.
  const auto add = [&](std::vector<StridedPass<Real>>& passes, std::size_t g, PassValues values, auto from,
                       auto to) {
    std::vector<PassDimension> transformed, others;
    for (const Dimension& dimension : groups[g])
      transformed.push_back({dimension.extent, dimension.*from, dimension.*to});
    for (const Dimension& dimension : batch)
      others.push_back({dimension.extent, dimension.*from, dimension.*to});
    for (std::size_t other = 0; other < groups.size(); ++other) {
      if (other == g) continue;
      for (std::size_t d = 0; d < groups[other].size(); ++d) {
        const Dimension& dimension = groups[other][d];
        const bool half = real && other == 0 && d + 1 == groups[0].size();
        others.push_back({half ? kept : dimension.extent, dimension.*from, dimension.*to});
      }
    }
    passes.emplace_back(values, transformed, merged(std::move(others)));
    pass_bytes_ = std::max(pass_bytes_, passes.back().workspace_bytes());
  };
  constexpr auto kSignal = &Dimension::signal_stride, kSpectrum = &Dimension::spectrum_stride;
  add(forward_, 0, real ? PassValues::to_half : PassValues::complex, kSignal, kSpectrum);
  for (std::size_t g = 1; g < groups.size(); ++g) add(forward_, g, PassValues::complex, kSpectrum, kSpectrum);
  if (real) {
    for (std::size_t g = groups.size(); g-- > 1;) add(inverse_, g, PassValues::complex, kSpectrum, kSpectrum);
    add(inverse_, 0, PassValues::from_half, kSpectrum, kSignal);
  } else {
    add(inverse_, 0, PassValues::complex, kSpectrum, kSignal);
    for (std::size_t g = 1; g < groups.size(); ++g) add(inverse_, g, PassValues::complex, kSignal, kSignal);
  }
  if (!real || groups.size() == 1) return;
  dense::Layout unit{layout.transformed, batch};
  const std::int64_t span = spectrum_span(unit, real);
  copy_bytes_ = aligned_bytes(static_cast<std::size_t>(span) * sizeof(Complex));
}

/// Batch dimensions become units, slowest first, as long as what is left exceeds the cache. If neighbours of
/// a dimension share cache lines, units take runs of several lines, or all of it.
template <class Real>
void StridedFft<Real>::make_units(DimensionList& batch, std::int64_t points) {
  const auto value_bytes = static_cast<std::int64_t>(sizeof(Complex));
  const std::int64_t line = 64 / value_bytes;
  for (const Dimension& dimension : batch) points *= dimension.extent;
  for (auto at = batch.begin(); at != batch.end() && points * value_bytes > kUnitBytes; ++at) {
    const std::int64_t others = points / at->extent;
    const std::int64_t min = std::min(at->spectrum_stride, at->signal_stride) < line ? kUnitLines * line : 1;
    std::int64_t inner = at->extent;  // the largest divisor that fits
    for (std::int64_t parts = 1; parts <= at->extent / min; ++parts) {
      if (at->extent % parts != 0) continue;
      inner = at->extent / parts;
      if (inner * others * value_bytes <= kUnitBytes) break;
    }
    if (min > 1 && inner * others * value_bytes > 2 * kUnitBytes) return;
    points = others * inner;
    unit_dimensions_.push_back({at->extent / inner, at->signal_stride * inner, at->spectrum_stride * inner});
    units_ *= at->extent / inner;
    at->extent = inner;
  }
}

template <class Real>
typename StridedFft<Real>::Place StridedFft<Real>::place(std::int64_t unit) const noexcept {
  Place place{0, 0};
  for (auto of = unit_dimensions_.rbegin(); of != unit_dimensions_.rend(); ++of) {
    place.signal += unit % of->extent * of->signal_stride;
    place.spectrum += unit % of->extent * of->spectrum_stride;
    unit /= of->extent;
  }
  return place;
}

template <class Real>
std::size_t StridedFft<Real>::workspace_bytes(int threads) const noexcept {
  return static_cast<std::size_t>(threads) * pass_bytes_ + copy_bytes_;
}

template <class Real>
void StridedFft<Real>::run(const StridedPass<Real>& pass, const void* from, ElementType type, void* to,
                           bool inverse, Real scale, const EngineScratch& scratch) const {
  over_stretches(scratch, pass_bytes_, pass.blocks(), pass.block_points(),
                 [&](std::int64_t first, std::int64_t end, std::byte* workspace) {
                   for (std::int64_t b = first; b < end; ++b)
                     pass.block(b, from, type, to, inverse, scale, workspace);
                 });
}

template <class Real>
void StridedFft<Real>::forward(std::int64_t unit, const void* signal, ElementType type, Complex* spectrum,
                               Real scale, const EngineScratch& scratch) const {
  const Place at = place(unit);
  const void* from =
      static_cast<const std::byte*>(signal) + static_cast<std::size_t>(at.signal) * element_bytes(type);
  Complex* const to = spectrum + at.spectrum;
  for (const StridedPass<Real>& pass : forward_) {
    const bool last = &pass == &forward_.back();
    run(pass, from, type, to, false, last ? scale : 1, scratch);
    from = to;
    type = element_type_of<Complex>::value;
  }
}

template <class Real>
void StridedFft<Real>::inverse(std::int64_t unit, const Complex* spectrum, void* signal, Real scale,
                               const EngineScratch& scratch) const {
  const Place at = place(unit);
  const Complex* from = spectrum + at.spectrum;
  void* const to = static_cast<std::byte*>(signal) +
                   static_cast<std::size_t>(at.signal) * (real_ ? sizeof(Real) : sizeof(Complex));
  // The passes before the last one of a real transform need memory for half spectra: in place, the array's.
  const auto threads = static_cast<std::size_t>(scratch.pool == nullptr ? 1 : scratch.pool->threads());
  void* between = to;
  if (real_ && from != to) between = scratch.workspace + threads * pass_bytes_;
  for (const StridedPass<Real>& pass : inverse_) {
    const bool last = &pass == &inverse_.back();
    void* const target = last ? to : between;
    run(pass, from, element_type_of<Complex>::value, target, true, last ? scale : 1, scratch);
    from = static_cast<const Complex*>(target);
  }
}

template class StridedFft<float>;
template class StridedFft<double>;

}  // namespace sfft::detail
