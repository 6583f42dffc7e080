// SPDX-License-Identifier: Apache-2.0
// A slab of an array consists of rows of bytes at a pitch. A cut along the slowest dimension gives one row; a
// cut along the next dimension gives one row per index of the slowest.
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/request/several/slab_runner.hpp"

namespace sfft::detail {

namespace {

/// Copies all slabs concurrently, each in a queue of its device: calls copy(slab, its rows in the array at
/// `whole`, queue).
template <class Copy>
void copy_all(const void* whole, const Shape& extents, std::size_t element_bytes,
              const std::vector<dense::Slab>& slabs, const Copy& copy) {
  std::vector<cuda::Queue> queues;
  const auto at = [&](int d) { return d < extents.rank() ? extents[d] : 1; };
  for (std::size_t s = 0; s < slabs.size(); ++s) {
    const dense::Slab& slab = slabs[s];
    const cuda::DeviceScope scope(slab.gpu);
    queues.emplace_back();
    const auto element = static_cast<std::int64_t>(element_bytes);
    const std::int64_t pitch = at(1) * at(2) * element;
    const std::int64_t first =
        (slab.first_signal * at(0) + slab.begin[0]) * pitch + slab.begin[1] * at(2) * element;
    const std::int64_t width = slab.extent[1] * at(2) * element, rows = slab.signals * slab.extent[0];
    auto* const begin = static_cast<std::byte*>(const_cast<void*>(whole)) + first;
    if (rows > 0 && width > 0) copy(s, Rows{begin, pitch, width, rows}, queues.back());
  }
  for (cuda::Queue& queue : queues) queue.wait();
}

}  // namespace

void copy_to_slabs(const void* whole, const Shape& whole_extents, std::size_t element_bytes,
                   const std::vector<dense::Slab>& slabs, std::span<void* const> parts) {
  copy_all(whole, whole_extents, element_bytes, slabs, [&](std::size_t s, const Rows& rows, Queue& queue) {
    queue.copy(rows.packed_at(static_cast<std::byte*>(parts[s])), rows);
  });
}

void copy_from_slabs(void* whole, const Shape& whole_extents, std::size_t element_bytes,
                     const std::vector<dense::Slab>& slabs, std::span<const void* const> parts) {
  copy_all(whole, whole_extents, element_bytes, slabs, [&](std::size_t s, const Rows& rows, Queue& queue) {
    queue.copy(rows, rows.packed_at(static_cast<std::byte*>(const_cast<void*>(parts[s]))));
  });
}

}  // namespace sfft::detail
