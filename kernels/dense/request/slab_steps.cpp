// SPDX-License-Identifier: Apache-2.0
// A group of rows is a block of neighbouring rows in all planes of a chunk, so that a launch takes any range
// of rows; groups of columns are planes, and groups of lines are rows.
#include "kernels/dense/request/slab_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/error.hpp"

namespace sfft::detail {

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
SlabSteps<Real>::SlabSteps(const SlabFft<Real>& fft, int device, bool lines_only, bool measure)
    : grid_(fft.grid()), together_(rows_together(fft.grid())), lines_only_(lines_only) {
  const auto add = [&](const tuned::Lines& kind) {
    if (std::find(kinds_.begin(), kinds_.end(), kind) == kinds_.end()) kinds_.push_back(kind);
  };
  for (const bool inverse : {false, true}) {
    for (int d = 0; d < grid_.devices; ++d) add(lines_of(d, inverse));
    if (lines_only) continue;
    add(columns_of(inverse));
    for (int d = 0; d < grid_.devices; ++d) {
      const std::int64_t own = grid_.row_values(d);
      for (int other = 0; other < grid_.devices && inverse; ++other)
        add(rows_of(own, own, grid_.planes_of(other).count, true));
      for (int to = 0; to < grid_.devices; ++to) {
        for (int chunk = 0; chunk < fft.chunks(); ++chunk) {
          const std::int64_t planes = grid_.plane_values(), rows = grid_.row_values(to);
          add(inverse ? rows_of(rows, planes, fft.chunk_of(d, chunk).count, true)
                      : rows_of(planes, rows, fft.chunk_of(d, chunk).count, false));
          if (!inverse) add(rows_of(planes, planes, fft.chunk_of(d, chunk).count, false));
        }
      }
    }
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
  const tuned::Lines::Strides plane{grid_.plane_values(), 0, 1, grid_.inner};
  return {grid_.across, 1, grid_.inner, plane, plane, inverse, false};
}

template <class Real>
tuned::Lines SlabSteps<Real>::lines_of(int place, bool inverse) const {
  const tuned::Lines::Strides row{grid_.inner, 0, 1, grid_.row_values(place)};
  return {grid_.planes, 1, grid_.inner, row, row, inverse, false};
}

template <class Real>
tuned::Lines SlabSteps<Real>::rows_of(std::int64_t from_pitch, std::int64_t to_pitch, std::int64_t planes,
                                      bool inverse) const {
  const std::int64_t block = together_ * grid_.inner;
  return {
      grid_.inner, planes, together_, {block, from_pitch, grid_.inner, 1}, {block, to_pitch, grid_.inner, 1},
      inverse,     true};
}

template <class Real>
void SlabSteps<Real>::columns(const Value* from, Value* to, std::int64_t count, bool inverse,
                              cuda::Stream stream) const {
  kernels_->run(find(columns_of(inverse)), from, to, count, 1.0, 0, stream);
}

template <class Real>
void SlabSteps<Real>::rows_for_others(int place, Value* planes, std::int64_t count, double scale,
                                      cuda::Stream stream) const {
  for (int to = 0; to < grid_.devices; ++to) {
    if (to == place) continue;
    Value* const first = planes + grid_.rows_of(to).first * grid_.inner;
    rows({first, first, grid_.plane_values(), grid_.plane_values(), grid_.row_values(to), count}, scale,
         false, 0, stream);
  }
}

template <class Real>
void SlabSteps<Real>::rows_of_others(int place, Value* rows_, std::int64_t count, double scale,
                                     cuda::Stream stream) const {
  const std::int64_t pitch = grid_.row_values(place);
  for (int other = 0; other < grid_.devices; ++other) {
    if (other == place) continue;
    Value* const first = rows_ + grid_.planes_of(other).first * pitch;
    rows({first, first, pitch, pitch, count * grid_.inner, grid_.planes_of(other).count}, scale, true, 0,
         stream);
  }
}

template <class Real>
void SlabSteps<Real>::lines(int place, const Value* from, Value* to, std::int64_t count, bool inverse,
                            cuda::Stream stream) const {
  kernels_->run(find(lines_of(place, inverse)), from, to, count, 1.0, 0, stream);
}

template <class Real>
void SlabSteps<Real>::rows(const SlabPiece<Real>& piece, double scale, bool inverse, std::int64_t blocks,
                           cuda::Stream stream) const {
  kernels_->run(find(rows_of(piece.from_pitch, piece.to_pitch, piece.rows, inverse)), piece.from, piece.to,
                piece.width / (together_ * grid_.inner), scale, blocks, stream);
}

template <class Real>
std::string SlabSteps<Real>::name() const {
  if (lines_only_) return fmt::format("tuned kernels: {}", kernels_->name(find(lines_of(0, false))));
  return fmt::format("tuned kernels, columns {}, rows {}, lines {}", kernels_->name(find(columns_of(false))),
                     kernels_->name(find(columns_of(false)) + 1), kernels_->name(find(lines_of(0, false))));
}

template class SlabSteps<float>;
template class SlabSteps<double>;

}  // namespace sfft::detail
