// SPDX-License-Identifier: Apache-2.0
// The first stage of the pipeline: reads and decodes frames ahead of the transform.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "video/sources/source.hpp"

namespace sfft::video {

struct DecodedFrame {
  Frame frame;                           ///< without samples if they are in DecoderOptions::memory
  const std::byte* elsewhere = nullptr;  ///< the samples in that memory
  std::unique_ptr<UnmadeSamples> later;  ///< used by the decoder: next() makes the samples from this
  double decode_us = 0;                  ///< time to read and decode, including waiting for the input

  SignalView view() const;
  /// An independent copy, samples included.
  Frame copy() const;
};

struct DecoderOptions {
  std::int64_t limit = 0;  ///< maximum number of frames to read; 0: all
  std::size_t slots = 5;   ///< number of frames in the ring: the consumer's and those decoded ahead
  /// If the source supports it, the consumer's thread makes the samples of the frames that it waits for. They
  /// are then in its core's cache.
  bool samples_by_consumer = false;
  /// Stops after the first frame whose Frame::format() differs from that of `like` or, without `like`, of the
  /// first frame. Another decoder may continue after it.
  bool one_format = false;
  /// Contiguous memory for `slots` frames of `frame_bytes` each. Empty: the decoder allocates.
  std::span<std::byte> memory{};
  std::size_t frame_bytes = 0;
  /// Set if `memory` is GPU memory. Frames that are decoded on the GPU stay there if they have the size and
  /// depth of `like`.
  const DevicePictures* pictures = nullptr;
  const Frame* like = nullptr;  ///< a frame of the expected format
};

/// Reads frames on a separate thread into a ring of slots, where the consumer reads them in place.
class Decoder {
 public:
  static constexpr std::chrono::steady_clock::time_point kNever =
      std::chrono::steady_clock::time_point::max();

  /// `source` must outlive the decoder. Nothing else may use it in the meantime.
  explicit Decoder(FrameSource& source, const DecoderOptions& options = {});
  /// Interrupts the source, unless it was read to its end or to the limit, and waits for the thread.
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Returns up to `max` of the next frames in source order; they are valid until the next call. Blocks until
  /// there are `min` frames or the source has ended. Returns fewer where the ring wraps around, and none
  /// after the last frame. Soon after `stop` is set, returns the frames that are available. If the source
  /// threw, rethrows its exception after the frames before it.
  ///
  /// A call that must wait sleeps until there are `wake` frames, or until a periodic check finds `min`.
  /// Waking up for each frame would cost more than transforming several frames.
  std::span<const DecodedFrame> next(std::size_t max, std::size_t min, const std::atomic<bool>& stop,
                                     std::size_t wake = 1);
  /// Blocks until the decoder is `count` frames (at most the number of slots) ahead of next(), then returns
  /// waiting(). Stops waiting after the last frame, at `until`, and soon after `stop` is set. Invalidates the
  /// frames of the latest next().
  std::span<const DecodedFrame> await(std::size_t count, const std::atomic<bool>& stop,
                                      std::chrono::steady_clock::time_point until = kNever);
  /// The decoded frames that follow those of the latest next(), up to the end of the ring. They stay in place
  /// until a later next() has returned them. Frames whose samples the consumer makes have none yet.
  std::span<const DecodedFrame> waiting();

 private:
  void read_all();
  bool read_into(std::size_t slot);
  bool changes(const DecodedFrame& decoded);
  bool read_samples(DecodedFrame& decoded);
  void make_samples();
  bool read_on_gpu(std::size_t offset, bool& there);
  void reuse_samples(Frame& frame);
  void spare_samples(Frame& frame);
  void release();
  void sleep_until(std::unique_lock<std::mutex>& lock, std::size_t min, std::size_t wake,
                   const std::atomic<bool>& stop, std::chrono::steady_clock::time_point until = kNever);
  bool wait_for_room();
  void publish(bool last);
  std::size_t room() const noexcept { return slots_.size() - held_ - full_; }

  FrameSource& source_;
  DecoderOptions options_;
  Frame scratch_;  ///< used by the thread: a frame before it is copied to the given memory
  std::mutex mutex_;
  std::condition_variable filled_, freed_;  ///< signal the consumer and the thread
  std::size_t wanted_ = 0;                  ///< frames at which to wake the consumer; 0: it is awake
  bool full_up_ = false;                    ///< the thread waits for a free slot
  /// A ring: from first_ on the consumer's held_ frames, then full_ decoded ones; the thread writes after
  /// these.
  std::vector<DecodedFrame> slots_;
  std::size_t worth_waking_;  ///< number of free slots at which to wake the thread
  /// Buffers of free slots, the last freed on top because it is most likely still cached.
  std::vector<std::vector<std::byte>> spare_;
  std::size_t first_ = 0, held_ = 0, full_ = 0;
  std::int64_t read_ = 0;
  std::optional<FrameFormat> format_;  ///< used by the thread
  bool ended_ = false, closing_ = false;
  std::exception_ptr error_;  ///< exception that ended the source
  std::thread thread_;
};

}  // namespace sfft::video
