// SPDX-License-Identifier: Apache-2.0
// One producer thread fills a ring of frames and stops when the source ends, throws or is interrupted. Its
// exception is kept until the consumer has taken the frames before it. The mutex guards only counts: each
// slot belongs to one thread at a time.
#include "video/sources/decoder.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "kernels/runtime/elapsed.hpp"
#include "video/sources/thread.hpp"

namespace sfft::video {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

SignalView DecodedFrame::view() const {
  if (elsewhere == nullptr) return frame.view();
  return {elsewhere, static_cast<std::size_t>(frame.width * frame.height),
          frame.bit_depth16 ? ElementType::u16 : ElementType::u8, Shape{frame.height, frame.width}};
}

Frame DecodedFrame::copy() const {
  Frame whole = frame;
  if (elsewhere == nullptr) return whole;
  const auto points = static_cast<std::size_t>(frame.width * frame.height);
  whole.samples.assign(elsewhere, elsewhere + points * (frame.bit_depth16 ? 2 : 1));
  return whole;
}

Decoder::Decoder(FrameSource& source, const DecoderOptions& options)
    : source_(source),
      options_(options),
      slots_(std::max<std::size_t>(1, options.slots)),
      worth_waking_(std::max<std::size_t>(1, slots_.size() / 4)) {
  spare_.reserve(slots_.size());
  if (options_.like != nullptr) format_ = options_.like->format();
  thread_ = start_thread("the decoder", [this] { read_all(); });
}

Decoder::~Decoder() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    const bool done = ended_ || (options_.limit > 0 && read_ >= options_.limit);
    if (!done) source_.interrupt();
  }
  freed_.notify_all();
  thread_.join();
}

bool Decoder::wait_for_room() {
  std::unique_lock lock(mutex_);
  if (room() == 0) {
    full_up_ = true;
    freed_.wait(lock, [this] { return room() >= worth_waking_ || closing_; });
    full_up_ = false;
  }
  return !closing_;
}

/// Whether a frame's format differs from the previous ones. Frames whose samples are made later never differ.
bool Decoder::changes(const DecodedFrame& decoded) {
  if (!options_.one_format || decoded.later) return false;
  if (!format_) format_ = decoded.frame.format();
  return decoded.frame.format() != *format_;
}

void Decoder::publish(bool last) {
  bool awaited = false;
  {
    const std::lock_guard lock(mutex_);
    ended_ = last;
    ++full_;
    ++read_;
    awaited = wanted_ > 0 && (full_ >= wanted_ || last);
  }
  if (awaited) filled_.notify_all();
}

bool Decoder::read_into(std::size_t slot) {
  DecodedFrame& decoded = slots_[slot];
  if (options_.memory.empty()) return read_samples(decoded);
  const std::size_t offset = slot * options_.frame_bytes;
  bool there = false;
  if (!(options_.pictures != nullptr ? read_on_gpu(offset, there) : source_.next(scratch_))) return false;
  const std::vector<std::byte>& samples = scratch_.samples;
  if (!there && samples.size() != options_.frame_bytes) {  // the size differs, which the consumer will report
    decoded.frame = scratch_;
    decoded.elsewhere = nullptr;
    return true;
  }
  std::byte* const place = options_.memory.data() + offset;
  if (!there) std::memcpy(place, samples.data(), samples.size());
  decoded.frame.width = scratch_.width;
  decoded.frame.height = scratch_.height;
  decoded.frame.bit_depth16 = scratch_.bit_depth16;
  decoded.frame.seconds = scratch_.seconds;
  decoded.frame.gap_seconds = scratch_.gap_seconds;
  decoded.frame.made_up = scratch_.made_up;
  decoded.frame.segment = scratch_.segment;
  decoded.elsewhere = place;
  return true;
}

bool Decoder::read_samples(DecodedFrame& decoded) {
  /// If it has this many frames, the consumer has enough to do without making samples.
  constexpr std::size_t kFew = 4;
  Frame& frame = decoded.frame;
  reuse_samples(frame);
  if (!options_.samples_by_consumer) return source_.next(frame);
  if (!source_.advance(frame)) return false;
  const auto waiting = [this] {
    const std::lock_guard lock(mutex_);
    return full_ < kFew;
  };
  if (waiting()) decoded.later = source_.load_later();
  if (decoded.later) {
    spare_samples(frame);
  } else {
    source_.load(frame);
  }
  return true;
}

