// SPDX-License-Identifier: Apache-2.0
// Aligns every buffer to a large page, so that it can consist of whole large pages.
#include "kernels/cpu/platform/large_buffer.hpp"

#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sfft::detail::cpu {

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kSmallAlignment = 64;

}  // namespace

void LargeBufferDelete::operator()(std::byte* memory) const noexcept {
  ::operator delete (memory, std::align_val_t{alignment});
}

LargeBuffer make_large_buffer(std::size_t bytes) {
  const bool large = bytes >= kLargePage;
  const std::size_t alignment = large ? kLargePage : kSmallAlignment;
  MemoryShare share(bytes);
  LargeBuffer buffer(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment})),
                     {alignment, std::move(share)});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Advice that the system is free to ignore.
  if (large) static_cast<void>(madvise(buffer.get(), bytes / kLargePage * kLargePage, MADV_HUGEPAGE));
#endif
  return buffer;
}

}  // namespace sfft::detail::cpu
