// SPDX-License-Identifier: Apache-2.0
// One producer thread fills a ring of frames under a mutex and stops when the source ends, throws or is
// interrupted. Its exception is kept until the consumer has taken the frames before it.
#include "video/sources/decoder.hpp"

#include <signal.h>

#include <chrono>
#include <utility>

namespace sfft::video {

namespace {

using Clock = std::chrono::steady_clock;

/// Signals are left to the thread that made the decoder: they must not cut short a read of this one while the
/// other waits unaware.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Decoder::Decoder(FrameSource& source, std::int64_t limit) : source_(source), limit_(limit) {
  const BlockedSignals inherited_by_the_thread;
  thread_ = std::thread([this] { read_all(); });
}

Decoder::~Decoder() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    if (!ended_) source_.interrupt();
  }
  changed_.notify_all();
  thread_.join();
}

bool Decoder::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return full_ < kDepth || closing_; });
  return !closing_;
}

void Decoder::publish() {
  {
    const std::lock_guard lock(mutex_);
    ++full_;
  }
  changed_.notify_all();
}

void Decoder::read_all() {
  std::exception_ptr error;
  try {
    std::size_t slot = 0;
    for (std::int64_t read = 0; (limit_ == 0 || read < limit_) && wait_for_room(); ++read) {
      DecodedFrame& decoded = queue_[slot];  // the consumer sees it when it is published
      const auto begin = Clock::now();
      if (!source_.next(decoded.frame)) break;
      decoded.decode_us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
      publish();
      slot = (slot + 1) % kDepth;
    }
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    error_ = error;
  }
  changed_.notify_all();
}

bool Decoder::next(DecodedFrame& decoded, const std::atomic<bool>& stop) {
  // A signal handler sets `stop` and cannot wake a condition variable.
  constexpr auto kGlance = std::chrono::milliseconds(20);
  {
    std::unique_lock lock(mutex_);
    while (full_ == 0 && !ended_ && !stop) changed_.wait_for(lock, kGlance);
    if (stop) return false;
    if (full_ == 0) {
      if (error_) std::rethrow_exception(error_);
      return false;
    }
    std::swap(decoded, queue_[first_]);
    first_ = (first_ + 1) % kDepth;
    --full_;
  }
  changed_.notify_all();
  return true;
}

}  // namespace sfft::video
