// Chooses the instruction set of the flat-window path's stages.
#include "kernels/cpu/flat_recover.hpp"
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/subsample.hpp"

namespace sfft::detail::cpu {

#define SFFT_DECLARE_TABLES(isa)                                          \
  namespace isa {                                                         \
  const SubsampleKernels<float>& subsample_table_float() noexcept;        \
  const SubsampleKernels<double>& subsample_table_double() noexcept;      \
  const FlatRecoverKernels<float>& flat_recover_table_float() noexcept;   \
  const FlatRecoverKernels<double>& flat_recover_table_double() noexcept; \
  }
SFFT_DECLARE_TABLES(baseline)
#if defined(SFFT_X86)
SFFT_DECLARE_TABLES(avx2)
SFFT_DECLARE_TABLES(avx512)
#endif
#undef SFFT_DECLARE_TABLES

template <>
const SubsampleKernels<float>& subsample_kernels<float>() noexcept {
  SFFT_DISPATCH(subsample_table_float())
}
template <>
const SubsampleKernels<double>& subsample_kernels<double>() noexcept {
  SFFT_DISPATCH(subsample_table_double())
}
template <>
const FlatRecoverKernels<float>& flat_recover_kernels<float>() noexcept {
  SFFT_DISPATCH(flat_recover_table_float())
}
template <>
const FlatRecoverKernels<double>& flat_recover_kernels<double>() noexcept {
  SFFT_DISPATCH(flat_recover_table_double())
}

}  // namespace sfft::detail::cpu
