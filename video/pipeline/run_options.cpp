// SPDX-License-Identifier: Apache-2.0
// Translates a run's options into those of learning and of the tracker.
#include <algorithm>

#include "video/pipeline/batching.hpp"
#include "video/pipeline/run.hpp"

namespace sfft::video {

namespace {

/// Returns the first of several GPUs, for work that needs only one.
Device one_of(const Device& device) {
  return device.several() ? Device::gpu(device.gpu_number()) : device;
}

}  // namespace

LearnOptions learn_options(const RunOptions& options, const Shape& shape) {
  LearnOptions learn;
  if (options.energy > 0) {
    learn.keep = Energy{options.energy};
  } else {
    learn.keep = Largest{options.k > 0 ? options.k : default_k(shape)};
  }
  learn.reference = options.reference;
  learn.threads = options.threads;
  learn.device = one_of(options.device);
  return learn;
}

TrackerOptions tracker_options(const RunOptions& options, bool live, bool on_gpu) {
  TrackerOptions tracking;
  tracking.plan.device = options.device;
  tracking.plan.transfer = options.transfer;
  if (!on_gpu) tracking.plan.page_locked_frames = true;
  tracking.plan.batch =
      plan_batch({options.batch, options.device.backend() == Backend::cuda, live, options.threads,
                  options.device.several() ? static_cast<int>(options.device.gpus().size()) : 0});
  tracking.learn.device = one_of(options.device);
  tracking.plan.threads = options.threads;
  if (options.max_samples > 0) tracking.plan.max_samples = options.max_samples;
  tracking.reference = options.reference;
  // A passing object moves energy out of the support for a while, but does not harm the coefficients in the
  // support. A new template costs tens of dense transforms. Without a reference the default applies.
  if (options.reference) tracking.relearn_below = 0.75;
  tracking.accuracy = options.accuracy;
  tracking.similarity = options.similarity;
  tracking.plan.effort = options.effort;
  tracking.refine = options.refine;
  tracking.background_learning = options.device.backend() == Backend::cuda;
  return tracking;
}

Template with_plan(const Template& tmpl, const RunOptions& options) {
  TrackerOptions tracking = tracker_options(options, false);
  tracking.refine = false;  // the caller waits for the plan that is kept
  return Tracker<float>(tmpl, tracking).plan().keep_in(tmpl);
}

std::int64_t default_k(const Shape& shape) noexcept {
  return std::clamp<std::int64_t>(shape.points() / 64, 1, 1000);
}

}  // namespace sfft::video
