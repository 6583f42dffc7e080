// SPDX-License-Identifier: Apache-2.0
// Transforms the rows of each slab, fastest dimension first, then the columns of the slowest dimension. The
// passes alternate between two buffers.
#include "kernels/cpu/small_fft/small_fft.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/cpu/small_fft/small_fft_line.hpp"

namespace sfft::detail::cpu {

template <class Real>
struct SmallFft<Real>::Impl {
  /// One dimension within a slab: `rows` transforms, `row_reals` apart.
  struct Rows {
    LineFft<Real> line;
    std::int64_t rows, row_reals;
  };

  Impl(std::span<const std::int64_t> grid, std::int64_t lanes, Isa isa)
      : slab_reals(grid_reals(grid, lanes) / grid[0]),
        reals(grid_reals(grid, lanes)),
        first(grid[0], slab_reals, isa) {
    std::int64_t inner = lanes;
    std::int64_t work_reals = first.work_reals();
    flops = first.flops();
    for (std::size_t d = grid.size(); d-- > 1; inner *= grid[d]) {
      if (grid[d] == 1) continue;
      const std::int64_t row_reals = inner * grid[d];
      Rows dimension{LineFft<Real>(grid[d], inner, isa), slab_reals / row_reals, row_reals};
      work_reals = std::max(work_reals, dimension.line.work_reals());
      flops += dimension.line.flops() * static_cast<double>(grid[0] * dimension.rows);
      slab_toggles = slab_toggles != dimension.line.toggles();
      slab_lines.push_back(std::move(dimension));
    }
    // The work space for large primes follows the grid in each buffer and begins on a new cache line.
    work_offset = work_reals > 0 ? (reals + 15) / 16 * 16 : reals;
    buffer_reals = static_cast<std::size_t>(work_offset + work_reals);
  }

  static std::int64_t grid_reals(std::span<const std::int64_t> grid, std::int64_t lanes) {
    std::int64_t product = lanes;
    for (const std::int64_t extent : grid) product *= extent;
    return product;
  }

  SplitBuffers<Real> work(const SplitBuffers<Real>& data) const {
    return {data.re + work_offset, data.im + work_offset, data.other_re + work_offset,
            data.other_im + work_offset};
  }

  std::int64_t slab_reals, reals;
  LineFft<Real> first;           ///< the slowest dimension
  std::vector<Rows> slab_lines;  ///< the others, fastest first
  bool slab_toggles = false;
  std::int64_t work_offset = 0;
  std::size_t buffer_reals = 0;
  double flops = 0;
};

template <class Real>
SmallFft<Real>::SmallFft(std::span<const std::int64_t> grid, std::int64_t lanes)
    : SmallFft(grid, lanes, best_isa()) {}

template <class Real>
SmallFft<Real>::SmallFft(std::span<const std::int64_t> grid, std::int64_t lanes, Isa isa)
    : impl_(std::make_unique<const Impl>(grid, lanes, isa)) {}

template <class Real>
SmallFft<Real>::~SmallFft() = default;
template <class Real>
SmallFft<Real>::SmallFft(SmallFft&&) noexcept = default;
template <class Real>
SmallFft<Real>& SmallFft<Real>::operator=(SmallFft&&) noexcept = default;

template <class Real>
std::size_t SmallFft<Real>::buffer_reals() const noexcept {
  return impl_->buffer_reals;
}

template <class Real>
bool SmallFft<Real>::result_in_scratch() const noexcept {
  return impl_->slab_toggles != impl_->first.toggles();
}

template <class Real>
double SmallFft<Real>::flops() const noexcept {
  return impl_->flops;
}

template <class Real>
void SmallFft<Real>::slab(std::int64_t m1, Real* re, Real* im, Real* scratch_re, Real* scratch_im) const {
  const SplitBuffers<Real> work = impl_->work({re, im, scratch_re, scratch_im});
  const std::int64_t at = m1 * impl_->slab_reals;
  SplitBuffers<Real> now{re + at, im + at, scratch_re + at, scratch_im + at};
  for (const auto& dimension : impl_->slab_lines) {
    for (std::int64_t row = 0; row < dimension.rows; ++row) {
      const std::int64_t offset = row * dimension.row_reals;
      dimension.line.execute({now.re + offset, now.im + offset, now.other_re + offset, now.other_im + offset},
                             work);
    }
    if (dimension.line.toggles()) now = {now.other_re, now.other_im, now.re, now.im};
  }
}

template <class Real>
bool SmallFft<Real>::columns(Real* re, Real* im, Real* scratch_re, Real* scratch_im) const {
  SplitBuffers<Real> now{re, im, scratch_re, scratch_im};
  const SplitBuffers<Real> work = impl_->work(now);
  if (impl_->slab_toggles) now = {scratch_re, scratch_im, re, im};
  impl_->first.execute(now, work);
  return result_in_scratch();
}

template <class Real>
bool SmallFft<Real>::execute(Real* re, Real* im, Real* scratch_re, Real* scratch_im) const {
  const std::int64_t slabs = impl_->slab_lines.empty() ? 0 : impl_->reals / impl_->slab_reals;
  for (std::int64_t m1 = 0; m1 < slabs; ++m1) slab(m1, re, im, scratch_re, scratch_im);
  return columns(re, im, scratch_re, scratch_im);
}

template <class Real>
const LineFft<Real>& SmallFft<Real>::line() const noexcept {
  return impl_->first;
}

template class SmallFft<float>;
template class SmallFft<double>;

}  // namespace sfft::detail::cpu
