// SPDX-License-Identifier: Apache-2.0
// Threads load several vectors before they store them: a link is limited by the bytes in flight.
#include <algorithm>
#include <array>

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/exchange.hpp"

namespace sfft::detail::cuda {

namespace {

constexpr int kMaxPieces = 16;  // per launch: the arguments are passed by value
constexpr int kAtOnce = 4;      // vectors that a thread loads together

/// `Count` values that are loaded and stored together.
template <class Real, int Count>
struct alignas(2 * sizeof(Real) * Count) Pack {
  Complex<Real> values[Count];
};

/// Pieces whose lengths count packs.
template <class Value>
struct Rows {
  const Value* from;
  Value* to;
  std::int64_t from_pitch, to_pitch;
  unsigned width, total;  ///< number of packs in a row, and in all rows
};
template <class Value>
struct AllRows {
  Rows<Value> pieces[kMaxPieces];
  int count;
};

template <class Real, int Count>
__global__ void exchange_kernel(const AllRows<Pack<Real, Count>> all, const Real scale) {
  const Rows<Pack<Real, Count>> rows = all.pieces[blockIdx.x % static_cast<unsigned>(all.count)];
  const unsigned blocks = gridDim.x / static_cast<unsigned>(all.count);
  const unsigned block = blockIdx.x / static_cast<unsigned>(all.count);
  const std::int64_t step = static_cast<std::int64_t>(blocks) * blockDim.x * kAtOnce;
  for (std::int64_t first = static_cast<std::int64_t>(block) * blockDim.x * kAtOnce; first < rows.total;
       first += step) {
    Pack<Real, Count> packs[kAtOnce];
    Pack<Real, Count>* to[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const std::int64_t at = first + i * static_cast<int>(blockDim.x) + threadIdx.x;
      to[i] = nullptr;
      if (at >= rows.total) continue;
      const unsigned row = static_cast<unsigned>(at) / rows.width;
      const unsigned column = static_cast<unsigned>(at) - row * rows.width;
      packs[i] = rows.from[row * rows.from_pitch + column];
      to[i] = rows.to + row * rows.to_pitch + column;
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (to[i] == nullptr) continue;
#pragma unroll
      for (int v = 0; v < Count; ++v) {
        packs[i].values[v].re *= scale;
        packs[i].values[v].im *= scale;
      }
      *to[i] = packs[i];
    }
  }
}

template <class Real, int Count>
bool packs(const ExchangePiece<Real>& piece) {
  const auto aligned = [](const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % sizeof(Pack<Real, Count>) == 0;
  };
  return piece.width % Count == 0 && piece.from_pitch % Count == 0 && piece.to_pitch % Count == 0 &&
         aligned(piece.from) && aligned(piece.to);
}

template <class Real, int Count>
void launch(const ExchangePiece<Real>* pieces, std::size_t count, Real scale, int blocks, Stream stream) {
  using Value = Pack<Real, Count>;
  AllRows<Value> all{};
  for (std::size_t p = 0; p < count; ++p) {
    const ExchangePiece<Real>& piece = pieces[p];
    all.pieces[all.count++] = {reinterpret_cast<const Value*>(piece.from),
                               reinterpret_cast<Value*>(piece.to),
                               piece.from_pitch / Count,
                               piece.to_pitch / Count,
                               static_cast<unsigned>(piece.width / Count),
                               static_cast<unsigned>(piece.width / Count * piece.rows)};
  }
  const int each = std::max(1, blocks / all.count);
  exchange_kernel<Real, Count><<<static_cast<unsigned>(each * all.count), kThreads, 0, stream>>>(all, scale);
  check_launch("exchange");
}

}  // namespace

template <class Real>
void launch_exchange(const ExchangePiece<Real>* pieces, std::size_t count, double scale, int blocks,
                     Stream stream) {
  constexpr int kPacked = static_cast<int>(16 / sizeof(Complex<Real>));
  constexpr std::int64_t kMaxValues = std::int64_t{1} << 31;  // per piece, because indices have 32 bits
  std::array<ExchangePiece<Real>, kMaxPieces> part;
  std::size_t filled = 0;
  const auto flush = [&] {
    if (filled == 0) return;
    const bool packed =
        std::all_of(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(filled), packs<Real, kPacked>);
    packed ? launch<Real, kPacked>(part.data(), filled, static_cast<Real>(scale), blocks, stream)
           : launch<Real, 1>(part.data(), filled, static_cast<Real>(scale), blocks, stream);
    filled = 0;
  };
  for (const ExchangePiece<Real>* whole = pieces; whole != pieces + count; ++whole) {
    const std::int64_t rows = std::max<std::int64_t>(1, kMaxValues / whole->width);
    for (std::int64_t first = 0; first < whole->rows; first += rows) {
      ExchangePiece<Real>& piece = part[filled];
      piece = *whole;
      piece.from += first * whole->from_pitch;
      piece.to += first * whole->to_pitch;
      piece.rows = std::min(rows, whole->rows - first);
      if (++filled == kMaxPieces) flush();
    }
  }
  flush();
}

template void launch_exchange(const ExchangePiece<float>*, std::size_t, double, int, Stream);
template void launch_exchange(const ExchangePiece<double>*, std::size_t, double, int, Stream);

}  // namespace sfft::detail::cuda
