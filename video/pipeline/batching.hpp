// SPDX-License-Identifier: Apache-2.0
// Decides how many frames the tracker gets at once, and allocates memory for them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sfft/page_locked.hpp"
#include "sfft/plan.hpp"
#include "sfft/plan/device_pictures.hpp"
#include "video/sources/decoder.hpp"

namespace sfft::video {

struct BatchingRequest {
  int batch = 0;      ///< frames; 0: automatic
  bool gpu = false;   ///< plans run on a GPU
  bool live = false;  ///< the source is live
  int threads = 1;    ///< CPU threads of the plan
  int devices = 1;    ///< GPUs that share a batch; 0 means one
};

/// Returns PlanOptions::batch: the usual number of frames per push of the pipeline.
int plan_batch(const BatchingRequest& request) noexcept;

/// The number of frames per push, and the decoder's slots for these and for the frames that it decodes
/// meanwhile.
struct Batching {
  std::size_t max = 1;  ///< max. frames per push
  std::size_t min = 1;  ///< frames to wait for; 1: never waits for more
  std::size_t slots = 5;
};

/// An automatic batch has 64 frames per GPU (8 if the source is live). On a CPU it has four per thread if
/// there are several threads, up to 32, and otherwise one. Two batches must fit into `limit_bytes`.
Batching choose_batching(const BatchingRequest& request, std::size_t frame_bytes,
                         std::int64_t limit_bytes) noexcept;

/// Returns how many frames of a recording the decoder may hold in addition to Batching::slots. They are
/// needed while the template is learned and a plan is searched.
std::size_t frames_ahead(const BatchingRequest& request, std::size_t frame_bytes,
                         std::int64_t limit_bytes) noexcept;

/// Decides whether a live source that may be a recording delivers its latest frames faster than real time. If
/// so, no viewer waits for a single frame, and batches may be full.
class DeliveryPace {
 public:
  /// The longest time for which a frame waits for others.
  static constexpr std::chrono::milliseconds kMaxWait{250};

  /// `fps`: nominal frames per second; 0: unknown. A source of unknown rate never counts as a recording.
  explicit DeliveryPace(double fps) : recorded_(fps > 0), shown_us_(fps > 0 ? 1e6 / fps : 0) {}
  /// Notes frames that came together. Each `decode_us` includes the wait for input.
  void note(std::span<const DecodedFrame> frames) noexcept;
  bool recorded() const noexcept { return recorded_; }

 private:
  bool recorded_;
  double shown_us_;
};

/// Bytes that the pipeline may use for frames: half of the available memory, up to 256 MiB, which keep a GPU
/// busy.
std::int64_t batch_limit_bytes();

/// Allocates GPU memory for the slots of frames that the GPU decodes. Empty if the allocation fails.
DevicePictures picture_slots(std::size_t slots, std::size_t frame_bytes, int device) noexcept;

/// Allocates page-locked memory for slots that the GPU reads in place. Null if the allocation fails; the
/// host then gathers the frames.
std::shared_ptr<std::byte> lock_slots(std::size_t slots, std::size_t frame_bytes, int device) noexcept;

}  // namespace sfft::video
