// Which instruction set the hot loops use on this machine.
#pragma once

namespace sfft::detail::cpu {

enum class Isa { baseline, avx2, avx512 };

/// The best that the processor and this build have; the environment variable SFFT_ISA (baseline, avx2,
/// avx512) lowers it, which the tests use to run every variant. Decided once.
Isa best_isa() noexcept;
const char* to_string(Isa isa) noexcept;

/// Expands to a switch that returns `function` of the namespace of the instruction set in use:
///   const Table& table() { SFFT_DISPATCH(make_table()); }
/// where every kernel source defined `make_table` in sfft::detail::cpu::SFFT_ISA.
#if defined(SFFT_X86)
#define SFFT_DISPATCH(function)                    \
  switch (::sfft::detail::cpu::best_isa()) {       \
    case ::sfft::detail::cpu::Isa::avx512:         \
      return ::sfft::detail::cpu::avx512::function; \
    case ::sfft::detail::cpu::Isa::avx2:           \
      return ::sfft::detail::cpu::avx2::function;   \
    default:                                       \
      return ::sfft::detail::cpu::baseline::function; \
  }
#else
#define SFFT_DISPATCH(function) return ::sfft::detail::cpu::baseline::function;
#endif

}  // namespace sfft::detail::cpu
