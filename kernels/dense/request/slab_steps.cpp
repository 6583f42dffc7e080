// SPDX-License-Identifier: Apache-2.0
// For rows and columns, groups are planes, so that a launch takes any number of planes. For lines across
// planes, groups are blocks of neighbouring rows: all lines of a block are neighbours, for any row length.
#include "kernels/dense/request/slab_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// The ranges before and after a share of n.
std::array<Share, 2> outside(const Share& share, std::int64_t n) {
  const std::int64_t end = share.first + share.count;
  return {Share{0, share.first}, Share{end, n - end}};
}

}  // namespace

template <class Real>
std::int64_t SlabSteps<Real>::rows_together(const SlabGrid& grid) noexcept {
  for (const std::int64_t rows : {16, 8, 4, 2}) {
    bool whole = true;
    for (int d = 0; d < grid.devices; ++d) whole = whole && grid.rows_of(d).count % rows == 0;
    if (whole) return rows;
  }
  return 1;
}

template <class Real>
SlabSteps<Real>::SlabSteps(const SlabFft<Real>& fft, int device, bool planes, bool measure)
    : grid_(fft.grid()), together_(rows_together(fft.grid())), has_planes_(planes) {
  const auto add = [&](const tuned::Lines& kind) {
    if (std::find(kinds_.begin(), kinds_.end(), kind) == kinds_.end()) kinds_.push_back(kind);
  };
  const std::int64_t plane = grid_.plane_values();
  for (int d = 0; d < grid_.devices; ++d) {
    const Share own = grid_.rows_of(d);
    const std::int64_t pitch = grid_.row_values(d);
    for (const bool inverse : {false, true}) {
      add(lines_of(d, inverse));
      if (has_planes_) add(columns_of(inverse));
    }
    if (!has_planes_) continue;
    add(rows_of(own.count, plane, pitch, false));
    add(rows_of(own.count, pitch, plane, true));
    for (const Share& others : outside(own, grid_.across))
      if (others.count > 0) add(rows_of(others.count, plane, plane, false));
    for (int part = 0; part < fft.parts(); ++part)
      add(rows_of(fft.part_of(d, part).count, pitch, pitch, true));
  }
  kernels_ = std::make_unique<const tuned::LineKernels>(device, kinds_, sizeof(Real) == 4, measure);
}

template <class Real>
std::size_t SlabSteps<Real>::find(const tuned::Lines& kind) const {
  const auto found = std::find(kinds_.begin(), kinds_.end(), kind);
  if (found == kinds_.end()) throw Error(ErrorCode::invalid_argument, "a step of slabs that was not planned");
  return static_cast<std::size_t>(found - kinds_.begin());
}

template <class Real>
tuned::Lines SlabSteps<Real>::columns_of(bool inverse) const {
  const tuned::Lines::Strides plane{grid_.plane_values(), 1, grid_.inner};
  return {grid_.across, grid_.inner, plane, plane, inverse, false};
}

template <class Real>
tuned::Lines SlabSteps<Real>::lines_of(int place, bool inverse) const {
  const std::int64_t block = together_ * grid_.inner;
  const tuned::Lines::Strides rows{block, 1, grid_.row_values(place)};
  return {grid_.planes, block, rows, rows, inverse, false};
}

template <class Real>
tuned::Lines SlabSteps<Real>::rows_of(std::int64_t rows, std::int64_t from_pitch, std::int64_t to_pitch,
                                      bool inverse) const {
  return {grid_.inner, rows, {from_pitch, grid_.inner, 1}, {to_pitch, grid_.inner, 1}, inverse, true};
}

template <class Real>
void SlabSteps<Real>::columns(const Value* from, Value* to, std::int64_t count, bool inverse,
                              cuda::Stream stream) const {
  kernels_->run(find(columns_of(inverse)), from, to, count, 1.0, stream);
}

template <class Real>
void SlabSteps<Real>::rows_for_others(int place, const Value* from, Value* to, std::int64_t count,
                                      double scale, cuda::Stream stream) const {
  const std::int64_t plane = grid_.plane_values();
  for (const Share& others : outside(grid_.rows_of(place), grid_.across)) {
    const std::int64_t first = others.first * grid_.inner;
    if (others.count > 0)
      rows({from + first, to + first, plane, plane, others.count * grid_.inner, count}, scale, false, stream);
  }
}

template <class Real>
void SlabSteps<Real>::rows_of_others(int place, Value* rows_, std::int64_t count, double scale,
                                     cuda::Stream stream) const {
  const std::int64_t pitch = grid_.row_values(place);
  for (const Share& others : outside(grid_.planes_of(place), grid_.planes)) {
    Value* const first = rows_ + others.first * pitch;
    if (others.count > 0)
      rows({first, first, pitch, pitch, count * grid_.inner, others.count}, scale, true, stream);
  }
}

template <class Real>
void SlabSteps<Real>::lines(int place, const Value* from, Value* to, std::int64_t count, bool inverse,
                            cuda::Stream stream) const {
  kernels_->run(find(lines_of(place, inverse)), from, to, count / together_, 1.0, stream);
}

template <class Real>
void SlabSteps<Real>::rows(const SlabPiece<Real>& piece, double scale, bool inverse,
                           cuda::Stream stream) const {
  kernels_->run(find(rows_of(piece.width / grid_.inner, piece.from_pitch, piece.to_pitch, inverse)),
                piece.from, piece.to, piece.rows, scale, stream);
}

template <class Real>
std::string SlabSteps<Real>::name() const {
  const std::string lines = kernels_->name(find(lines_of(0, false)));
  if (!has_planes_) return fmt::format("tuned kernels, {}", lines);
  const tuned::Lines own = rows_of(grid_.rows_of(0).count, grid_.plane_values(), grid_.row_values(0), false);
  return fmt::format("tuned kernels, columns {}, rows {}, lines {}", kernels_->name(find(columns_of(false))),
                     kernels_->name(find(own)), lines);
}

template class SlabSteps<float>;
template class SlabSteps<double>;

}  // namespace sfft::detail
