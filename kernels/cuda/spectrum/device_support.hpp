// SPDX-License-Identifier: Apache-2.0
// A support in device memory: a bit set with counts. Kernels that keep part of a spectrum look up elements in
// it.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/spectrum/kept_part.cuh"

namespace sfft::detail::cuda {

class DeviceSupport {
 public:
  /// `support`: distinct elements of a spectrum of `spectrum` elements, ascending.
  DeviceSupport(std::span<const std::int64_t> support, std::int64_t spectrum)
      : count_(static_cast<std::int64_t>(support.size())) {
    std::vector<unsigned> chosen(static_cast<std::size_t>(spectrum / 32 + 1));
    for (const std::int64_t element : support)
      chosen[static_cast<std::size_t>(element / 32)] |= 1u << (element % 32);
    std::vector<int> before(chosen.size());
    for (std::size_t word = 1; word < chosen.size(); ++word)
      before[word] = before[word - 1] + std::popcount(chosen[word - 1]);
    chosen_ = upload(chosen);
    before_ = upload(before);
  }

  /// For Keep::at; `values` has room for the support of all signals: batch × support elements.
  device::KeptPart part(void* values) const {
    device::KeptPart part{};
    part.chosen = chosen_.as<unsigned>();
    part.before = before_.as<int>();
    part.kept = count_;
    part.values = values;
    return part;
  }

 private:
  std::int64_t count_;
  DeviceBuffer chosen_, before_;
};

}  // namespace sfft::detail::cuda
