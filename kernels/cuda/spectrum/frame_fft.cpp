// SPDX-License-Identifier: Apache-2.0
// Lays out the lines of every dimension in blocks: enough blocks to fill the GPU, and adjacent columns, so
// that a block accesses whole sectors.
#include "kernels/cuda/spectrum/frame_fft.hpp"

#include <algorithm>

#include "kernels/cuda/small_fft/small_fft.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

/// Beyond this many points, planning cuFFT pays off: its kernels transform long frames in less time.
constexpr std::int64_t kMaxPoints = std::int64_t{1} << 24;
/// A direct sum over a prime factor p takes p times as long per point as a pass of butterflies.
constexpr std::int64_t kLargestPrime = 127;

constexpr int kMaxThreads = 256;
constexpr int kMinThreads = 64;
/// Columns that fill two sectors; an element has 16 bytes.
constexpr int kColumns = 4;
/// The number of points per block that keeps all threads busy.
constexpr std::int64_t kBlockPoints = 2048;
constexpr int kMaxLanes = 64;

std::int64_t padded_lane_bytes(std::int64_t points) {
  // Two buffers, with one element of padding after every eight and up to eight between lanes (block_fft.cuh).
  return 2 * (points + points / 8 + 9) * static_cast<std::int64_t>(sizeof(Complex<double>));
}

bool fits(std::int64_t n, std::size_t shared_limit) {
  if (n < 1 || padded_lane_bytes(n) > static_cast<std::int64_t>(shared_limit)) return false;
  for (std::int64_t prime = 2; prime <= kLargestPrime && n > 1; ++prime) {
    while (n % prime == 0) n /= prime;
  }
  return n == 1;
}

}  // namespace

bool FrameFft::supports(const SpectrumExtents& extents, int device, std::int64_t frames) {
  const std::size_t limit = device_info(device).shared_bytes_per_block;
  std::int64_t points = 1;
  for (const std::int64_t n : extents.n) {
    if (!fits(n, limit)) return false;
    points *= n;
  }
  return points <= kMaxPoints / std::max<std::int64_t>(frames, 1);
}

FrameFft::FrameFft(const SpectrumExtents& extents, int device)
    : extents_(extents),
      shared_limit_(device_info(device).shared_bytes_per_block),
      multiprocessors_(device_info(device).multiprocessors) {
  const std::int64_t rows = extents.rows();
  add_step(rows, extents.n[2], 1, extents.half ? (rows + 1) / 2 : rows);
  std::int64_t inner = extents.row_points();
  std::int64_t outer = rows;
  for (int d = 1; d >= 0; --d) {
    const std::int64_t n = extents.n[d];
    outer /= n;
    // A single row has one-point columns, because the last step computes the powers.
    if (n > 1 || (d == 0 && steps_.size() == 1)) add_step(outer, n, inner, outer * inner);
    inner *= n;
  }
}

void FrameFft::add_step(std::int64_t outer, std::int64_t n, std::int64_t inner, std::int64_t lanes) {
  FrameFftStep step;
  step.fft = lay_out_schedule(&n, 1, true);
  step.outer = outer;
  step.inner = inner;
  step.lanes = lanes;
  step.table = table_size_;
  table_size_ += step.fft.table_size;
  const bool columns = !steps_.empty();
  const std::int64_t side_by_side = columns ? inner : lanes;
  const auto blocks = [&](int per_block) {
    const std::int64_t groups = (side_by_side + per_block - 1) / per_block;
    return columns ? outer * groups : groups;
  };
  int pitch = 1;
  const auto worthwhile = [&](int per_block) {
    if (per_block > kMaxLanes || per_block / 2 >= side_by_side) return false;
    if (fft_shared_bytes<double>(step.fft, per_block, pitch) > static_cast<std::int64_t>(shared_limit_) / 2)
      return false;
    if (columns && per_block == 2) return true;  // the columns fill a sector
    if (blocks(per_block) < multiprocessors_) return false;
    return (columns && per_block <= kColumns) || per_block * n <= kBlockPoints;
  };
  while (worthwhile(2 * step.lanes_per_block)) step.lanes_per_block *= 2;
  step.blocks = blocks(step.lanes_per_block);
  step.shared_bytes = fft_shared_bytes<double>(step.fft, step.lanes_per_block, step.pitch);
  std::int64_t work = n;
  if (step.fft.passes > 1) {
    work = 1;
    for (int i = 1; i < step.fft.passes; ++i) {
      const int radix = step.fft.pass[i].radix;
      work = std::max(work, has_butterfly(radix) ? n / radix : n);  // a sum has one thread per output
    }
  }
  work *= step.lanes_per_block;
  step.threads = static_cast<int>(std::clamp<std::int64_t>((work + 31) / 32 * 32, kMinThreads, kMaxThreads));
  steps_.push_back(step);
}

std::size_t FrameFft::workspace_bytes() const noexcept {
  return aligned(static_cast<std::size_t>(table_size_) * sizeof(Complex<double>));
}

void FrameFft::enqueue(const void* samples, Element type, std::complex<double>* spectrum, double* power,
                       double scale, std::byte* workspace, Stream stream) const {
  auto* table = reinterpret_cast<Complex<double>*>(workspace);
  auto* values = reinterpret_cast<Complex<double>*>(spectrum);
  if (table_size_ > 0) launch_frame_tables(steps_, table, table_size_, stream);
  launch_frame_rows(steps_[0], table + steps_[0].table, shared_limit_, {samples, type, extents_.half, scale},
                    values, stream);
  for (std::size_t i = 1; i < steps_.size(); ++i) {
    const bool last = i + 1 == steps_.size();
    launch_frame_columns(steps_[i], table + steps_[i].table, shared_limit_, extents_, values,
                         last ? power : nullptr, stream);
  }
}

}  // namespace sfft::detail::cuda
