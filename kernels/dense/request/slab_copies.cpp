// SPDX-License-Identifier: Apache-2.0
// A slab of an array consists of rows of bytes at a pitch. A cut along the slowest dimension gives one row; a
// cut along the next dimension gives one row per index of the slowest.
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/request/slab_runner.hpp"

namespace sfft::detail {

namespace {

/// Copies all slabs concurrently, each in a stream of its device.
template <class Copy>
void copy_all(const Shape& whole, std::size_t element, const std::vector<dense::Slab>& slabs,
              const Copy& copy) {
  std::vector<cuda::OwnedStream> streams;
  const auto at = [&](int d) { return d < whole.rank() ? static_cast<std::size_t>(whole[d]) : 1; };
  for (std::size_t s = 0; s < slabs.size(); ++s) {
    const dense::Slab& slab = slabs[s];
    const cuda::DeviceScope scope(slab.gpu);
    streams.emplace_back();
    const auto extent = [&](std::size_t d) { return static_cast<std::size_t>(slab.extent[d]); };
    const auto begin = [&](std::size_t d) { return static_cast<std::size_t>(slab.begin[d]); };
    const std::size_t pitch = at(1) * at(2) * element;
    const std::size_t first = static_cast<std::size_t>(slab.first_signal) * at(0) * pitch + begin(0) * pitch +
                              begin(1) * at(2) * element;
    const std::size_t width = extent(1) * at(2) * element;
    const std::size_t rows = static_cast<std::size_t>(slab.signals) * extent(0);
    if (rows > 0 && width > 0) copy(s, first, pitch, width, rows, streams.back().get());
  }
  for (const cuda::OwnedStream& stream : streams) cuda::synchronize(stream.get());
}

}  // namespace

void copy_to_slabs(const void* whole, const Shape& whole_extents, std::size_t element_bytes,
                   const std::vector<dense::Slab>& slabs, std::span<void* const> parts) {
  copy_all(whole_extents, element_bytes, slabs,
           [&](std::size_t s, std::size_t first, std::size_t pitch, std::size_t width, std::size_t rows,
               cuda::Stream stream) {
             cuda::copy_rows(static_cast<std::byte*>(parts[s]), width,
                             static_cast<const std::byte*>(whole) + first, pitch, width, rows, stream);
           });
}

void copy_from_slabs(void* whole, const Shape& whole_extents, std::size_t element_bytes,
                     const std::vector<dense::Slab>& slabs, std::span<const void* const> parts) {
  copy_all(whole_extents, element_bytes, slabs,
           [&](std::size_t s, std::size_t first, std::size_t pitch, std::size_t width, std::size_t rows,
               cuda::Stream stream) {
             cuda::copy_rows(static_cast<std::byte*>(whole) + first, pitch,
                             static_cast<const std::byte*>(parts[s]), width, width, rows, stream);
           });
}

}  // namespace sfft::detail
