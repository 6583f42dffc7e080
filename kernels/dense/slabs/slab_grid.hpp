// SPDX-License-Identifier: Apache-2.0
// Divides the slabs of one transform among several devices.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/dense/problem/problem.hpp"

namespace sfft::detail {

/// A range of `count` elements that begins with `first`.
struct Share {
  std::int64_t first = 0, count = 0;
  friend bool operator==(const Share&, const Share&) = default;
};

/// Part `at` of n elements that are cut into `parts` parts. The first n mod `parts` parts have one element
/// more than the others.
Share share_of(std::int64_t n, std::int64_t parts, std::int64_t at) noexcept;

/// The grid of a transform for the exchange: `planes` planes, each of which becomes `across` rows of `inner`
/// values. Before the exchange a device has some planes, which it transforms. After it the device has some
/// rows of all planes, and transforms across the planes. In 2D, planes are rows, and inner is 1.
struct SlabGrid {
  std::int64_t planes = 1, across = 1, inner = 1;
  int devices = 1;

  /// The shape must be 2D or 3D.
  SlabGrid(const Shape& shape, bool real, int devices);

  /// The maximum number of devices for which every device gets some work.
  static int max_devices(const Shape& shape, bool real) noexcept;

  Share planes_of(int device) const noexcept { return share_of(planes, devices, device); }
  Share rows_of(int device) const noexcept { return share_of(across, devices, device); }
  /// Spectrum values in one plane, in the device's rows of one plane, in the device's planes, and in all of
  /// the device's rows.
  std::int64_t plane_values() const noexcept { return across * inner; }
  std::int64_t row_values(int device) const noexcept { return rows_of(device).count * inner; }
  std::int64_t planes_values(int device) const noexcept { return planes_of(device).count * plane_values(); }
  std::int64_t spectrum_values(int device) const noexcept { return planes * row_values(device); }
};

/// The shape of one plane.
Shape plane_shape(const Shape& shape);

/// The slab of each device, for one transform in slabs or for a batch of whole signals.
std::vector<dense::Slab> signal_slabs(const Shape& shape, const std::vector<int>& devices);
std::vector<dense::Slab> spectrum_slabs(const Shape& shape, bool real, const std::vector<int>& devices);
std::vector<dense::Slab> batch_slabs(const Shape& extents, std::int64_t batch,
                                     const std::vector<int>& devices);
/// The extents of a spectrum.
Shape spectrum_shape(const Shape& shape, bool real);

}  // namespace sfft::detail
