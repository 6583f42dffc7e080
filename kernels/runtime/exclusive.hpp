// SPDX-License-Identifier: Apache-2.0
// A flag that one thread at a time takes for the duration of a call.
#pragma once

#include <atomic>

#include "sfft/error.hpp"

namespace sfft::detail {

/// Takes the flag, or throws Error(in_use) with the sentence if another thread has taken it. Costs one atomic
/// exchange per call.
class Exclusive {
 public:
  Exclusive(std::atomic<bool>& flag, const char* sentence) : flag_(flag) {
    if (flag.exchange(true, std::memory_order_acquire)) throw Error(ErrorCode::in_use, sentence);
  }
  ~Exclusive() { flag_.store(false, std::memory_order_release); }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace sfft::detail
