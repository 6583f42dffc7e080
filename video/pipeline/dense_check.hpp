// SPDX-License-Identifier: Apache-2.0
// Dense transforms of sampled frames, for the reports: the times to beat, and the truth.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sfft/dense.hpp"
#include "video/pipeline/run.hpp"

namespace sfft::video {

/// Kept between transforms, because allocating aligned memory for every frame fragments the heap and makes it
/// grow.
class AlignedWorkspace {
 public:
  explicit AlignedWorkspace(std::size_t bytes) : bytes_(bytes), memory_(bytes + 64) {}

  std::span<std::byte> aligned() {
    void* start = memory_.data();
    std::size_t room = memory_.size();
    std::align(64, bytes_, start, room);
    return {static_cast<std::byte*>(start), bytes_};
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

/// Times one dense engine as a user would run it: on the samples as they come or already converted to float,
/// whichever is faster. The engine plans without measuring: the few frames that are timed would never pay for
/// that.
class DenseTimer {
 public:
  DenseTimer(const Shape& shape, dense::Engine engine, int threads)
      : plan_(shape, true, {.engine = engine, .planning = dense::Planning::estimate, .threads = threads}),
        spectrum_(plan_.spectrum_points()),
        workspace_(plan_.workspace_bytes()) {}

  std::string engine() const { return plan_.engine_name(); }
  /// Whether the next frame is needed in float.
  bool takes_converted() const noexcept { return !warm_ || from_converted_; }
  /// Microseconds for a frame; `converted` is the same frame in float. The first call compares the two
  /// inputs, and later ones take the one that was faster.
  double time(const SignalView& frame, const SignalView& converted);

 private:
  dense::Plan<float> plan_;
  std::vector<std::complex<float>> spectrum_;
  AlignedWorkspace workspace_;
  bool warm_ = false;
  bool from_converted_ = false;
};

/// Transforms some of the frames densely: the times to beat, and the truth.
class DenseCheck {
 public:
  DenseCheck(const Shape& shape, int threads);

  void time(const SignalView& frame, std::vector<RunReport::DenseTimes>& times);
  /// Compares a spectrum with the exact one, as a Tracker's check does.
  ErrorCheck verify(const SignalView& frame, const Spectrum<float>& spectrum);

 private:
  /// A dense plan for the support of the spectra that come, with what it needs.
  struct Exact {
    Exact(const Shape& shape, std::span<const std::int64_t> support, int threads);
    Plan<float> plan;
    Workspace<float> workspace;
    Spectrum<float> spectrum;
  };

  Shape shape_;
  int threads_;
  std::vector<float> samples_;
  std::shared_ptr<const std::vector<std::int64_t>> support_;  ///< of exact_
  std::optional<Exact> exact_;
  std::vector<DenseTimer> timers_;
};

/// Puts what a check has found into the record of the frame, whose own numbers are there already.
void note(const ErrorCheck& check, FrameRecord& record);

/// Dense transforms are timed on the first few frames and then now and then: enough for a median, few enough
/// not to dominate. `times_us`: those of one engine so far.
bool timed_densely(std::int64_t index, const std::vector<double>& times_us);

}  // namespace sfft::video
