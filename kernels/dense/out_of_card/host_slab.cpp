// SPDX-License-Identifier: Apache-2.0
// Slabs without gaps go to the built-in engine, others through its stages one by one.
#include "kernels/dense/out_of_card/host_slab.hpp"

#include <algorithm>

namespace sfft::detail {

template <class Real>
HostSlab<Real>::HostSlab(const Shape& stored, std::int64_t row_points)
    : stored_(stored), row_points_(row_points) {
  const std::int64_t pitch = stored[stored.rank() - 1];
  if (pitch == row_points) {
    engine_ = make_built_in_engine<Real>(stored, false);
    return;
  }
  row_ = std::make_unique<const RowStage<Real>>(row_points, false);
  std::int64_t inner = pitch;
  for (int d = stored.rank() - 2; d >= 0; --d) {
    if (stored[d] > 1)
      columns_.push_back(
          {ColumnStage<Real>(stored[d], inner), stored.points() / (inner * stored[d]), inner * stored[d]});
    inner *= stored[d];
  }
}

template <class Real>
std::size_t HostSlab<Real>::scratch_bytes() const noexcept {
  if (engine_ != nullptr) return (engine_->workspace_bytes(1) + 63) / 64 * 64;
  std::size_t reals = row_->workspace_reals();
  for (const Columns& columns : columns_) reals = std::max(reals, columns.stage.workspace_reals());
  return (reals * sizeof(Real) + 63) / 64 * 64;
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
  for (const Columns& columns : columns_) {
    for (std::int64_t o = 0; o < columns.outer; ++o)
      columns.stage.transform(to + o * columns.points, to + o * columns.points, inverse, scratch);
  }
  if (inverse || scale == 1) return;
  for (std::int64_t row = 0; row < rows; ++row)
    std::for_each(to + row * pitch, to + row * pitch + row_points_, [&](auto& value) { value *= scale; });
}

template class HostSlab<float>;
template class HostSlab<double>;

}  // namespace sfft::detail
