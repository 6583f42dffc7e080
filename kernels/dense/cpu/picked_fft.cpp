// SPDX-License-Identifier: Apache-2.0
// Transforms each row in cache and stores the kept columns in a table. The second pass reads and writes only
// that table.
#include "kernels/dense/cpu/picked_fft.hpp"

#include <algorithm>

#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

namespace {

std::int64_t stored_columns(const Shape& shape, bool real) {
  const std::int64_t last = shape[shape.rank() - 1];
  return real ? last / 2 + 1 : last;
}

std::vector<std::int64_t> columns_of(std::span<const std::int64_t> elements, std::int64_t stored) {
  std::vector<bool> kept(static_cast<std::size_t>(stored));
  for (const std::int64_t element : elements) kept[static_cast<std::size_t>(element % stored)] = true;
  std::vector<std::int64_t> columns;
  for (std::int64_t c = 0; c < stored; ++c) {
    if (kept[static_cast<std::size_t>(c)]) columns.push_back(c);
  }
  return columns;
}

/// Rounds up to whole cache lines, which also spares a column stage a narrower last block.
std::int64_t padded(std::size_t columns) {
  constexpr std::int64_t kLine = 16;
  return (static_cast<std::int64_t>(columns) + kLine - 1) / kLine * kLine;
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

template <class Real>
bool PickedFft<Real>::worthwhile(const Shape& shape, bool real, std::span<const std::int64_t> elements) {
  if (shape.rank() != 2 || shape[0] < 2) return false;
  const std::int64_t stored = stored_columns(shape, real);
  return 4 * padded(columns_of(elements, stored).size()) <= 3 * stored;
}

template <class Real>
PickedFft<Real>::PickedFft(const Shape& shape, bool real, std::span<const std::int64_t> elements)
    : rows_(shape[0]),
      row_points_(shape[1]),
      row_(row_points_, real),
      columns_(columns_of(elements, row_.spectrum_points())),
      width_(padded(columns_.size())),
      across_(rows_, width_) {
  for (const std::int64_t element : elements) {
    const auto column = std::lower_bound(columns_.begin(), columns_.end(), element % row_.spectrum_points()) -
                        columns_.begin();
    places_.push_back(element / row_.spectrum_points() * width_ + column);
  }
}

template <class Real>
std::size_t PickedFft<Real>::stage_bytes() const noexcept {
  return aligned(std::max(row_.workspace_reals(), across_.workspace_reals()) * sizeof(Real));
}
template <class Real>
std::size_t PickedFft<Real>::row_bytes() const noexcept {
  return aligned(static_cast<std::size_t>(row_.spectrum_points()) * sizeof(std::complex<Real>));
}

template <class Real>
std::size_t PickedFft<Real>::scratch_bytes() const noexcept {
  return stage_bytes() + row_bytes() +
         aligned(static_cast<std::size_t>(rows_ * width_) * sizeof(std::complex<Real>));
}

template <class Real>
void PickedFft<Real>::forward(const void* signal, ElementType type, std::span<std::complex<Real>> values,
                              std::byte* scratch) const {
  auto* const line = reinterpret_cast<std::complex<Real>*>(scratch + stage_bytes());
  auto* const table = reinterpret_cast<std::complex<Real>*>(scratch + stage_bytes() + row_bytes());
  const std::size_t signal_row = static_cast<std::size_t>(row_points_) * element_bytes(type);
  const std::size_t kept = columns_.size();
  LoopPolls polls(rows_);
  for (std::int64_t row = 0; row < rows_; ++row) {
    polls.poll();
    row_.forward(static_cast<const std::byte*>(signal) + static_cast<std::size_t>(row) * signal_row, type,
                 line, scratch);
    std::complex<Real>* const to = table + row * width_;
    for (std::size_t c = 0; c < kept; ++c) to[c] = line[columns_[c]];
    std::fill(to + kept, to + width_, std::complex<Real>());
  }
  across_.transform(table, table, false, scratch);
  for (std::size_t i = 0; i < places_.size(); ++i) values[i] = table[places_[i]];
}

template class PickedFft<float>;
template class PickedFft<double>;

}  // namespace sfft::detail
