// SPDX-License-Identifier: Apache-2.0
// Counts before memory is allocated, so that no more than the limit is ever counted.
#include "kernels/runtime/memory_budget.hpp"

#include <fmt/format.h>

#include <limits>

#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// In front of counted memory, which stays as aligned as operator new makes it.
struct alignas(std::max_align_t) Note {
  MemoryBudget* budget;
};

}  // namespace

void MemoryBudget::refuse(std::size_t held, std::size_t bytes) const {
  const std::size_t needed = bytes > std::numeric_limits<std::size_t>::max() - held
                                 ? std::numeric_limits<std::size_t>::max()
                                 : held + bytes;
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("the call needs at least {} bytes of host memory at the same time, {} of them now, and "
                  "the limit is {}: raise the limit of run_with_memory_limit()",
                  needed, bytes, limit_));
}

void MemoryBudget::check(std::size_t bytes) const {
  const std::size_t held = held_.load(std::memory_order_relaxed);
  if (held > limit_ || bytes > limit_ - held) refuse(held, bytes);
}

void MemoryBudget::take(std::size_t bytes) {
  std::size_t held = held_.load(std::memory_order_relaxed);
  do {
    if (held > limit_ || bytes > limit_ - held) refuse(held, bytes);
  } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  refer();
}

void MemoryBudget::give_back(std::size_t bytes) noexcept {
  held_.fetch_sub(bytes, std::memory_order_relaxed);
  drop();
}

void MemoryBudget::drop() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void* allocate_counted(std::size_t bytes) {
  MemoryBudget* const budget = MemoryBudget::current();
  if (budget != nullptr) budget->take(bytes);
  try {
    auto* const note = static_cast<Note*>(::operator new(bytes + sizeof(Note)));
    note->budget = budget;
    return note + 1;
  } catch (...) {
    if (budget != nullptr) budget->give_back(bytes);
    throw;
  }
}

void free_counted(void* memory, std::size_t bytes) noexcept {
  Note* const note = static_cast<Note*>(memory) - 1;
  if (note->budget != nullptr) note->budget->give_back(bytes);
  ::operator delete(note);
}

}  // namespace sfft::detail
