// SPDX-License-Identifier: Apache-2.0
// Copies each set as one box: a row's bytes × the rows of a set × the frames. The copy engine then reads at
// full bus speed, where kernels request single sectors.
#include "kernels/cuda/stages/row_set.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace sfft::detail::cuda {

std::int64_t RowSet::bytes_in_place(std::size_t element) const noexcept {
  constexpr std::int64_t kSector = 32;
  const std::int64_t in_row = (row_elements * static_cast<std::int64_t>(element) + kSector - 1) / kSector;
  return std::min(delays * row_samples, static_cast<std::int64_t>(starts.size()) * in_row) * rows * kSector;
}

std::size_t fetched_word(const RowSet& set, const void* frames, std::size_t element) noexcept {
  std::uintptr_t all = reinterpret_cast<std::uintptr_t>(frames);
  // Steps, starts and compact frames are multiples of rows.
  all |= static_cast<std::uintptr_t>(set.row_elements) * element;
  for (const std::size_t word : {16, 8, 4}) {
    if (all % word == 0) return word;
  }
  return 0;
}

void copy_rows(const RowSet& set, const void* frames, std::size_t element, int count, void* compact,
               Stream stream) {
  const std::size_t width = static_cast<std::size_t>(set.row_elements) * element;
  const auto rows = static_cast<std::size_t>(set.rows);
  const auto compact_rows = static_cast<std::size_t>(set.copied_rows() + set.witness_rows);
  for (std::size_t i = 0; i < set.starts.size(); ++i) {
    const std::size_t pitch = static_cast<std::size_t>(set.step) * element;
    cudaMemcpy3DParms box{};
    box.srcPtr = make_cudaPitchedPtr(const_cast<void*>(frames), pitch, pitch, rows);
    box.srcPos = make_cudaPos(static_cast<std::size_t>(set.starts[i]) * element, 0, 0);
    box.dstPtr = make_cudaPitchedPtr(compact, width, width, compact_rows);
    box.dstPos = make_cudaPos(0, i * rows, 0);
    box.extent = make_cudaExtent(width, rows, static_cast<std::size_t>(count));
    box.kind = cudaMemcpyHostToDevice;
    cudaError_t status = cudaMemcpy3DAsync(&box, stream);
    if (status == cudaErrorInvalidValue && count > 1) {  // the frames are adjacent, but allocated one by one
      static_cast<void>(cudaGetLastError());
      box.extent.depth = 1;
      status = cudaSuccess;
      for (int frame = 0; frame < count && status == cudaSuccess; ++frame) {
        status = cudaMemcpy3DAsync(&box, stream);
        box.srcPtr.ptr = static_cast<std::byte*>(box.srcPtr.ptr) + rows * pitch;
        box.dstPtr.ptr = static_cast<std::byte*>(box.dstPtr.ptr) + compact_rows * width;
      }
    }
    check(status, "copying rows to the GPU");
  }
}

void copy_witness(const RowSet& set, const void* gathered, std::size_t element, std::int64_t samples,
                  int count, void* compact, Stream stream) {
  if (samples == 0) return;
  const std::size_t width = static_cast<std::size_t>(samples) * element;
  std::byte* to =
      static_cast<std::byte*>(compact) + static_cast<std::size_t>(set.copied_elements()) * element;
  check(cudaMemcpy2DAsync(to, static_cast<std::size_t>(set.compact_elements()) * element, gathered, width,
                          width, static_cast<std::size_t>(count), cudaMemcpyHostToDevice, stream),
        "copying check samples to the GPU");
}

}  // namespace sfft::detail::cuda
