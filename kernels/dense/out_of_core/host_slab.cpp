// SPDX-License-Identifier: Apache-2.0
// Slabs without gaps go to the built-in engine; others go through its stages one by one.
#include "kernels/dense/out_of_core/host_slab.hpp"

#include <algorithm>

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
  return (reals * sizeof(Real) + 63) / 64 * 64;
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
  if (engine_ != nullptr) return (engine_->workspace_bytes(1) + 63) / 64 * 64;
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
  return (static_cast<std::size_t>(stored_.points()) * sizeof(std::complex<Real>) + 63) / 64 * 64;
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

}  // namespace sfft::detail