/// Makes the samples of the consumer's frames. Runs on the consumer's thread.
void Decoder::make_samples() {
  for (std::size_t i = first_; i < first_ + held_; ++i) {
    DecodedFrame& decoded = slots_[i];
    if (!decoded.later) continue;
    const auto begin = Clock::now();
    reuse_samples(decoded.frame);
    decoded.later->make(decoded.frame);
    decoded.later.reset();
    decoded.decode_us += detail::us_since(begin);
  }
}

/// Reads the next frame into GPU memory and sets `there`, or else reads it into scratch_.
bool Decoder::read_on_gpu(std::size_t offset, bool& there) {
  if (!source_.advance(scratch_)) return false;
  scratch_.width = options_.like->width;
  scratch_.height = options_.like->height;
  scratch_.bit_depth16 = options_.like->bit_depth16;
  there = source_.load_on_gpu(scratch_, *options_.pictures, offset);
  if (!there) source_.load(scratch_);
  return true;
}

void Decoder::reuse_samples(Frame& frame) {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) return;
  frame.samples = std::move(spare_.back());
  spare_.pop_back();
}

void Decoder::spare_samples(Frame& frame) {
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(frame.samples));
}

/// Releases the consumer's frames. The caller has locked the mutex.
void Decoder::release() {
  for (std::size_t i = 0; i < held_ && options_.memory.empty(); ++i)
    spare_.push_back(std::move(slots_[first_ + i].frame.samples));
  first_ = (first_ + held_) % slots_.size();
  held_ = 0;
  if (full_up_ && room() >= worth_waking_) freed_.notify_all();
}

void Decoder::read_all() {
  std::exception_ptr error;
  try {
    std::size_t slot = 0;
    for (std::int64_t read = 0; (options_.limit == 0 || read < options_.limit) && wait_for_room(); ++read) {
      const auto begin = Clock::now();
      if (!read_into(slot)) break;
      slots_[slot].decode_us = detail::us_since(begin);
      const bool last = changes(slots_[slot]);
      publish(last);
      if (last) break;
      slot = (slot + 1) % slots_.size();
    }
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    error_ = error;
  }
  filled_.notify_all();
}

/// Waits until there are `min` frames, no more will come, or time is up. Wakes up after `wake` frames, and
/// periodically.
void Decoder::sleep_until(std::unique_lock<std::mutex>& lock, std::size_t min, std::size_t wake,
                          const std::atomic<bool>& stop, Clock::time_point until) {
  // A signal handler sets `stop`, but cannot notify a condition variable.
  constexpr auto kGlance = std::chrono::milliseconds(20);
  for (auto now = Clock::now(); full_ < min && !ended_ && !stop && now < until; now = Clock::now()) {
    wanted_ = std::clamp(wake, min, std::max(min, slots_.size() - worth_waking_));
    filled_.wait_until(lock, std::min(now + kGlance, until),
                       [&] { return full_ >= wanted_ || ended_ || stop; });
    wanted_ = 0;
  }
}

std::span<const DecodedFrame> Decoder::await(std::size_t count, const std::atomic<bool>& stop,
                                             Clock::time_point until) {
  std::unique_lock lock(mutex_);
  if (held_ > 0) release();
  sleep_until(lock, std::clamp<std::size_t>(count, 1, slots_.size()), 1, stop, until);
  return std::span(slots_).subspan(first_, std::min(full_, slots_.size() - first_));
}

std::span<const DecodedFrame> Decoder::next(std::size_t max, std::size_t min, const std::atomic<bool>& stop,
                                            std::size_t wake) {
  std::unique_lock lock(mutex_);
  if (held_ > 0) release();
  // Frames must be contiguous, so a call returns at most those before the ring wraps.
  min = std::clamp<std::size_t>(min, 1, slots_.size() - first_);
  sleep_until(lock, min, wake, stop);
  if (full_ == 0 && !stop && error_) std::rethrow_exception(error_);
  held_ = std::min({max, full_, slots_.size() - first_});
  full_ -= held_;
  lock.unlock();
  make_samples();
  return std::span(slots_).subspan(first_, held_);
}

std::span<const DecodedFrame> Decoder::waiting() {
  const std::lock_guard lock(mutex_);
  const std::size_t next = (first_ + held_) % slots_.size();
  return std::span(slots_).subspan(next, std::min(full_, slots_.size() - next));
}

}  // namespace sfft::video
