// SPDX-License-Identifier: Apache-2.0
// Converts samples as files store them, in either byte order, to floats and doubles.
#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

#include "sfft/export.hpp"
#include "sfft/types.hpp"

namespace sfft {

/// @cond
namespace detail {
SFFT_EXPORT void convert_samples(std::span<const std::byte> stored, std::string_view format, double scale,
                                 double offset, void* values, std::size_t count, ElementType type);
}  // namespace detail
/// @endcond

/// Converts stored samples to values = scale · (stored + offset), once rounded.
///
/// `format` names them as SigMF's core:datatype does: r or c for real or complex, i, u or f for signed,
/// unsigned or floating point, the bits of a part, and its byte order: "ri16_le", "ci16_be", "rf32_be",
/// "cu8". Parts have 8, 16, 24 (packed in three bytes, as in WAV files) or 32 bits, floats 32 or 64; those of
/// 8 bits have no byte order. Complex samples are the real part, then the imaginary one; scale and offset
/// apply to both. `stored` may be at any address.
///
/// `values` is a contiguous range of float or double, or of std::complex of these for a complex format.
/// 24-bit audio in [−1, 1): scale 0x1p-23; RTL-SDR's bytes: scale 1/127.5, offset −127.5.
///
/// Throws Error(invalid_argument) for an unknown format, Error(shape_mismatch) unless `stored` holds exactly
/// as many samples as `values`, and Error(type_mismatch) for a real format with complex values or the
/// reverse.
template <detail::Elements R>
requires std::is_floating_point_v<detail::Element<R>> || Sample<detail::Element<R>>
void convert_samples(std::span<const std::byte> stored, std::string_view format, R&& values, double scale = 1,
                     double offset = 0) {
  constexpr ElementType kType = element_type_of<detail::Element<R>>::value;
  static_assert(kType >= ElementType::f32 && kType <= ElementType::c128,
                "values are float, double, std::complex<float> or std::complex<double>");
  detail::convert_samples(stored, format, scale, offset, std::ranges::data(values), std::ranges::size(values),
                          kType);
}

}  // namespace sfft
