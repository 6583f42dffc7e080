// SPDX-License-Identifier: Apache-2.0
// A recording's batches are always full, because no viewer waits for a single frame. A live source's batches
// have the frames that have arrived.
#include "video/pipeline/batching.hpp"

#include <algorithm>
#include <exception>

#include "video/pipeline/memory.hpp"

namespace sfft::video {

namespace {

/// Launches and waits cost little compared with the transforms of this many frames. Live frames rarely come
/// more than one at a time.
constexpr int kGpuBatch = 64, kLiveBatch = 8;
/// With this many frames, threads that begin at different times end together.
constexpr int kFramesPerThread = 4, kCpuBatch = 32;
/// Frames that the decoder reads ahead of a push.
constexpr std::size_t kAhead = 4;
constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;

}  // namespace

int plan_batch(const BatchingRequest& request) noexcept {
  if (!request.gpu) return 1;  // a CPU plan does not depend on the batch size
  if (request.batch > 0) return request.batch;
  return (request.live ? 1 : kGpuBatch) * std::max(1, request.devices);
}

Batching choose_batching(const BatchingRequest& request, std::size_t frame_bytes,
                         std::int64_t limit_bytes) noexcept {
  const int automatic = request.gpu ? (request.live ? kLiveBatch : kGpuBatch) * std::max(1, request.devices)
                        : request.threads > 1 ? std::min(kFramesPerThread * request.threads, kCpuBatch)
                                              : 1;
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(0, limit_bytes)) /
                    std::max<std::size_t>(1, frame_bytes);
  Batching batching;
  batching.max = std::clamp<std::size_t>(
      room / 2, 1, static_cast<std::size_t>(request.batch > 0 ? request.batch : automatic));
  batching.min = request.live ? 1 : batching.max;
  // The ring has whole batches, so that no batch wraps around its end.
  batching.slots = batching.max * std::max<std::size_t>(2, (batching.max + kAhead) / batching.max);
  return batching;
}

std::size_t frames_ahead(const BatchingRequest& request, std::size_t frame_bytes,
                         std::int64_t limit_bytes) noexcept {
  constexpr std::int64_t kMaxAheadBytes = std::int64_t{12} << 20;
  constexpr std::size_t kMaxAhead = 32;
  if (request.live) return 0;
  const auto room = static_cast<std::size_t>(std::clamp<std::int64_t>(limit_bytes / 2, 0, kMaxAheadBytes));
  return std::min(kMaxAhead, room / std::max<std::size_t>(1, frame_bytes));
}

void DeliveryPace::note(std::span<const DecodedFrame> frames) noexcept {
  constexpr double kMuchFaster = 0.5;
  double us = 0;
  for (const DecodedFrame& frame : frames) us += frame.decode_us;
  recorded_ = us < kMuchFaster * shown_us_ * static_cast<double>(frames.size());
}

std::int64_t batch_limit_bytes() {
  return std::min(kMaxBytes, held_frames_limit_bytes());
}

DevicePictures picture_slots(std::size_t slots, std::size_t frame_bytes, int device) noexcept {
  try {
    return DevicePictures(slots * frame_bytes, device);
  } catch (const std::exception&) {
    return {};
  }
}

std::shared_ptr<std::byte> lock_slots(std::size_t slots, std::size_t frame_bytes, int device) noexcept {
  try {
    return allocate_page_locked(slots * frame_bytes, device);
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace sfft::video
