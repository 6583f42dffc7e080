// SPDX-License-Identifier: Apache-2.0
// Takes one launch if two padded buffers of the grid fit in shared memory, else one launch per dimension.
// Splits a single longer dimension by Bailey's four-step method.
#include "kernels/cuda/small_fft/small_fft.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/math/index.hpp"
#include "kernels/cuda/runtime/convert.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

/// The maximum number of lines per block in a step: enough to access whole sectors, few enough that blocks
/// fill the GPU.
constexpr int kMaxLines = 8;
constexpr int kTargetThreads = 256;
constexpr std::int64_t kPreferredShared = 56 << 10;

/// The divisor of n closest to its root for which both factors fit.
template <class Real>
std::int64_t split(std::int64_t n, std::int64_t limit) {
  std::int64_t best = 0;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d == 0 && n / d <= limit) best = d;
  }
  return best;
}

}  // namespace

template <class Real>
SmallFft<Real>::SmallFft(const std::int64_t* grid, int rank, std::size_t shared_limit)
    : shared_limit_(shared_limit) {
  for (int d = 0; d < rank; ++d) points_ *= grid[d];
  // Two padded buffers.
  const auto limit = static_cast<std::int64_t>(shared_limit / (2 * sizeof(Complex<Real>)) * 7 / 8);
  if (points_ <= limit) {
    add_step(grid, rank, {.from = {points_, 0, 1}, .to = {points_, 0, 1}});
    return;
  }
  std::int64_t inner = 1;
  for (int d = rank - 1; d >= 0; inner *= grid[d--]) {
    const std::int64_t n = grid[d];
    const std::int64_t lines = points_ / n;
    if (n == 1) continue;
    if (n <= limit) {
      const LineMap map{n * inner, 1, inner};
      add_step(&n, 1, {lines, static_cast<int>(inner), map, map});
      continue;
    }
    const std::int64_t columns = split<Real>(n, limit);
    if (columns <= 1 || inner != 1 || rank != 1 || n >= (std::int64_t{1} << 24)) {
      throw Error(ErrorCode::not_sparse,
                  fmt::format("a bucket grid with a side of {} does not fit the GPU's shared memory", n));
    }
    // Four-step: n = rows·columns, x[j1·columns + j2] → X[k1 + rows·k2] (Bailey, 1990).
    const std::int64_t rows = n / columns;
    add_step(&rows, 1, {columns, static_cast<int>(columns), {n, 1, columns}, {n, 1, columns}, n});
    add_step(&columns, 1, {rows, static_cast<int>(rows), {n, columns, 1}, {n, 1, rows}});
    in_place_.back() = false;
  }
}

template <class Real>
void SmallFft<Real>::add_step(const std::int64_t* grid, int rank, const Lines& lines) {
  const FftTables tables = make_schedule(grid, rank);
  FftStep<Real> step;
  step.fft = tables.schedule;
  tables_.push_back(upload(as_device<Real>(tables.table)));
  step.table = tables_.back().as<Complex<Real>>();
  step.lines = lines.count;
  step.inner = lines.inner;
  step.by_inner = FastDivisor(static_cast<std::uint32_t>(lines.inner));
  step.from = lines.from;
  step.to = lines.to;
  if (const std::int64_t total = lines.total; total > 0) {
    std::vector<std::complex<double>> low, high;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(256, total); ++i)
      low.push_back(std::conj(unit_root(i, total)));
    for (std::int64_t i = 0; i * 256 < total; ++i) high.push_back(std::conj(unit_root(256 * i, total)));
    tables_.push_back(upload(as_device<Real>(low)));
    step.low = tables_.back().as<Complex<Real>>();
    tables_.push_back(upload(as_device<Real>(high)));
    step.high = tables_.back().as<Complex<Real>>();
  }
  int side = 1;
  int pitch = 1;
  const auto preferred = std::min<std::int64_t>(kPreferredShared, static_cast<std::int64_t>(shared_limit_));
  while (side < kMaxLines && 2 * side <= lines.count &&
         fft_shared_bytes<Real>(step.fft, 2 * side, pitch) <= preferred)
    side *= 2;
  step.lines_per_block = side;
  step.shared_bytes = fft_shared_bytes<Real>(step.fft, side, step.pitch);
  int work = 0;
  for (int i = 0; i < step.fft.passes; ++i)
    work = std::max(work, side * step.fft.points / step.fft.pass[i].radix);
  step.threads = std::clamp((work + 31) / 32 * 32, 32, kTargetThreads);
  steps_.push_back(step);
  in_place_.push_back(true);
}

template <class Real>
Complex<Real>* SmallFft<Real>::execute(Complex<Real>* data, Complex<Real>* scratch, std::int64_t count,
                                       Stream stream) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Complex<Real>* out = in_place_[i] ? data : scratch;
    launch_fft_step(steps_[i], data, out, count, stream);
    if (!in_place_[i]) std::swap(data, scratch);
  }
  return data;
}

template class SmallFft<float>;
template class SmallFft<double>;

}  // namespace sfft::detail::cuda
