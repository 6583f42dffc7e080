// SPDX-License-Identifier: Apache-2.0
// The passes for 2D and 3D signals, and for 1D signals that LinePasses does not support.
#pragma once

#include "kernels/dense/cpu/grid_fft.hpp"
#include "kernels/dense/problem/engine.hpp"
#include "template/learning/block_cells.hpp"
#include "template/learning/spectrum_passes.hpp"

namespace sfft::detail {

/// Processes slabs, then blocks of columns.
class GridPasses final : public SpectrumPasses {
 public:
  GridPasses(const Shape& shape, bool real) : cells_(shape, real), fft_(shape, real) {}

  std::int64_t first_parts() const noexcept override { return fft_.slabs(); }
  std::int64_t second_parts() const noexcept override { return fft_.blocks(); }
  std::size_t between_bytes() const noexcept override;
  std::size_t scratch_bytes() const noexcept override;
  void first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
             std::byte* scratch) const override;
  void second(std::int64_t part, std::byte* between, std::byte* scratch,
              PartialSelection& selection) const override;
  void store(std::int64_t part, std::byte* between, std::byte* scratch,
             std::complex<double>* spectrum) const override;

 private:
  BlockCells cells_;
  GridFft fft_;
};

/// The passes for any 1D signal: the whole transform, then runs of its spectrum.
class WholePasses final : public SpectrumPasses {
 public:
  WholePasses(const Shape& shape, bool real)
      : cells_(shape, real), engine_(make_built_in_engine<double>(shape, real)) {}

  std::int64_t first_parts() const noexcept override { return 1; }
  std::int64_t second_parts() const noexcept override;
  std::size_t between_bytes() const noexcept override;
  std::size_t scratch_bytes() const noexcept override;
  void first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
             std::byte* scratch) const override;
  void second(std::int64_t part, std::byte* between, std::byte* scratch,
              PartialSelection& selection) const override;
  void store(std::int64_t part, std::byte* between, std::byte* scratch,
             std::complex<double>* spectrum) const override;

 private:
  BlockCells cells_;
  std::unique_ptr<const DenseEngine<double>> engine_;
};

}  // namespace sfft::detail
