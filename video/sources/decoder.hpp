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
  Frame frame;                           ///< without samples where these were put into the decoder's memory
  const std::byte* elsewhere = nullptr;  ///< then they are here
  std::unique_ptr<UnmadeSamples> later;  ///< the decoder's: what next() makes the samples from
  double decode_us = 0;                  ///< time to read and decode, waiting for the input included

  SignalView view() const;
  /// A copy that lasts, with its samples.
  Frame copy() const;
};

struct DecoderOptions {
  std::int64_t limit = 0;  ///< reads at most this many frames; 0: all
  std::size_t slots = 5;   ///< frames that are held at once: the consumer's and those decoded ahead
  /// The consumer's thread makes the samples of frames that it waits for, where the source knows how: a
  /// consumer that then reads them finds them in its core's cache.
  bool samples_by_consumer = false;
  /// The first frame of another format (Frame::format()) than `like`, or than the first one, is the last that
  /// is read; another decoder may go on behind it.
  bool one_format = false;
  /// Where frames of `frame_bytes` go, side by side; room for `slots` of them. Empty: the decoder allocates.
  std::span<std::byte> memory{};
  std::size_t frame_bytes = 0;
  /// Given if `memory` is that of a GPU: frames that the source has there and that are of the size and depth
  /// of `like` stay there.
  const DevicePictures* pictures = nullptr;
  const Frame* like = nullptr;  ///< a frame of the format that is expected
};

/// A thread that reads frames into a ring of slots, which its consumer reads in place.
class Decoder {
 public:
  static constexpr std::chrono::steady_clock::time_point kNever =
      std::chrono::steady_clock::time_point::max();

  /// `source` must outlive the decoder and is used by it alone until then.
  explicit Decoder(FrameSource& source, const DecoderOptions& options = {});
  /// Interrupts the source, unless it has been read to its end or to the limit, and waits for the thread.
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// The next frames in the source's order, at most `most`, valid until the next call. Blocks until there are
  /// `least` or the source has ended; frames that go past the last slot come with two calls. Empty after the
  /// last frame. Soon after `stop` is set it returns what there is. An exception of the source is rethrown
  /// here, after the frames before it.
  ///
  /// A call that has to wait sleeps until there are `wake` frames, or a glance finds `least`: waking up for
  /// every frame by itself costs more than some frames' transforms.
  std::span<const DecodedFrame> next(std::size_t most, std::size_t least, const std::atomic<bool>& stop,
                                     std::size_t wake = 1);
  /// Waits until there are `count` frames, at most as many as there are slots, that next() has not returned
  /// yet, and returns what waiting() does then: fewer after the last frame, at `until`, and soon after `stop`
  /// is set. Frames of the latest next() are no longer valid.
  std::span<const DecodedFrame> await(std::size_t count, const std::atomic<bool>& stop,
                                      std::chrono::steady_clock::time_point until = kNever);
  /// Frames behind those of the latest next() that are there already, up to the last slot. They stay where
  /// they are until a later next() has returned them. Samples that the consumer makes are not there.
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
  void sleep_until(std::unique_lock<std::mutex>& lock, std::size_t least, std::size_t wake,
                   const std::atomic<bool>& stop, std::chrono::steady_clock::time_point until = kNever);
  bool wait_for_room();
  void publish(bool last);
  std::size_t room() const noexcept { return slots_.size() - held_ - full_; }

  FrameSource& source_;
  DecoderOptions options_;
  Frame scratch_;  ///< of the thread: a frame on its way to the memory that was given
  std::mutex mutex_;
  std::condition_variable filled_, freed_;  ///< what the consumer waits for, and what the thread does
  std::size_t wanted_ = 0;                  ///< frames at which to wake the consumer; 0: it does not sleep
  bool full_up_ = false;                    ///< the thread waits for room
  /// A ring: the consumer's frames from first_ on, then the full ones; the thread writes behind these.
  std::vector<DecodedFrame> slots_;
  std::size_t worth_waking_;  ///< free slots for which to wake the thread
  /// Samples of slots that are free, the last one freed on top: it is most likely still in a cache.
  std::vector<std::vector<std::byte>> spare_;
  std::size_t first_ = 0, held_ = 0, full_ = 0;
  std::int64_t read_ = 0;
  std::optional<FrameFormat> format_;  ///< of the thread
  bool ended_ = false, closing_ = false;
  std::exception_ptr error_;  ///< why the source ended, if not cleanly
  std::thread thread_;
};

}  // namespace sfft::video
