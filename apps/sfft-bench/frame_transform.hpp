// SPDX-License-Identifier: Apache-2.0
// Methods to transform the frames of a recording in order: dense engines, and this library with a plan
// or a tracker.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frames.hpp"
#include "row.hpp"
#include "setting.hpp"
#include "sfft/template.hpp"
#include "sfft/types.hpp"
#include "timing.hpp"

namespace sfft::apps {

/// Seconds before the first frame is transformed.
struct Preparation {
  double learn = kUnknown;  ///< NaN for methods that do not learn
  double plan = 0;
};

class FrameTransform {
 public:
  virtual ~FrameTransform() = default;
  virtual std::string name() const = 0;
  virtual std::string device() const { return "cpu"; }
  virtual std::string frames_in() const { return "memory"; }
  virtual int threads() const { return 1; }           ///< host threads
  virtual std::string planner() const { return {}; }  ///< "FFTW_MEASURE", if there is a choice
  virtual std::int64_t k() const { return 0; }        ///< 0: dense transform, the baseline
  /// Copies the frame to where a user would have it, such as page-locked memory. Not timed.
  virtual void load(const FrameBuffer& /*frame*/) {}
  /// Learns and plans from the first frame, again at every call.
  virtual Preparation prepare(const FrameBuffer& first) = 0;
  virtual void push(const FrameBuffer& frame) = 0;
  /// Whether the latest push() was typical. A tracker's renewals and comparisons are not.
  virtual bool routine() const { return true; }
  /// Called before a series of repeat(). Not timed.
  virtual void settle() {}
  /// Repeats the work of push() without advancing.
  virtual void repeat(const FrameBuffer& frame) = 0;
  virtual void make_cold() { evict_caches(); }
  /// Relative L2 error of the latest frame over the requested frequencies; `exact` is its half spectrum.
  virtual double error(const std::vector<std::complex<double>>& exact) const = 0;
  virtual double samples_read() const = 0;
  virtual std::string detail() const = 0;
};

using FrameTransforms = std::vector<std::unique_ptr<FrameTransform>>;

/// The memory from which a tracker on a GPU reads frames.
class FrameStore {
 public:
  virtual ~FrameStore() = default;
  virtual void load(const video::Frame& frame) = 0;
  virtual SignalView view() const = 0;
  virtual void make_cold() = 0;
};

/// ‖a − b‖/‖b‖ without f = 0.
double relative_error(std::span<const std::complex<float>> a, const std::vector<std::complex<double>>& b);
/// relative_error() over a template's support. `values` are in the support's order; `exact` is the half
/// spectrum of a 2D frame.
double support_error(const Template& tmpl, std::span<const std::complex<float>> values,
                     const std::vector<std::complex<double>>& exact);

/// Adds FFTW at every setting, and the built-in engine at every number of threads.
void add_dense_frames(const Shape& shape, const Lineup& lineup, FrameTransforms& all);
/// Adds a tracker, and a plan alone, for every k, effort and number of threads.
void add_sfft_frames(const std::vector<std::int64_t>& ks, const Lineup& lineup, FrameTransforms& all);
/// A tracker on the GPU that reads frames from `store`.
std::unique_ptr<FrameTransform> make_tracked_frames(std::int64_t k, PlanEffort effort,
                                                    std::unique_ptr<FrameStore> store);
/// Adds methods on the GPU with frames in page-locked memory: trackers, cuFFT, VkFFT and the library's dense
/// engine.
void add_cuda_frames(const Shape& shape, const std::vector<std::int64_t>& ks, const Lineup& lineup,
                     FrameTransforms& all);

}  // namespace sfft::apps
