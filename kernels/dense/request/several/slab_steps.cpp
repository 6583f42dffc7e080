// SPDX-License-Identifier: Apache-2.0
// For rows and columns, groups are planes, so that a launch takes any number of planes. For lines across
// planes, groups are blocks of neighbouring rows: all lines of a block are neighbours, for any row length.
#include "kernels/dense/request/several/cuda_slabs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>

#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// The ranges before and after a share of n.
std::array<Share, 2> outside(const Share& share, std::int64_t n) {
  const std::int64_t end = share.first + share.count;
  return {Share{0, share.first}, Share{end, n - end}};
}

}  // namespace

std::int64_t SlabSteps::rows_together(const SlabGrid& grid) noexcept {
  for (const std::int64_t rows : {16, 8, 4, 2}) {
    bool whole = true;
    for (int d = 0; d < grid.devices; ++d) whole = whole && grid.rows_of(d).count % rows == 0;
    if (whole) return rows;
  }
  return 1;
}

SlabSteps::SlabSteps(const SlabFft& fft, int device, bool planes, bool measure)
    : grid_(fft.grid()),
      value_bytes_(fft.value_bytes()),
      together_(rows_together(fft.grid())),
      has_planes_(planes) {
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
  kernels_ = std::make_unique<const tuned::LineKernels>(device, kinds_,
                                                        value_bytes_ == sizeof(std::complex<float>), measure);
}

std::size_t SlabSteps::find(const tuned::Lines& kind) const {
  const auto found = std::find(kinds_.begin(), kinds_.end(), kind);
  if (found == kinds_.end()) throw Error(ErrorCode::invalid_argument, "a step of slabs that was not planned");
  return static_cast<std::size_t>(found - kinds_.begin());
}

tuned::Lines SlabSteps::columns_of(bool inverse) const {
  const tuned::Lines::Strides plane{grid_.plane_values(), 1, grid_.inner};
  return {grid_.across, grid_.inner, plane, plane, inverse, false};
}

tuned::Lines SlabSteps::lines_of(int place, bool inverse) const {
  const std::int64_t block = together_ * grid_.inner;
  const tuned::Lines::Strides rows{block, 1, grid_.row_values(place)};
  return {grid_.planes, block, rows, rows, inverse, false};
}

tuned::Lines SlabSteps::rows_of(std::int64_t rows, std::int64_t from_pitch, std::int64_t to_pitch,
                                bool inverse) const {
  return {grid_.inner, rows, {from_pitch, grid_.inner, 1}, {to_pitch, grid_.inner, 1}, inverse, true};
}

void SlabSteps::columns(const std::byte* from, std::byte* to, std::int64_t count, bool inverse,
                        cuda::Stream stream) const {
  kernels_->run(find(columns_of(inverse)), from, to, count, 1.0, stream);
}

void SlabSteps::rows_for_others(int place, std::byte* planes, std::int64_t count, double scale,
                                cuda::Stream stream) const {
  const std::int64_t row = grid_.inner * value_bytes_, plane = grid_.plane_values() * value_bytes_;
  for (const Share& others : outside(grid_.rows_of(place), grid_.across)) {
    const Rows own{planes + others.first * row, plane, others.count * row, count};
    if (others.count > 0) rows({own, own}, scale, false, stream);
  }
}

void SlabSteps::rows_of_others(int place, std::byte* first, std::int64_t count, double scale,
                               cuda::Stream stream) const {
  const std::int64_t pitch = grid_.row_values(place) * value_bytes_;
  for (const Share& others : outside(grid_.planes_of(place), grid_.planes)) {
    const Rows own{first + others.first * pitch, pitch, count * grid_.inner * value_bytes_, others.count};
    if (others.count > 0) rows({own, own}, scale, true, stream);
  }
}

void SlabSteps::lines(int place, const std::byte* from, std::byte* to, std::int64_t count, bool inverse,
                      cuda::Stream stream) const {
  kernels_->run(find(lines_of(place, inverse)), from, to, count / together_, 1.0, stream);
}

void SlabSteps::rows(const SlabPiece& piece, double scale, bool inverse, cuda::Stream stream) const {
  const auto values = [&](std::int64_t bytes) { return bytes / value_bytes_; };
  kernels_->run(find(rows_of(values(piece.from.width) / grid_.inner, values(piece.from.pitch),
                             values(piece.to.pitch), inverse)),
                piece.from.data, piece.to.data, piece.from.rows, scale, stream);
}

std::string SlabSteps::name() const {
  const std::string lines = kernels_->name(find(lines_of(0, false)));
  if (!has_planes_) return fmt::format("tuned kernels, {}", lines);
  const tuned::Lines own = rows_of(grid_.rows_of(0).count, grid_.plane_values(), grid_.row_values(0), false);
  return fmt::format("tuned kernels, columns {}, rows {}, lines {}", kernels_->name(find(columns_of(false))),
                     kernels_->name(find(own)), lines);
}

}  // namespace sfft::detail
