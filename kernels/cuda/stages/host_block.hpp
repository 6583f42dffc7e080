// SPDX-License-Identifier: Apache-2.0
// Host memory for staging copies to and from a GPU.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/signal_samples.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

/// Page-locked memory that the process keeps. Pageable if more than `max_locked` bytes are requested,
/// because locking so much takes longer than copying. Not cleared.
class HostBlock {
 public:
  explicit HostBlock(std::size_t bytes, std::size_t max_locked = std::size_t{4} << 20) {
    if (bytes > max_locked) pageable_.resize(bytes);
    data_ = bytes > max_locked ? pageable_.data() : locked_.fit(bytes);
  }
  std::byte* data() const noexcept { return data_; }

 private:
  PinnedLoan locked_;
  std::vector<std::byte> pageable_;
  std::byte* data_;
};

/// If an error ends the scope, waits for queued work before memory is freed or returned.
class WaitOnError {
 public:
  explicit WaitOnError(Stream stream) : stream_(stream) {}
  ~WaitOnError() {
    if (done_) return;
    try {
      synchronize(stream_);
    } catch (const Error&) {
      // The error in flight says more than this one.
    }
  }
  WaitOnError(const WaitOnError&) = delete;
  WaitOnError& operator=(const WaitOnError&) = delete;
  void done() noexcept { done_ = true; }

 private:
  Stream stream_;
  bool done_ = false;
};

}  // namespace sfft::detail::cuda
