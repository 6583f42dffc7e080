// SPDX-License-Identifier: Apache-2.0
// Asks the processor once, then lets the environment variable SFFT_ISA lower the answer.
#include "kernels/cpu/platform/isa.hpp"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace sfft::detail::cpu {

namespace {

Isa detect() noexcept {
  Isa best = Isa::baseline;
#if defined(SFFT_X86)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = Isa::avx2;
  if (best == Isa::avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    best = Isa::avx512;
  }
#endif
  if (const char* asked = std::getenv("SFFT_ISA")) {
    for (const Isa lower : {Isa::baseline, Isa::avx2}) {
      if (std::strcmp(asked, to_string(lower)) == 0 && lower < best) best = lower;
    }
  }
  return best;
}

}  // namespace

Isa best_isa() noexcept {
  static const Isa isa = detect();
  return isa;
}

const char* to_string(Isa isa) noexcept {
  switch (isa) {
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    default:
      return "baseline";
  }
}

}  // namespace sfft::detail::cpu
