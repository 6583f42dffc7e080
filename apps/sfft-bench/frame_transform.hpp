// SPDX-License-Identifier: Apache-2.0
// Ways to transform the frames of a recording in order: dense engines, and this library tracking a template.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sfft/types.hpp"
#include "timing.hpp"
#include "video/sources/source.hpp"

namespace sfft::apps {

/// The current frame as the contenders get it: just written, as a decoder would leave it.
struct FrameBuffer {
  video::Frame frame;
  LineVector<float> samples;  ///< the same for the dense engines, converted before timing starts

  void load(const video::Frame& stored);
};

class FrameTransform {
 public:
  virtual ~FrameTransform() = default;
  virtual std::string name() const = 0;
  virtual std::string device() const { return "cpu"; }
  virtual std::int64_t k() const { return 0; }
  /// Copies the frame to where a user would have it, for example page-locked memory. Not timed.
  virtual void load(const FrameBuffer& /*frame*/) {}
  /// Learns and plans from the first frame.
  virtual void prepare(const FrameBuffer& first) = 0;
  virtual void push(const FrameBuffer& frame) = 0;
  /// The same work without advancing, for timing with cold caches.
  virtual void repeat(const FrameBuffer& frame) = 0;
  virtual void make_cold() { evict_caches(); }
  /// Relative L2 error of the latest frame over the requested frequencies; `exact` is its half spectrum.
  virtual double error(const std::vector<std::complex<double>>& exact) const = 0;
  virtual double samples_read() const = 0;
  virtual std::string detail() const = 0;
  /// False if other programs keep such planning between runs: it is then reported but not part of the total.
  virtual bool counts_preparation() const { return true; }
};

/// Where a tracker on another device reads a frame from, when not from the frame itself.
class FrameStore {
 public:
  virtual ~FrameStore() = default;
  virtual void load(const video::Frame& frame) = 0;
  virtual SignalView view() const = 0;
  virtual void make_cold() = 0;
};

/// ‖a − b‖/‖b‖ without f = 0.
double relative_error(std::span<const std::complex<float>> a, const std::vector<std::complex<double>>& b);

/// `store`: null for frames in ordinary memory, transformed on the CPU; otherwise on the GPU.
std::unique_ptr<FrameTransform> make_tracked_frames(const Shape& shape, std::int64_t k,
                                                    std::unique_ptr<FrameStore> store = nullptr);
void add_dense_frames(const Shape& shape, std::vector<std::unique_ptr<FrameTransform>>& all);
/// cuFFT, and a tracker on the GPU for every k.
void add_cuda_frames(const Shape& shape, const std::vector<std::int64_t>& ks,
                     std::vector<std::unique_ptr<FrameTransform>>& all);

}  // namespace sfft::apps
