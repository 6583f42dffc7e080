// SPDX-License-Identifier: Apache-2.0
// Allocates slots, all of them or none.
#include "kernels/dense/out_of_card/card_slots.hpp"

#include <fmt/format.h>

#include "kernels/base/error.hpp"
#include "kernels/cpu/platform/large_buffer.hpp"

namespace sfft::detail {

template <class Real>
CardSlots<Real>::CardSlots(Card<Real>& card, int count, std::size_t bytes, std::size_t staging_bytes)
    : in_(card.make_stream()),
      kernels_(card.make_stream()),
      out_(card.make_stream()),
      bytes_(bytes),
      staging_bytes_(staging_bytes) {
  for (int s = 0; s < count; ++s) {
    Slot slot;
    slot.memory = card.allocate(bytes);
    if (staging_bytes > 0) slot.staging = host_memory(card, staging_bytes, &pageable_);
    slot.filled = card.make_mark();
    slot.computed = card.make_mark();
    for (std::size_t part = 0; part < kParts; ++part) slot.left.push_back(card.make_mark());
    slots_.push_back(std::move(slot));
  }
}

template <class Real>
std::shared_ptr<std::byte> CardSlots<Real>::host_memory(Card<Real>& card, std::size_t bytes, bool* pageable) {
  try {
    return card.allocate_on_host(bytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
  }
  if (pageable != nullptr) *pageable = true;
  try {
    return {cpu::make_large_buffer(bytes)};
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{} bytes of host memory are needed to pass pieces to the GPU", bytes));
  }
}

template <class Real>
void CardSlots<Real>::settle() noexcept {
  for (CardStream* const stream : {in_.get(), kernels_.get(), out_.get()}) {
    try {
      stream->wait();
    } catch (...) {  // which somebody has been told of
    }
  }
}

template class CardSlots<float>;
template class CardSlots<double>;

}  // namespace sfft::detail
