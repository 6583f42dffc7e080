// SPDX-License-Identifier: Apache-2.0
// Index arithmetic of half spectra: for a real signal only the planes f_D = 0 and f_D = n_D/2 store both
// frequencies of a conjugate pair.
#include "template/learning/learning_spectrum.hpp"

#include "template/data/template_data.hpp"

namespace sfft::detail {

std::int64_t SpectrumLayout::row_points() const noexcept {
  const std::int64_t last = shape[shape.rank() - 1];
  return real ? last / 2 + 1 : last;
}

std::int64_t SpectrumLayout::points() const noexcept {
  return shape.points() / shape[shape.rank() - 1] * row_points();
}

std::int64_t SpectrumLayout::linear_index(std::int64_t i) const noexcept {
  const std::int64_t row = row_points();
  return i / row * shape[shape.rank() - 1] + i % row;
}

bool SpectrumLayout::representative(std::int64_t i) const noexcept {
  if (!real) return true;
  const std::int64_t column = i % row_points();
  const std::int64_t last = shape[shape.rank() - 1];
  if (column != 0 && 2 * column != last) return true;
  const std::int64_t flat = linear_index(i);
  return flat <= conjugate_index(shape, flat);
}

double SpectrumLayout::multiplicity(std::int64_t i) const noexcept {
  if (!real) return 1;
  const std::int64_t flat = linear_index(i);
  return conjugate_index(shape, flat) == flat ? 1 : 2;
}

std::int64_t SpectrumLayout::distinct() const noexcept {
  if (!real) return shape.points();
  std::int64_t own_conjugates = 1;  // frequencies whose every coordinate is 0 or n_d/2
  for (const std::int64_t extent : shape.extents()) own_conjugates *= extent % 2 == 0 ? 2 : 1;
  return (shape.points() + own_conjugates) / 2;
}

}  // namespace sfft::detail
