// SPDX-License-Identifier: Apache-2.0
// Chooses the lines of a block so that loads and stores take whole cache lines of both arrays where strides
// allow it.
#include "kernels/dense/cpu/strided_pass.hpp"

#include <algorithm>

#include "kernels/base/math/index.hpp"
#include "kernels/cpu/stages/layout.hpp"
#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/cpu/row_group.hpp"
#include "kernels/runtime/aligned_buffer.hpp"

namespace sfft::detail {

std::vector<PassDimension> merged(std::vector<PassDimension> dimensions) {
  std::erase_if(dimensions, [](const PassDimension& dimension) { return dimension.extent == 1; });
  std::sort(dimensions.begin(), dimensions.end(), [](const PassDimension& a, const PassDimension& b) {
    return std::pair(a.from, a.to) > std::pair(b.from, b.to);
  });
  std::vector<PassDimension> result;
  for (const PassDimension& fast : dimensions) {
    if (!result.empty() && result.back().from == fast.extent * fast.from &&
        result.back().to == fast.extent * fast.to) {
      result.back() = {result.back().extent * fast.extent, fast.from, fast.to};
    } else {
      result.push_back(fast);
    }
  }
  return result;
}

namespace {

constexpr std::int64_t kRunBytes = 128 << 10, kMaxRunLines = 32;
constexpr std::int64_t kTileBytes = 32 << 10, kMaxTileLines = 8;
/// If a block has more, lines that fill a cache line are enough.
constexpr std::int64_t kManyPoints = 1 << 15;

std::int64_t lines_of(const std::vector<PassDimension>& dimensions) {
  std::int64_t lines = 1;
  for (const PassDimension& dimension : dimensions) lines *= dimension.extent;
  return lines;
}

}  // namespace

template <class Real>
StridedPass<Real>::StridedPass(PassValues values, const std::vector<PassDimension>& transformed,
                               const std::vector<PassDimension>& others)
    : values_(values),
      last_(transformed.back()),
      row_(last_.extent),
      kept_(values == PassValues::complex ? row_ : row_ / 2 + 1),
      inner_(values != PassValues::complex && row_ % 2 == 0 ? row_ / 2 : row_) {
  for (const PassDimension& dimension : transformed) slower_ *= dimension.extent;
  slower_ /= row_;
  points_ = slower_ * std::max(kept_, inner_);
  for (std::size_t d = 0; d + 1 < transformed.size(); ++d) {
    std::vector<Offsets> next;
    for (const Offsets& start : rows_)
      for (std::int64_t i = 0; i < transformed[d].extent; ++i)
        next.push_back({start.from + i * transformed[d].from, start.to + i * transformed[d].to});
    rows_ = std::move(next);
  }
  from_step_ = std::ranges::min(transformed, {}, &PassDimension::from).from;
  to_step_ = std::ranges::min(transformed, {}, &PassDimension::to).to;
  for (const PassDimension& dimension : others) lanes_of_.push_back({dimension, 1, dimension.extent, 1});
  choose_lanes();

  std::vector<std::size_t> partial;
  for (std::size_t d = 0; d < lanes_of_.size(); ++d)
    if (lanes_of_[d].last != lanes_of_[d].chunk) partial.push_back(d);
  for (std::size_t size = 0; size < std::size_t{1} << partial.size(); ++size) {
    std::vector<PassDimension> lanes;
    for (const Lanes& of : lanes_of_) lanes.push_back({of.chunk, of.dimension.from, of.dimension.to});
    for (std::size_t p = 0; p < partial.size(); ++p)
      if ((size >> p & 1) != 0) lanes[partial[p]].extent = lanes_of_[partial[p]].last;
    if (!lanes.empty())
      std::rotate(lanes.begin() + static_cast<std::ptrdiff_t>(fastest_),
                  lanes.begin() + static_cast<std::ptrdiff_t>(fastest_) + 1, lanes.end());
    sizes_.emplace_back(*this, transformed, lanes);
    const Block& block = sizes_.back();
    const auto reals = static_cast<std::size_t>(block.lanes * points_);
    reals_ = std::max(reals_, (reals + 15) / 16 * 16);
  }
  buffer_reals_ = reals_;
  for (const Block& block : sizes_) {
    buffer_reals_ = std::max(buffer_reals_, reals_ + static_cast<std::size_t>(block.row.work_reals()));
    if (block.fft) buffer_reals_ = std::max(buffer_reals_, block.fft->buffer_reals());
  }
  if (values == PassValues::complex || row_ % 2 != 0) return;
  for (std::int64_t k = 0; k < inner_; ++k) {
    roots_re_.push_back(static_cast<Real>(unit_root(k, row_).real()));
    roots_im_.push_back(static_cast<Real>(-unit_root(k, row_).imag()));
  }
}

/// Lines that are adjacent in the source are adjacent in the buffers. If other lines are adjacent in the
/// target, blocks are tiles of both.
template <class Real>
void StridedPass<Real>::choose_lanes() {
  if (lanes_of_.empty()) return;
  constexpr std::int64_t kMinLanes = 64 / static_cast<std::int64_t>(sizeof(Real)), kLine = kMinLanes / 2;
  const auto take = [&](std::size_t d, std::int64_t total) {
    Lanes& of = lanes_of_[d];
    if (of.chunk > 1) return;
    const std::int64_t extent = of.dimension.extent, room = std::max<std::int64_t>(1, total / lanes_);
    of.chunk = 2 * extent <= 3 * room ? extent : room;
    if (of.chunk < extent && of.chunk > kLine) of.chunk = of.chunk / kLine * kLine;
    // Few remaining lines would not fill a vector, so they join the previous block.
    const std::int64_t whole = extent / of.chunk, rest = extent % of.chunk;
    of.parts = whole + (4 * rest >= of.chunk && rest > 0 ? 1 : 0);
    if (of.parts == 1) of.chunk = extent;
    of.last = extent - (of.parts - 1) * of.chunk;
    lanes_ *= of.chunk;
  };
  const auto nearest = [&](auto member) {
    std::size_t best = 0;
    for (std::size_t d = 1; d < lanes_of_.size(); ++d)
      if (lanes_of_[d].dimension.*member <= lanes_of_[best].dimension.*member) best = d;
    return best;
  };
  const std::size_t from = nearest(&PassDimension::from), to = nearest(&PassDimension::to);
  const bool needs_from = lanes_of_[from].dimension.from < from_step_;
  const bool needs_to = lanes_of_[to].dimension.to < to_step_;
  // Runs of both arrays may be as long as the L2 cache has room for. Otherwise the lines stay in the L1
  // cache.
  const bool runs = needs_from && needs_to && from == to;
  const std::int64_t bytes = runs ? kRunBytes : kTileBytes,
                     max = (runs ? kMaxRunLines : kMaxTileLines) * kMinLanes;
  const std::int64_t fitting =
      bytes / (4 * static_cast<std::int64_t>(sizeof(Real))) / points_ / kMinLanes * kMinLanes;
  const std::int64_t wanted = std::clamp(fitting, points_ < kManyPoints ? kMinLanes : kLine, max);
  if (needs_from && needs_to && from != to) {
    std::int64_t side = kLine;
    while (side < 4 * kLine && 4 * side * side <= wanted) side *= 2;
    take(from, side);
    take(to, std::max(wanted, side * lanes_));
  }
  take(needs_to && !needs_from ? to : from, wanted);
  // Further dimensions, closest first, if these are short.
  for (std::size_t d = lanes_of_.size(); d-- > 0;)
    if (2 * lanes_ <= wanted) take(d, wanted);
  fastest_ = 0;
  for (std::size_t d = 1; d < lanes_of_.size(); ++d)
    if (lanes_of_[d].chunk >= lanes_of_[fastest_].chunk) fastest_ = d;
  if (needs_from && lanes_of_[from].chunk >= 4) fastest_ = from;
  for (const Lanes& of : lanes_of_) blocks_ *= of.parts;
}

template <class Real>
StridedPass<Real>::Block::Block(const StridedPass& pass, const std::vector<PassDimension>& transformed,
                                const std::vector<PassDimension>& lane_dimensions)
    : lanes(lines_of(lane_dimensions)), row(pass.inner_, lanes, cpu::best_isa()) {
  const bool complex = pass.values_ == PassValues::complex, forward = pass.values_ == PassValues::to_half;
  std::vector<std::int64_t> slower;
  for (const PassDimension& dimension : transformed) slower.push_back(dimension.extent);
  slower.pop_back();
  if (pass.slower_ > 1) fft.emplace(slower, lanes * pass.kept_);

  /// The axes of one array. The last transformed one has `count` indices, `step` strides apart.
  const auto axes = [&](auto stride, std::int64_t count, std::int64_t step, std::int64_t divisor) {
    std::vector<StridedAxis> all;
    for (std::size_t d = 0; d < transformed.size(); ++d) {
      const bool last = d + 1 == transformed.size();
      all.push_back({last ? count : transformed[d].extent,
                     transformed[d].*stride * (last ? step : 1) / (last ? 1 : divisor)});
    }
    for (const PassDimension& dimension : lane_dimensions)
      all.push_back({dimension.extent, dimension.*stride / divisor});
    return all;
  };
  const auto reals = forward ? &PassDimension::from : &PassDimension::to;
  const auto spectra = forward ? &PassDimension::to : &PassDimension::from;
  if (complex) {
    from = SplitCopy<Real>(axes(&PassDimension::from, pass.last_.extent, 1, 1));
    to = SplitCopy<Real>(axes(&PassDimension::to, pass.last_.extent, 1, 1));
    // Lanes are one run in memory.
    const auto run = [&](auto stride) {
      std::int64_t next = 1;
      for (auto lane = lane_dimensions.rbegin(); lane != lane_dimensions.rend(); ++lane) {
        if (lane->extent == 1) continue;
        if ((*lane).*stride != next) return false;
        next *= lane->extent;
      }
      return true;
    };
    reads_rows = run(&PassDimension::from);
    writes_rows = run(&PassDimension::to);
    return;
  }
  const bool halved = pass.row_ % 2 == 0;
  const SplitCopy<Real> of_reals(axes(reals, pass.inner_, halved ? 2 : 1, 1));
  const SplitCopy<Real> of_spectra(axes(spectra, pass.kept_, 1, 1));
  from = forward ? of_reals : of_spectra;
  to = forward ? of_spectra : of_reals;
  const auto even = [&](const PassDimension& dimension) {
    return dimension.extent == 1 || dimension.*reals % 2 == 0;
  };
  adjacent = halved && pass.last_.*reals == 1 && std::ranges::all_of(lane_dimensions, even) &&
             std::all_of(transformed.begin(), transformed.end() - 1, even);
  if (adjacent) pairs = SplitCopy<Real>(axes(reals, pass.inner_, 1, 2));
}

template <class Real>
std::size_t StridedPass<Real>::workspace_bytes() const noexcept {
  return aligned_bytes(SplitWorkspace<Real>::total(buffer_reals_) * sizeof(Real));
}

template <class Real>
cpu::SplitBuffers<Real> StridedPass<Real>::buffers(std::byte* workspace) const {
  const SplitWorkspace<Real> split(workspace, buffer_reals_);
  return {split.re, split.im, split.other_re, split.other_im};
}

template <class Real>
cpu::SplitBuffers<Real> StridedPass<Real>::over_slower(const Block& of, const Buffers& data) const {
  if (!of.fft || !of.fft->execute(data.re, data.im, data.other_re, data.other_im)) return data;
  return {data.other_re, data.other_im, data.re, data.im};
}

template <class Real>
cpu::SplitBuffers<Real> StridedPass<Real>::over_rows(const Block& of, const Buffers& data) const {
  const Buffers work{data.re + reals_, data.im + reals_, data.other_re + reals_, data.other_im + reals_};
  const std::int64_t reals = inner_ * of.lanes;
  for (std::int64_t at = 0; at < slower_ * reals; at += reals)
    of.row.execute({data.re + at, data.im + at, data.other_re + at, data.other_im + at}, work);
  return of.row.toggles() ? Buffers{data.other_re, data.other_im, data.re, data.im} : data;
}

template <class Real>
void StridedPass<Real>::block(std::int64_t block, const void* from, ElementType type, void* to, bool inverse,
                              Real scale, std::byte* workspace) const {
  std::int64_t source = 0, target = 0;
  std::size_t size = 0;
  for (auto of = lanes_of_.rbegin(); of != lanes_of_.rend(); ++of) {
    const std::int64_t part = block % of->parts, start = part * of->chunk;
    block /= of->parts;
    source += start * of->dimension.from;
    target += start * of->dimension.to;
    // The first of the partial dimensions is the lowest bit.
    if (of->last != of->chunk) size = 2 * size + (part + 1 == of->parts ? 1 : 0);
  }
  const void* const start =
      static_cast<const std::byte*>(from) + static_cast<std::size_t>(source) * element_bytes(type);
  const Block& of = sizes_[size];
  if (values_ == PassValues::from_half)
    return from_half(of, static_cast<const Complex*>(start), static_cast<Real*>(to) + target, scale,
                     workspace);
  auto* const values = static_cast<Complex*>(to) + target;
  if (values_ == PassValues::to_half) return to_half(of, start, type, values, scale, workspace);
  complex_block(of, start, type, values, inverse, scale, workspace);
}

/// The inverse is the forward transform with real and imaginary parts exchanged, or with reversed results. If
/// lines are adjacent in an array, the FFTs along the last dimension read or write it directly.
template <class Real>
void StridedPass<Real>::complex_block(const Block& of, const void* from, ElementType type, Complex* to,
                                      bool inverse, Real scale, std::byte* workspace) const {
  Buffers data = buffers(workspace);
  const auto ends = [&](bool reads, bool writes, const Offsets& row) {
    return cpu::ComplexEnds<Real>{
        reads ? reinterpret_cast<const Real*>(static_cast<const Complex*>(from) + row.from) : nullptr,
        last_.from,
        writes ? reinterpret_cast<Real*>(to + row.to) : nullptr,
        last_.to,
        scale,
        inverse};
  };
  const auto over_rows_with = [&](bool reads, bool writes) {
    std::int64_t at = 0;
    Buffers result = data;
    for (const Offsets& row : rows_) {
      const Buffers part = of.row.execute(
          ends(reads, writes, row), {data.re + at, data.im + at, data.other_re + at, data.other_im + at});
      if (at == 0) result = part;
      at += inner_ * of.lanes;
    }
    return result;
  };
  const auto can = [&](bool reads, bool writes) { return of.row.can(ends(reads, writes, {})); };
  const bool reads = of.reads_rows && type == element_type_of<Complex>::value;
  if (of.writes_rows && reads && slower_ == 1 && can(true, true)) {
    over_rows_with(true, true);
    return;
  }
  if (of.writes_rows && can(false, true)) {
    of.from.load(from, type, data);
    data = inverse ? exchanged(over_slower(of, exchanged(data))) : over_slower(of, data);
    over_rows_with(false, true);
    return;
  }
  if (reads && !inverse && can(true, false)) {
    data = over_rows_with(true, false);
  } else {
    of.from.load(from, type, inverse ? exchanged(data) : data);
    data = over_rows(of, data);
  }
  data = over_slower(of, data);
  of.to.store(inverse ? exchanged(data) : data, scale, to);
}

template <class Real>
void StridedPass<Real>::to_half(const Block& of, const void* from, ElementType type, Complex* to, Real scale,
                                std::byte* workspace) const {
  const bool halved = row_ % 2 == 0;
  Buffers data = buffers(workspace);
  if (of.adjacent && type == element_type_of<Real>::value) {
    of.pairs.load(from, element_type_of<Complex>::value, data);
  } else {
    of.from.load_reals(from, type, data.re, data.other_re);
    if (halved) {
      of.from.load_reals(
          static_cast<const std::byte*>(from) + static_cast<std::size_t>(last_.from) * element_bytes(type),
          type, data.im, data.other_im);
    } else {
      std::fill_n(data.im, slower_ * row_ * of.lanes, Real(0));
    }
  }
  data = over_rows(of, data);
  const std::int64_t reals = inner_ * of.lanes, kept = kept_ * of.lanes;
  for (std::int64_t line = 0; line < slower_ && (halved || slower_ > 1); ++line) {
    const Real *const re = data.re + line * reals, *const im = data.im + line * reals;
    Real *const to_re = data.other_re + line * kept, *const to_im = data.other_im + line * kept;
    if (halved) {
      cpu::layout_kernels<Real>().unpack_real_lanes(re, im, inner_, of.lanes, roots_re_.data(),
                                                    roots_im_.data(), to_re, to_im);
    } else {
      std::copy_n(re, kept, to_re);
      std::copy_n(im, kept, to_im);
    }
  }
  if (halved || slower_ > 1) data = {data.other_re, data.other_im, data.re, data.im};
  of.to.store(over_slower(of, data), scale, to);
}

template <class Real>
void StridedPass<Real>::from_half(const Block& of, const Complex* from, Real* to, Real scale,
                                  std::byte* workspace) const {
  const bool halved = row_ % 2 == 0;
  Buffers data = buffers(workspace);
  of.from.load(from, element_type_of<Complex>::value, exchanged(data));
  data = exchanged(over_slower(of, data));
  const std::int64_t reals = inner_ * of.lanes, kept = kept_ * of.lanes;
  for (std::int64_t line = 0; line < slower_; ++line) {
    const Real *const re = data.re + line * kept, *const im = data.im + line * kept;
    Real *const to_re = data.other_re + line * reals, *const to_im = data.other_im + line * reals;
    if (halved) {
      cpu::layout_kernels<Real>().pack_real_lanes(re, im, inner_, of.lanes, roots_re_.data(),
                                                  roots_im_.data(), to_re, to_im);
      continue;
    }
    std::copy_n(re, kept, to_re);
    std::fill_n(to_im, of.lanes, Real(0));
    std::copy(im + of.lanes, im + kept, to_im + of.lanes);
    for (std::int64_t k = 1; k < kept_; ++k) {
      for (std::int64_t l = 0; l < of.lanes; ++l) {
        to_re[(row_ - k) * of.lanes + l] = re[k * of.lanes + l];
        to_im[(row_ - k) * of.lanes + l] = -im[k * of.lanes + l];
      }
    }
  }
  data = {data.other_re, data.other_im, data.re, data.im};
  data = exchanged(over_rows(of, exchanged(data)));
  if (of.adjacent) return of.pairs.store(data, scale, reinterpret_cast<Complex*>(to));
  of.to.store_reals(data.re, scale, to, data.other_re);
  if (halved) of.to.store_reals(data.im, scale, to + last_.to, data.other_im);
}

template class StridedPass<float>;
template class StridedPass<double>;

}  // namespace sfft::detail
