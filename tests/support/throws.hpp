// SPDX-License-Identifier: Apache-2.0
// Returns which error a call throws.
#pragma once

#include <optional>

#include "sfft/error.hpp"

namespace sfft::test {

/// The code of the sfft::Error that `call` throws; nothing if it returns. Other exceptions pass through.
template <class Call>
std::optional<ErrorCode> code_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

}  // namespace sfft::test
