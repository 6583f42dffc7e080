// SPDX-License-Identifier: Apache-2.0
// Chooses the small FFT's kernels for the machine's instruction set, or for a lower one if the caller wants
// it.
#include <algorithm>

#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/cpu/small_fft/small_fft_kernels.hpp"

namespace sfft::detail::cpu {

#define SFFT_DECLARE(isa)                                           \
  namespace isa {                                                   \
  const SmallFftKernels<float>& small_fft_table_float() noexcept;   \
  const SmallFftKernels<double>& small_fft_table_double() noexcept; \
  }
SFFT_FOR_EVERY_ISA(SFFT_DECLARE)
#undef SFFT_DECLARE

template <>
const SmallFftKernels<float>& small_fft_kernels<float>(Isa isa) noexcept {
#if defined(SFFT_X86)
  if (std::min(isa, best_isa()) == Isa::avx512) return avx512::small_fft_table_float();
  if (std::min(isa, best_isa()) == Isa::avx2) return avx2::small_fft_table_float();
#endif
  static_cast<void>(isa);
  return baseline::small_fft_table_float();
}

template <>
const SmallFftKernels<double>& small_fft_kernels<double>(Isa isa) noexcept {
#if defined(SFFT_X86)
  if (std::min(isa, best_isa()) == Isa::avx512) return avx512::small_fft_table_double();
  if (std::min(isa, best_isa()) == Isa::avx2) return avx2::small_fft_table_double();
#endif
  static_cast<void>(isa);
  return baseline::small_fft_table_double();
}

}  // namespace sfft::detail::cpu
