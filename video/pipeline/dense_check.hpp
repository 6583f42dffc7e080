// SPDX-License-Identifier: Apache-2.0
// Transforms sampled frames densely for the reports: the baseline for speed and the reference for accuracy.
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
#include "video/sources/aligned_bytes.hpp"

namespace sfft::video {

/// Times one dense engine as a user would run it. Its input is the integer samples, or the same samples
/// converted to float if that is faster. The engine plans without measurements, because the few timed frames
/// would not repay them.
class DenseTimer {
 public:
  DenseTimer(const Shape& shape, dense::Engine engine, int threads)
      : plan_(shape, Domain::real,
              {.engine = engine, .planning = dense::Options::Planning::estimate, .threads = threads}),
        spectrum_(plan_.spectrum_points()),
        workspace_(plan_.workspace_bytes()) {}

  std::string engine() const { return plan_.engine_name(); }
  /// Whether the next call of time() reads `converted`.
  bool takes_converted() const noexcept { return !warm_ || from_converted_; }
  /// Returns the microseconds of one transform; `converted` is the same frame in float. The first call
  /// compares the two inputs, and later calls use the faster one.
  double time(const SignalView& frame, const SignalView& converted);

 private:
  dense::Plan<float> plan_;
  std::vector<std::complex<float>> spectrum_;
  AlignedBytes workspace_;
  bool warm_ = false;
  bool from_converted_ = false;
};

/// Times dense transforms of some frames, and compares spectra with exact ones.
class DenseCheck {
 public:
  DenseCheck(const Shape& shape, int threads);

  void time(const SignalView& frame, std::vector<RunReport::DenseTimes>& times);
  /// Compares a spectrum with the exact one, as Tracker's check does.
  TrackedFrame::ErrorCheck verify(const SignalView& frame, const Spectrum<float>& spectrum);

 private:
  /// A dense plan for the support of the verified spectra, with its workspace and result.
  struct Exact {
    Exact(const Shape& shape, std::span<const std::int64_t> support, int threads);
    Plan<float> plan;
    Workspace workspace;
    Spectrum<float> spectrum;
  };

  Shape shape_;
  int threads_;
  std::vector<float> samples_;
  std::shared_ptr<const std::vector<std::int64_t>> support_;  ///< support of exact_
  std::optional<Exact> exact_;
  std::vector<DenseTimer> timers_;
};

/// Adds the result of a check to a frame's record, whose other members must already be set.
void note(const TrackedFrame::ErrorCheck& check, FrameRecord& record);

/// Whether to time dense transforms on this frame. The first frames and a few later ones are timed: enough
/// for a median, but too few to dominate the run. `times_us`: times of one engine so far.
bool timed_densely(std::int64_t index, const std::vector<double>& times_us);

}  // namespace sfft::video
