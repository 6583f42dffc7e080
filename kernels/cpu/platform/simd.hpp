// SPDX-License-Identifier: Apache-2.0
// Vectors of SFFT_VECTOR_BYTES in the namespace of the instruction set being compiled. Only kernel sources
// (cmake/isa.cmake) include this.
#pragma once

#include <cstdint>

#if !defined(SFFT_ISA) || !defined(SFFT_VECTOR_BYTES)
#error "simd.hpp belongs to sources added with sfft_isa_sources()"
#endif

namespace sfft::detail::cpu::SFFT_ISA {

template <class Real>
struct Simd {
  static constexpr int kLanes = SFFT_VECTOR_BYTES / static_cast<int>(sizeof(Real));
  typedef Real Vector __attribute__((vector_size(SFFT_VECTOR_BYTES)));
  typedef Real Unaligned __attribute__((vector_size(SFFT_VECTOR_BYTES), aligned(sizeof(Real)), may_alias));

  static Vector load(const Real* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static void store(Real* to, Vector value) { *reinterpret_cast<Unaligned*>(to) = value; }
  static Vector broadcast(Real value) { return value - Vector{}; }
};

}  // namespace sfft::detail::cpu::SFFT_ISA
