// SPDX-License-Identifier: Apache-2.0
// The first stage of the pipeline: reads and decodes frames ahead of the transform.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>

#include "video/sources/source.hpp"

namespace sfft::video {

struct DecodedFrame {
  Frame frame;
  double decode_us = 0;  ///< time to read and decode, waiting for the input included
};

/// A thread that reads frames into a bounded queue. Their buffers circulate between the queue and its
/// consumer, so that none is allocated after the first few frames.
class Decoder {
 public:
  /// Reads at most `limit` frames (0: all) of `source`, which must outlive the decoder and is used by it
  /// alone until then.
  Decoder(FrameSource& source, std::int64_t limit);
  /// Interrupts the source and waits for its thread.
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// The next frame in the source's order; blocks. False after the last one, and soon after `stop` is set. An
  /// exception of the source is rethrown here, after the frames before it.
  bool next(DecodedFrame& decoded, const std::atomic<bool>& stop);

 private:
  static constexpr std::size_t kDepth = 4;

  void read_all();
  bool wait_for_room();
  void publish();

  FrameSource& source_;
  std::int64_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<DecodedFrame, kDepth> queue_;  ///< a ring: full from first_ on; the thread writes behind these
  std::size_t first_ = 0, full_ = 0;
  bool ended_ = false, closing_ = false;
  std::exception_ptr error_;  ///< why the source ended, if not cleanly
  std::thread thread_;
};

}  // namespace sfft::video
