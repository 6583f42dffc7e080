// SPDX-License-Identifier: Apache-2.0
// Asks the processor once, then lets the environment variable SFFT_ISA lower the answer.
#include "kernels/cpu/platform/isa.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#if defined(SFFT_X86)
#include <cpuid.h>
#endif

namespace sfft::detail::cpu {

namespace {

#if defined(SFFT_X86)
/// Half-precision conversions; not every compiler's __builtin_cpu_supports() knows them.
bool has_f16c() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & static_cast<unsigned>(bit_F16C)) != 0;
}
#endif

Isa detect() noexcept {
  Isa best = Isa::baseline;
#if defined(SFFT_X86)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c()) best = Isa::avx2;
  if (best == Isa::avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    best = Isa::avx512;
  }
#endif
  if (const char* lowered = std::getenv("SFFT_ISA")) {
    if (std::strcmp(lowered, "baseline") == 0) best = Isa::baseline;
    if (std::strcmp(lowered, "avx2") == 0) best = std::min(best, Isa::avx2);
  }
  return best;
}

}  // namespace

Isa best_isa() noexcept {
  static const Isa isa = detect();
  return isa;
}

const char* isa_name(Isa isa) noexcept {
  switch (isa) {
    case Isa::avx512:
      return "AVX-512";
    case Isa::avx2:
      return "AVX2";
    case Isa::baseline:
      break;
  }
#if defined(__SSE2__)
  return "SSE2";
#elif defined(__aarch64__)
  return "NEON";
#else
  return "baseline";
#endif
}

}  // namespace sfft::detail::cpu
