// SPDX-License-Identifier: Apache-2.0
// Between the passes, real and imaginary parts are interleaved; blocks are split for scanning.
#include "template/learning/grid_passes.hpp"

#include <algorithm>

#include "kernels/cpu/stages/layout.hpp"

namespace sfft::detail {

namespace {

using Complex = std::complex<double>;

constexpr std::int64_t kStretch = 4096;  ///< elements of a run, which stay in the L2 cache

Complex* spectrum_at(std::byte* memory) {
  return reinterpret_cast<Complex*>(memory);
}

}  // namespace

std::size_t GridPasses::between_bytes() const noexcept {
  return static_cast<std::size_t>(fft_.slabs() * fft_.slab_points()) * sizeof(Complex);
}

std::size_t GridPasses::scratch_bytes() const noexcept {
  const auto offsets = static_cast<std::size_t>(fft_.slabs() * fft_.block_columns()) * sizeof(std::int64_t);
  return fft_.scratch_bytes() + offsets;
}

void GridPasses::first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
                       std::byte* scratch) const {
  fft_.slab(part, signal, type, spectrum_at(between), scratch);
}

void GridPasses::second(std::int64_t part, std::byte* between, std::byte* scratch,
                        PartialSelection& selection) const {
  const GridFft::Block block = fft_.block(part, spectrum_at(between), scratch);
  if (part == 0) selection.mean = {block.re[0], block.im[0]};
  cells_.scan({block.re, block.im, block.first_column, fft_.block_columns(), block.repeated},
              reinterpret_cast<std::int64_t*>(scratch + fft_.scratch_bytes()), selection);
}

void GridPasses::store(std::int64_t part, std::byte* between, std::byte* scratch, Complex* spectrum) const {
  const GridFft::Block block = fft_.block(part, spectrum_at(between), scratch);
  const auto interleave = cpu::layout_kernels<double>().interleave;
  const std::int64_t width = fft_.block_columns();
  for (std::int64_t m = 0; m < fft_.slabs(); ++m) {
    const std::int64_t from = m * width + block.repeated;
    Complex* const to = spectrum + m * fft_.slab_points() + block.first_column + block.repeated;
    interleave(block.re + from, block.im + from, width - block.repeated, 1, reinterpret_cast<double*>(to));
  }
}

std::int64_t WholePasses::second_parts() const noexcept {
  return (cells_.columns() + kStretch - 1) / kStretch;
}

std::size_t WholePasses::between_bytes() const noexcept {
  return static_cast<std::size_t>(cells_.columns()) * sizeof(Complex);
}

std::size_t WholePasses::scratch_bytes() const noexcept {
  return std::max(engine_->workspace_bytes(1), 3 * static_cast<std::size_t>(kStretch) * sizeof(double));
}

void WholePasses::first(std::int64_t, const void* signal, ElementType type, std::byte* between,
                        std::byte* scratch) const {
  engine_->forward(signal, type, spectrum_at(between), {scratch, nullptr});
}

void WholePasses::second(std::int64_t part, std::byte* between, std::byte* scratch,
                         PartialSelection& selection) const {
  constexpr std::size_t kDouble = 3;  // index of double among the layouts' types
  const std::int64_t first = part * kStretch;
  const std::int64_t width = std::min(kStretch, cells_.columns() - first);
  auto* const re = reinterpret_cast<double*>(scratch);
  auto* const im = re + kStretch;
  cpu::layout_kernels<double>().deinterleave[kDouble](spectrum_at(between) + first, width, re, im);
  if (part == 0) selection.mean = {re[0], im[0]};
  cells_.scan({re, im, first, width, 0}, reinterpret_cast<std::int64_t*>(im + kStretch), selection);
}

void WholePasses::store(std::int64_t part, std::byte* between, std::byte*, Complex* spectrum) const {
  const std::int64_t first = part * kStretch;
  std::copy_n(spectrum_at(between) + first, std::min(kStretch, cells_.columns() - first), spectrum + first);
}

}  // namespace sfft::detail
