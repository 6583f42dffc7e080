// SPDX-License-Identifier: Apache-2.0
// Which instruction set the hot loops use on this machine.
#pragma once

namespace sfft::detail::cpu {

/// `baseline` is what every processor of the architecture has: SSE2 on x86-64, NEON on aarch64. Both have
/// vectors of 16 bytes. The others exist on x86-64 only.
enum class Isa { baseline, avx2, avx512 };

/// The best instruction set that both processor and build support; decided once. The environment variable
/// SFFT_ISA (baseline, avx2, avx512) lowers it. Tests use this to run every variant.
Isa best_isa() noexcept;
/// "AVX-512", "AVX2", "SSE2", "NEON"; "baseline" on other architectures.
const char* isa_name(Isa isa = best_isa()) noexcept;

/// Expands to a switch that returns `function` from the namespace of the instruction set in use:
///   const Table& table() { SFFT_DISPATCH(make_table()); }
/// Every kernel source defines `make_table` in sfft::detail::cpu::SFFT_ISA.
#if defined(SFFT_X86)
#define SFFT_DISPATCH(function)                       \
  switch (::sfft::detail::cpu::best_isa()) {          \
    case ::sfft::detail::cpu::Isa::avx512:            \
      return ::sfft::detail::cpu::avx512::function;   \
    case ::sfft::detail::cpu::Isa::avx2:              \
      return ::sfft::detail::cpu::avx2::function;     \
    default:                                          \
      return ::sfft::detail::cpu::baseline::function; \
  }
#else
#define SFFT_DISPATCH(function) return ::sfft::detail::cpu::baseline::function;
#endif

#if defined(SFFT_X86)
#define SFFT_FOR_EVERY_ISA(declare) declare(baseline) declare(avx2) declare(avx512)
#else
#define SFFT_FOR_EVERY_ISA(declare) declare(baseline)
#endif

/// Defines `const Table<Real>& name_kernels<Real>()`, which returns the table of the instruction set in use.
/// Kernel sources define name_table_float() and name_table_double() for each instruction set. Declare these
/// with SFFT_FOR_EVERY_ISA in sfft::detail::cpu before you use this macro there.
#define SFFT_DEFINE_KERNELS(Table, name)                   \
  template <>                                              \
  const Table<float>& name##_kernels<float>() noexcept {   \
    SFFT_DISPATCH(name##_table_float())                    \
  }                                                        \
  template <>                                              \
  const Table<double>& name##_kernels<double>() noexcept { \
    SFFT_DISPATCH(name##_table_double())                   \
  }

}  // namespace sfft::detail::cpu
