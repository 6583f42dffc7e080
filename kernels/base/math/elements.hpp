// SPDX-License-Identifier: Apache-2.0
// How each element type is stored, and which number a stored part is. For all code that reads samples, also
// that compiled per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sfft/types.hpp"

namespace sfft::detail {

/// A part of a cu8 element, which converts to the number that it stands for.
struct OffsetByte {
  std::uint8_t byte;
  template <class Real>
  [[gnu::always_inline]] explicit constexpr operator Real() const noexcept {
    return static_cast<Real>(byte) - static_cast<Real>(127.5);
  }
};

/// A complex element as stored, without std::complex (cmake/isa.cmake).
template <class Part>
struct Pair {
  Part re, im;
};

/// What parts may be stored as; real elements are one part, complex ones two. Tables of kernels that read
/// parts have an entry for each, in this order: u8, u16, float, double, s8, s16, s32, OffsetByte.
inline constexpr std::size_t kPartTypes = 8;
inline constexpr std::size_t kElementTypes = 12;

/// The index of a type's parts among the part types.
constexpr std::size_t part_of(ElementType type) noexcept {
  constexpr std::uint8_t kParts[kElementTypes] = {0, 1, 2, 3, 2, 3, 4, 5, 6, 4, 5, 7};
  return kParts[static_cast<std::size_t>(type)];
}

/// The index of Real.
template <class Real>
inline constexpr std::size_t kOwnPart = part_of(element_type_of<Real>::value);

/// Whether samples are integers, which are rounded: their spectra are not exactly sparse.
constexpr bool is_integer(ElementType type) noexcept {
  return part_of(type) != part_of(ElementType::f32) && part_of(type) != part_of(ElementType::f64);
}
/// Whether a float cannot represent every sample.
constexpr bool exceeds_float(ElementType type) noexcept {
  return type == ElementType::s32 || part_of(type) == part_of(ElementType::f64);
}

/// Calls action with a typed pointer to the signal's elements: numbers, or Pairs of them or of OffsetBytes.
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
      return action(static_cast<const Pair<float>*>(data));
    case ElementType::c128:
      return action(static_cast<const Pair<double>*>(data));
    case ElementType::s8:
      return action(static_cast<const std::int8_t*>(data));
    case ElementType::s16:
      return action(static_cast<const std::int16_t*>(data));
    case ElementType::s32:
      return action(static_cast<const std::int32_t*>(data));
    case ElementType::cs8:
      return action(static_cast<const Pair<std::int8_t>*>(data));
    case ElementType::cs16:
      return action(static_cast<const Pair<std::int16_t>*>(data));
    case ElementType::cu8:
      return action(static_cast<const Pair<OffsetByte>*>(data));
  }
}

}  // namespace sfft::detail
