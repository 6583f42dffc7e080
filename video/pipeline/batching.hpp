// SPDX-License-Identifier: Apache-2.0
// How many frames go to the tracker at once, and the memory that they wait in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sfft/device_pictures.hpp"
#include "sfft/page_locked.hpp"
#include "sfft/plan.hpp"
#include "video/sources/decoder.hpp"

namespace sfft::video {

struct BatchingRequest {
  int batch = 0;      ///< frames; 0: automatic
  bool gpu = false;   ///< whether plans run there
  bool live = false;  ///< whether the source is
  int threads = 1;    ///< of the plan
  int devices = 1;    ///< GPUs that share a batch; 0: one
};

/// PlanOptions::batch for the request: what pushes of the pipeline will usually hold.
int plan_batch(const BatchingRequest& request) noexcept;

/// The frames of a push, and the decoder's slots for those and the ones decoded meanwhile.
struct Batching {
  std::size_t max = 1;  ///< frames of a push
  std::size_t min = 1;  ///< frames to wait for; 1: never waits for more
  std::size_t slots = 5;
};

/// Automatic batches hold 64 frames for each GPU (8 of a live source) and four per thread on a CPU with
/// several, and at most as many as fit into `limit_bytes` twice.
Batching choose_batching(const BatchingRequest& request, std::size_t frame_bytes,
                         std::int64_t limit_bytes) noexcept;

/// Frames of a recording that may be decoded while its template is learned and its plan searched, beyond the
/// slots of a batching.
std::size_t frames_ahead(const BatchingRequest& request, std::size_t frame_bytes,
                         std::int64_t limit_bytes) noexcept;

/// Whether frames of a live source that may be recorded come like those of a recording, judged by the latest
/// ones: faster than they are shown, so that nobody waits for a single one.
class Pace {
 public:
  /// How long a frame waits for others that do not come.
  static constexpr std::chrono::milliseconds kMaxWait{250};

  /// `fps`: frames per second as they are shown; 0: unknown, and then they are never taken for recorded.
  explicit Pace(double fps) : recorded_(fps > 0), shown_us_(fps > 0 ? 1e6 / fps : 0) {}
  /// Frames that came together; `decode_us` of each holds the wait for its input.
  void note(std::span<const DecodedFrame> frames) noexcept;
  bool recorded() const noexcept { return recorded_; }

 private:
  bool recorded_;
  double shown_us_;
};

/// Bytes that the pipeline may use for frames: a share of what is free, and not more than a GPU needs to be
/// kept busy.
std::int64_t batch_limit_bytes();

/// Memory of the GPU for the slots of frames that it decodes; empty when it cannot be had.
DevicePictures picture_slots(std::size_t slots, std::size_t frame_bytes, int device) noexcept;

/// Memory for the slots that the GPU reads in place; empty when it cannot be had, and frames are then
/// gathered by the host.
PageLockedMemory lock_slots(std::size_t slots, std::size_t frame_bytes, int device) noexcept;

}  // namespace sfft::video
