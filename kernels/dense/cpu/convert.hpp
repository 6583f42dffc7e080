// SPDX-License-Identifier: Apache-2.0
// Copies signals of any element type to real or interleaved complex values in host memory.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "kernels/base/math/elements.hpp"

namespace sfft::detail {

template <class Real>
void copy_as_real(const void* data, ElementType type, std::int64_t count, Real* to) {
  with_elements(data, type, [&](const auto* from) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(*from)>>) {
      std::transform(from, from + count, to, [](auto value) { return static_cast<Real>(value); });
    }
  });
}

template <class Real>
void copy_as_complex(const void* data, ElementType type, std::int64_t count, std::complex<Real>* to) {
  with_elements(data, type, [&](const auto* from) {
    std::transform(from, from + count, to, [](auto value) {
      if constexpr (std::is_arithmetic_v<decltype(value)>) {
        return std::complex<Real>(static_cast<Real>(value), 0);
      } else {
        return std::complex<Real>(static_cast<Real>(value.re), static_cast<Real>(value.im));
      }
    });
  });
}

}  // namespace sfft::detail
