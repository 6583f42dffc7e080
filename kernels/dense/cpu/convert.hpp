// SPDX-License-Identifier: Apache-2.0
// Copies signals of any element type to real or interleaved complex values in host memory.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "sfft/types.hpp"

namespace sfft::detail {

/// Calls action with a typed pointer to the signal's elements.
template <class Action>
void with_elements(const void* data, ElementType type, const Action& action) {
  switch (type) {
    case ElementType::u8:
      return action(static_cast<const std::uint8_t*>(data));
    case ElementType::u16:
      return action(static_cast<const std::uint16_t*>(data));
    case ElementType::f32:
      return action(static_cast<const float*>(data));
    case ElementType::f64:
      return action(static_cast<const double*>(data));
    case ElementType::c64:
      return action(static_cast<const std::complex<float>*>(data));
    case ElementType::c128:
      return action(static_cast<const std::complex<double>*>(data));
  }
}

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
        return std::complex<Real>(value);
      }
    });
  });
}

}  // namespace sfft::detail
