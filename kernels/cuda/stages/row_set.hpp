// SPDX-License-Identifier: Apache-2.0
// The rows of an image that contain a comb's samples, and functions that copy only those rows to the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// A compact frame holds one set of rows after another, each as long as the frame's, followed by the
/// witness's samples.
struct RowSet {
  std::vector<std::int64_t> starts;  ///< linear index of each set's first row; delays may share a set
  std::int64_t rows = 0;             ///< rows per set
  std::int64_t step = 0;             ///< elements from one row of a set to the next; rows·step is a frame
  std::int64_t row_elements = 0;
  std::int64_t witness_rows = 0;  ///< rows that the witness's samples would fill
  std::int64_t delays = 0;        ///< grids of samples in all sets
  std::int64_t row_samples = 0;   ///< samples of one grid in a row

  bool empty() const noexcept { return starts.empty(); }
  std::int64_t copied_rows() const noexcept { return static_cast<std::int64_t>(starts.size()) * rows; }
  std::int64_t copied_elements() const noexcept { return copied_rows() * row_elements; }
  std::int64_t compact_elements() const noexcept { return copied_elements() + witness_rows * row_elements; }
  /// Bus traffic in bytes if kernels read the samples in place: the bus moves 32 bytes at a time.
  std::int64_t bytes_in_place(std::size_t element) const noexcept;
};

/// The linear indices of a plan's witness, in device memory.
struct RowWitness {
  const std::int64_t* samples = nullptr;
  int count = 0;
};

/// Size in bytes of the words in which a kernel can read rows at this address: 16, 8 or 4; 0: the rows are
/// misaligned and need copy_rows().
std::size_t fetched_word(const RowSet& set, const void* frames, std::size_t element) noexcept;
/// Launches a kernel that reads the sets of `frames` frames, adjacent in page-locked memory, and the
/// witness's samples into compact frames; stream-ordered. `frames` is their device address.
void launch_fetch_rows(const RowSet& set, const RowWitness& witness, const void* frames, std::size_t element,
                       int count, void* compact, Stream stream);

/// Copies the sets of `frames` frames, adjacent in page-locked memory, to compact frames; stream-ordered.
void copy_rows(const RowSet& set, const void* frames, std::size_t element, int count, void* compact,
               Stream stream);
/// Copies `samples` witness samples of each frame, gathered by the host, to their places in compact frames.
void copy_witness(const RowSet& set, const void* gathered, std::size_t element, std::int64_t samples,
                  int count, void* compact, Stream stream);

}  // namespace sfft::detail::cuda
