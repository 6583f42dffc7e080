// SPDX-License-Identifier: Apache-2.0
// The passes for long 1D signals: a TwoPassFft, and the cells of its coefficients.
#pragma once

#include <vector>

#include "kernels/dense/cpu/two_pass_fft.hpp"
#include "template/learning/spectrum_passes.hpp"

namespace sfft::detail {

class LinePasses final : public SpectrumPasses {
 public:
  LinePasses(std::int64_t points, bool real);

  std::int64_t first_parts() const noexcept override { return fft_.parts(); }
  std::int64_t second_parts() const noexcept override { return fft_.groups(); }
  bool parts_are_alike() const noexcept override { return true; }
  std::size_t between_bytes() const noexcept override { return fft_.intermediate_reals() * sizeof(double); }
  std::size_t scratch_bytes() const noexcept override { return offsets_bytes() + fft_scratch_bytes(); }
  void first(std::int64_t part, const void* signal, ElementType type, std::byte* between,
             std::byte* scratch) const override;
  void second(std::int64_t part, std::byte* between, std::byte* scratch,
              PartialSelection& selection) const override;
  void store(std::int64_t part, std::byte* between, std::byte* scratch,
             std::complex<double>* spectrum) const override;

 private:
  /// The end of a run of frequencies, as row + rows × column.
  struct RunEnd {
    std::int64_t column, row;
    std::int32_t cell;
  };

  std::size_t fft_scratch_bytes() const noexcept { return fft_.scratch_reals() * sizeof(double); }
  std::size_t offsets_bytes() const noexcept {
    return static_cast<std::size_t>(8 * fft_.columns()) * sizeof(std::int64_t);
  }
  /// Offers the frequencies of a row (lane) that holds its own conjugates.
  void scan_own_conjugates(const TwoPassFft<double>::Group& group, int lane,
                           PartialSelection& selection) const;

  std::int64_t points_;
  bool real_;
  TwoPassFft<double> fft_;
  std::vector<RunEnd> runs_;
};

}  // namespace sfft::detail
