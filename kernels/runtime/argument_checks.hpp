// SPDX-License-Identifier: Apache-2.0
// Argument checks that every public call shares. They cover enumerations, because a cast or a binding can
// produce any value, and the alignment of device pointers.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sfft/error.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// Throws Error(invalid_argument) unless `value` is an enumerator, of which `last` is the last; enumerators
/// count from 0. `option` is the caller's name for it, such as "Options::normalization".
template <class Enum>
void check_enumerator(Enum value, Enum last, const char* option) {
  using Number = std::make_unsigned_t<std::underlying_type_t<Enum>>;
  if (static_cast<Number>(value) <= static_cast<Number>(last)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is {}, which is none of its enumerators: they are numbered 0 to {}", option,
                          static_cast<unsigned>(value), static_cast<unsigned>(last)));
}

/// Whether GPUs read the type.
constexpr bool is_for_gpus(ElementType type) noexcept {
  return type <= ElementType::c128;
}

/// Throws Error(type_mismatch) for the element types that only the CPU reads, and Error(invalid_argument) for
/// unknown ones. `option` is the caller's name for the type.
inline void check_gpu_type(ElementType type, const char* option) {
  check_enumerator(type, ElementType::cu8, option);
  if (is_for_gpus(type)) return;
  throw Error(ErrorCode::type_mismatch,
              fmt::format("{} is {}, and GPUs read u8, u16 and real or complex float and double: convert the "
                          "samples to float first, or use Device::cpu()",
                          option, to_string(type)));
}

/// Throws Error(invalid_argument) unless a device pointer is a multiple of `bytes`, the size of its elements:
/// a kernel that reads elsewhere ends the CUDA context of the whole process (cudaErrorMisalignedAddress).
inline void check_device_alignment(const void* pointer, std::size_t bytes, const char* what) {
  if (bytes == 0 || reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("the {} at {} are not aligned to their elements of {} bytes, as GPUs need: copy them to "
                  "an aligned address",
                  what, pointer, bytes));
}

}  // namespace sfft::detail
