// SPDX-License-Identifier: Apache-2.0
// Slabs without gaps go to the built-in engine; others go through its stages one by one. The root of row r
// and column c is that of row r mod 16 times that of row r − r mod 16, so few roots are looked up.
#include "kernels/dense/out_of_core/host_stages.hpp"

#include <algorithm>
#include <vector>

#include "kernels/cpu/stages/layout.hpp"
#include "kernels/runtime/aligned_buffer.hpp"

namespace sfft::detail {

namespace {

/// All dimensions of more than one point, except the last; the fastest comes first.
template <class Real>
std::vector<SlabColumns<Real>> slab_columns(const Shape& stored) {
  std::vector<SlabColumns<Real>> columns;
  std::int64_t inner = stored[stored.rank() - 1];
  for (int d = stored.rank() - 2; d >= 0; --d) {
    if (stored[d] > 1)
      columns.push_back(
          {ColumnStage<Real>(stored[d], inner), stored.points() / (inner * stored[d]), inner * stored[d]});
    inner *= stored[d];
  }
  return columns;
}

template <class Real>
std::size_t stage_bytes(const RowStage<Real>& row, const std::vector<SlabColumns<Real>>& columns) {
  std::size_t reals = row.workspace_reals();
  for (const SlabColumns<Real>& one : columns) reals = std::max(reals, one.stage.workspace_reals());
  return aligned_bytes(reals * sizeof(Real));
}

template <class Real>
void multiply(std::complex<Real>* values, std::int64_t count, Real scale) {
  if (scale != 1) std::for_each(values, values + count, [&](auto& value) { value *= scale; });
}

}  // namespace

template <class Real>
HostSlab<Real>::HostSlab(const Shape& stored, std::int64_t row_points)
    : stored_(stored), row_points_(row_points) {
  const std::int64_t pitch = stored[stored.rank() - 1];
  if (pitch == row_points) {
    engine_ = make_built_in_engine<Real>(stored, false);
    return;
  }
  row_ = std::make_unique<const RowStage<Real>>(row_points, false);
  columns_ = slab_columns<Real>(stored);
}

template <class Real>
std::size_t HostSlab<Real>::scratch_bytes() const noexcept {
  if (engine_ != nullptr) return aligned_bytes(engine_->workspace_bytes(1));
  return stage_bytes(*row_, columns_);
}

template <class Real>
void HostSlab<Real>::transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse,
                               Real scale, std::byte* scratch) const {
  constexpr ElementType kType = element_type_of<std::complex<Real>>::value;
  const std::int64_t pitch = stored_[stored_.rank() - 1], rows = stored_.points() / pitch;
  if (engine_ != nullptr) {
    if (inverse) return engine_->inverse(from, to, scale, {scratch, nullptr});
    engine_->forward(from, kType, to, {scratch, nullptr});
  }
  for (std::int64_t row = 0; row < rows && row_ != nullptr; ++row) {
    if (inverse) {
      row_->inverse(from + row * pitch, to + row * pitch, scale, scratch);
    } else {
      row_->forward(from + row * pitch, kType, to + row * pitch, scratch);
    }
  }
  for (const SlabColumns<Real>& columns : columns_) columns.transform(to, to, inverse, scratch);
  if (inverse) return;
  for (std::int64_t row = 0; row < rows; ++row) multiply(to + row * pitch, row_points_, scale);
}

template <class Real>
HostRealSlab<Real>::HostRealSlab(const Shape& stored, std::int64_t points, std::int64_t pitch)
    : stored_(stored),
      points_(points),
      pitch_(pitch),
      row_(points, true),
      columns_(slab_columns<Real>(stored)) {}

template <class Real>
std::size_t HostRealSlab<Real>::held_bytes() const noexcept {
  if (columns_.empty() || padded()) return 0;
  return aligned_bytes(static_cast<std::size_t>(stored_.points()) * sizeof(std::complex<Real>));
}

template <class Real>
std::size_t HostRealSlab<Real>::scratch_bytes() const noexcept {
  return stage_bytes(row_, columns_) + held_bytes();
}

