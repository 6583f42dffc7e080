// SPDX-License-Identifier: Apache-2.0
// Takes two launches: each block sums one chunk of a cell, then one block per cell adds up its chunks.
#include "kernels/cuda/spectrum/cell_sums.hpp"

#include "kernels/base/math/log_cells.hpp"
#include "kernels/cuda/runtime/launch.hpp"

namespace sfft::detail::cuda {

namespace {

/// The number of elements that one block sums.
constexpr std::int64_t kChunk = 32 * kThreads;

/// One cell as the product of its members along each dimension.
struct Cell {
  LogCellMembers members[3];

  SFFT_HOST_DEVICE Cell(int index, const SpectrumExtents& extents) {
    for (int d = 2; d >= 0; --d) {
      const int cells = log_cells(extents.n[d]);
      members[d] = log_cell_members(index % cells, extents.n[d], extents.half && d == 2);
      index /= cells;
    }
  }
  SFFT_HOST_DEVICE std::int64_t count() const {
    return members[0].count() * members[1].count() * members[2].count();
  }
};

/// The number of frequencies of the whole spectrum that a stored element represents.
__device__ double multiplicity(const std::int64_t* f, const SpectrumExtents& extents) {
  if (!extents.half) return 1;
  for (int d = 0; d < 3; ++d) {
    if (f[d] != 0 && 2 * f[d] != extents.n[d]) return 2;
  }
  return 1;
}

/// The sum over a block's threads, in a fixed order; valid in thread 0.
__device__ double block_sum(double mine) {
  __shared__ double shared[kThreads];
  shared[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  return shared[0];
}

/// The last i with first[i] <= value.
__device__ int interval_of(const std::int64_t* first, int count, std::int64_t value) {
  int low = 0;
  int high = count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (first[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// Block b sums chunk b; cell c owns the chunks [first_chunk[c], first_chunk[c + 1]).
__global__ void sum_chunks(const double* values, const double* power, SpectrumExtents extents,
                           const std::int64_t* first_chunk, int cells, double* partial) {
  const std::int64_t chunk = blockIdx.x;
  const int index = interval_of(first_chunk, cells, chunk);
  const Cell cell(index, extents);
  const std::int64_t columns = cell.members[2].count();
  const std::int64_t planes = cell.members[1].count();
  const std::int64_t begin = (chunk - first_chunk[index]) * kChunk;
  const std::int64_t count = cell.count();
  const std::int64_t end = begin + kChunk < count ? begin + kChunk : count;
  double sum = 0;
  for (std::int64_t m = begin + threadIdx.x; m < end; m += kThreads) {
    const std::int64_t row = m / columns;
    const std::int64_t f[3] = {cell.members[0][row / planes], cell.members[1][row % planes],
                               cell.members[2][m % columns]};
    const std::int64_t i = (f[0] * extents.n[1] + f[1]) * extents.row_points() + f[2];
    if (!(power[i] < 0)) sum += multiplicity(f, extents) * values[i];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[chunk] = sum;
}

__global__ void sum_partials(const double* partial, const std::int64_t* first_chunk, double* sums) {
  double sum = 0;
  for (std::int64_t c = first_chunk[blockIdx.x] + threadIdx.x; c < first_chunk[blockIdx.x + 1]; c += kThreads)
    sum += partial[c];
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

}  // namespace

CellSums::CellSums(const SpectrumExtents& extents) : extents_(extents) {
  // The members of a cell are products of those along each dimension.
  std::vector<std::int64_t> counts[3];
  for (int d = 0; d < 3; ++d) {
    for (int c = 0; c < log_cells(extents.n[d]); ++c)
      counts[d].push_back(log_cell_members(c, extents.n[d], extents.half && d == 2).count());
  }
  first_chunk_.reserve(counts[0].size() * counts[1].size() * counts[2].size() + 1);
  first_chunk_.push_back(0);
  for (const std::int64_t planes : counts[0]) {
    for (const std::int64_t rows : counts[1]) {
      for (const std::int64_t columns : counts[2])
        first_chunk_.push_back(first_chunk_.back() + (planes * rows * columns + kChunk - 1) / kChunk);
    }
  }
}

void CellSums::enqueue(const double* values, const double* power, const std::int64_t* first_chunk,
                       double* partial, double* sums, Stream stream) const {
  sum_chunks<<<static_cast<unsigned>(chunks()), kThreads, 0, stream>>>(values, power, extents_, first_chunk,
                                                                       cells(), partial);
  check_launch("sum_chunks");
  sum_partials<<<static_cast<unsigned>(cells()), kThreads, 0, stream>>>(partial, first_chunk, sums);
  check_launch("sum_partials");
}

std::vector<double> cell_sums(const double* values, const double* power, const SpectrumExtents& extents,
                              Stream stream) {
  const CellSums plan(extents);
  const DeviceBuffer first(plan.first_chunk().size() * sizeof(std::int64_t));
  copy_to_device(first.data(), plan.first_chunk().data(), first.bytes(), stream);
  const DeviceBuffer partial(static_cast<std::size_t>(plan.chunks()) * sizeof(double));
  const DeviceBuffer sums(static_cast<std::size_t>(plan.cells()) * sizeof(double));
  plan.enqueue(values, power, first.as<std::int64_t>(), partial.as<double>(), sums.as<double>(), stream);
  std::vector<double> result(static_cast<std::size_t>(plan.cells()));
  copy_to_host(result.data(), sums.data(), sums.bytes(), stream);
  synchronize(stream);
  return result;
}

}  // namespace sfft::detail::cuda
