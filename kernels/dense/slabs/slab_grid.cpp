// SPDX-License-Identifier: Apache-2.0
// The shares of a dimension differ by at most one element. They have the order of the devices.
#include "kernels/dense/slabs/slab_grid.hpp"

#include <algorithm>

namespace sfft::detail {

namespace {

dense::Slab whole(const Shape& extents, int device) {
  dense::Slab slab;
  slab.gpu = device;
  std::copy(extents.extents().begin(), extents.extents().end(), slab.extent.begin());
  return slab;
}

/// Slabs along one dimension.
std::vector<dense::Slab> cut(const Shape& extents, std::size_t dimension, const std::vector<int>& devices) {
  std::vector<dense::Slab> slabs;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    dense::Slab slab = whole(extents, devices[d]);
    const Share share = share_of(slab.extent[dimension], static_cast<std::int64_t>(devices.size()),
                                 static_cast<std::int64_t>(d));
    slab.begin[dimension] = share.first;
    slab.extent[dimension] = share.count;
    slabs.push_back(slab);
  }
  return slabs;
}

}  // namespace

Share share_of(std::int64_t n, std::int64_t parts, std::int64_t at) noexcept {
  const std::int64_t min = n / parts, more = n % parts;
  return {at * min + std::min(at, more), min + (at < more ? 1 : 0)};
}

Shape spectrum_shape(const Shape& shape, bool real) {
  std::vector<std::int64_t> extents(shape.extents().begin(), shape.extents().end());
  if (real) extents.back() = extents.back() / 2 + 1;
  return Shape(std::span<const std::int64_t>(extents));
}

Shape plane_shape(const Shape& shape) {
  return Shape(shape.extents().subspan(1));
}

SlabGrid::SlabGrid(const Shape& shape, bool real, int count) : devices(count) {
  const Shape spectrum = spectrum_shape(shape, real);
  planes = spectrum[0];
  across = spectrum[1];
  if (shape.rank() == 3) inner = spectrum[2];
}

int SlabGrid::max_devices(const Shape& shape, bool real) noexcept {
  const std::int64_t second = shape.rank() == 2 && real ? shape[1] / 2 + 1 : shape[1];
  constexpr std::int64_t kMax = 1 << 20;
  return static_cast<int>(std::min({shape[0], second, kMax}));
}

std::vector<dense::Slab> signal_slabs(const Shape& shape, const std::vector<int>& devices) {
  return cut(shape, 0, devices);
}

std::vector<dense::Slab> spectrum_slabs(const Shape& shape, bool real, const std::vector<int>& devices) {
  return cut(spectrum_shape(shape, real), 1, devices);
}

std::vector<dense::Slab> batch_slabs(const Shape& extents, std::int64_t batch,
                                     const std::vector<int>& devices) {
  std::vector<dense::Slab> slabs;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    dense::Slab slab = whole(extents, devices[d]);
    const Share share =
        share_of(batch, static_cast<std::int64_t>(devices.size()), static_cast<std::int64_t>(d));
    slab.first_signal = share.first;
    slab.signals = share.count;
    slabs.push_back(slab);
  }
  return slabs;
}

}  // namespace sfft::detail