template <class Real>
void HostRealSlab<Real>::forward(const Real* samples, std::complex<Real>* spectrum, Real scale,
                                 std::byte* scratch) const {
  const std::int64_t width = stored_[stored_.rank() - 1], rows = stored_.points() / width;
  for (std::int64_t row = 0; row < rows; ++row)
    row_.forward(samples + row * pitch_, element_type_of<Real>::value, spectrum + row * width, scratch);
  for (const SlabColumns<Real>& columns : columns_) columns.transform(spectrum, spectrum, false, scratch);
  multiply(spectrum, stored_.points(), scale);
}

template <class Real>
void HostRealSlab<Real>::inverse(const std::complex<Real>* spectrum, Real* samples, Real scale,
                                 std::byte* scratch) const {
  const std::int64_t width = stored_[stored_.rank() - 1], rows = stored_.points() / width;
  auto* const held =
      reinterpret_cast<std::complex<Real>*>(padded() ? reinterpret_cast<std::byte*>(samples) : scratch);
  std::byte* const own = scratch + held_bytes();
  for (const SlabColumns<Real>& columns : columns_) {
    columns.transform(spectrum, held, true, own);
    spectrum = held;
  }
  for (std::int64_t row = 0; row < rows; ++row)
    row_.inverse(spectrum + row * width, samples + row * pitch_, scale, own);
}

template class HostRealSlab<float>;
template class HostRealSlab<double>;

template class HostSlab<float>;
template class HostSlab<double>;

template <class Real>
void HostFactors<Real>::multiply(const PieceFactors& by, std::int64_t column, std::int64_t count, Real* re,
                                 Real* im) const {
  if (by.twiddles.length == 0) {
    const auto scale = static_cast<Real>(by.scale);
    std::for_each(re, re + by.rows * count, [&](Real& value) { value *= scale; });
    std::for_each(im, im + by.rows * count, [&](Real& value) { value *= scale; });
  } else if (by.twiddles.element == 1) {
    multiply_lines(by, column, count, re, im);
  } else {
    multiply_elements(by, column, count, re, im);
  }
}

template <class Real>
void HostFactors<Real>::multiply_lines(const PieceFactors& by, std::int64_t column, std::int64_t count,
                                       Real* re, Real* im) const {
  constexpr std::int64_t kNear = 16;
  const std::int64_t near_rows = std::min(kNear, by.rows);
  std::vector<Real> memory(static_cast<std::size_t>(2 * (near_rows + 1) * count));
  Real *const near_re = memory.data(), *const near_im = near_re + near_rows * count,
              *const far_re = near_im + near_rows * count, *const far_im = far_re + count;
  const auto put = [](const std::complex<double>& root, Real& to_re, Real& to_im) {
    to_re = static_cast<Real>(root.real());
    to_im = static_cast<Real>(root.imag());
  };
  PieceFactors unscaled = by;
  unscaled.scale = 1;
  for (std::int64_t r = 0; r < near_rows; ++r)
    for (std::int64_t c = 0; c < count; ++c)
      put(root(unscaled, r * (column + c)), near_re[r * count + c], near_im[r * count + c]);
  for (std::int64_t row = 0; row < by.rows; row += kNear) {
    for (std::int64_t c = 0; c < count; ++c) put(root(by, row * (column + c)), far_re[c], far_im[c]);
    cpu::layout_kernels<Real>().turn_rows(re + row * count, im + row * count, std::min(kNear, by.rows - row),
                                          count, near_re, near_im, far_re, far_im);
  }
}

/// Multiplies an element, or a part of one, by the same factor.
template <class Real>
void HostFactors<Real>::multiply_elements(const PieceFactors& by, std::int64_t column, std::int64_t count,
                                          Real* re, Real* im) const {
  const std::int64_t element = by.twiddles.element;
  for (std::int64_t row = 0; row < by.rows; ++row, re += count, im += count) {
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t line = (column + done) / element,
                         end = std::min(count, (line + 1) * element - column);
      const std::complex<double> factor = root(by, row * line);
      const auto c = static_cast<Real>(factor.real()), s = static_cast<Real>(factor.imag());
      for (; done < end; ++done) {
        const Real x = re[done], y = im[done];
        re[done] = x * c - y * s;
        im[done] = x * s + y * c;
      }
    }
  }
}

template class HostFactors<float>;
template class HostFactors<double>;

}  // namespace sfft::detail
