// Chooses the instruction set of the layout changes.
#include "kernels/dense/layout.hpp"

#include "kernels/cpu/isa.hpp"

namespace sfft::detail {

#define SFFT_DECLARE_TABLES(isa)                               \
  namespace cpu::isa {                                         \
  const LayoutKernels<float>& layout_table_float() noexcept;   \
  const LayoutKernels<double>& layout_table_double() noexcept; \
  }
SFFT_DECLARE_TABLES(baseline)
#if defined(SFFT_X86)
SFFT_DECLARE_TABLES(avx2)
SFFT_DECLARE_TABLES(avx512)
#endif
#undef SFFT_DECLARE_TABLES

template <>
const LayoutKernels<float>& layout_kernels<float>() noexcept {
  SFFT_DISPATCH(layout_table_float())
}
template <>
const LayoutKernels<double>& layout_kernels<double>() noexcept {
  SFFT_DISPATCH(layout_table_double())
}

}  // namespace sfft::detail
