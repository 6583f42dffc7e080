// Chooses the instruction set of the comb path's stages.
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/permute.hpp"
#include "kernels/cpu/recover.hpp"

namespace sfft::detail::cpu {

#define SFFT_DECLARE_TABLES(isa)                                  \
  namespace isa {                                                 \
  const PermuteKernels<float>& permute_table_float() noexcept;    \
  const PermuteKernels<double>& permute_table_double() noexcept;  \
  const RecoverKernels<float>& recover_table_float() noexcept;    \
  const RecoverKernels<double>& recover_table_double() noexcept;  \
  }
SFFT_DECLARE_TABLES(baseline)
#if defined(SFFT_X86)
SFFT_DECLARE_TABLES(avx2)
SFFT_DECLARE_TABLES(avx512)
#endif
#undef SFFT_DECLARE_TABLES

template <>
const PermuteKernels<float>& permute_kernels<float>() noexcept {
  SFFT_DISPATCH(permute_table_float())
}
template <>
const PermuteKernels<double>& permute_kernels<double>() noexcept {
  SFFT_DISPATCH(permute_table_double())
}
template <>
const RecoverKernels<float>& recover_kernels<float>() noexcept {
  SFFT_DISPATCH(recover_table_float())
}
template <>
const RecoverKernels<double>& recover_kernels<double>() noexcept {
  SFFT_DISPATCH(recover_table_double())
}

}  // namespace sfft::detail::cpu
