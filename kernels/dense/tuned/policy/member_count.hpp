// SPDX-License-Identifier: Apache-2.0
// Counts the members of an aggregate, so that a check can ensure that tables name all of them.
#pragma once

#include <cstddef>
#include <utility>

namespace sfft::detail::tuned {

struct AnyValue {
  template <class T>
  operator T() const;  // NOLINT: stands for a value of any type, never called
};

template <class Aggregate, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires {
    Aggregate{(static_cast<void>(I), AnyValue{})...};
  };
}

template <class Aggregate, std::size_t kCount = 0>
constexpr std::size_t member_count() {
  if constexpr (takes<Aggregate>(std::make_index_sequence<kCount + 1>())) {
    return member_count<Aggregate, kCount + 1>();
  } else {
    return kCount;
  }
}

}  // namespace sfft::detail::tuned
