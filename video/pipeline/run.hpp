// SPDX-License-Identifier: Apache-2.0
// The pipeline of `sfft-video run`: decoder → tracker → report. Frames go in batches, and the decoder runs
// ahead.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sfft/sfft.hpp"
#include "video/pipeline/frame_log.hpp"
#include "video/sources/run_status.hpp"
#include "video/sources/source.hpp"

namespace sfft::video {

struct RunOptions {
  std::int64_t k = 0;                   ///< 0: from `energy`, or else 1000 (fewer on small frames)
  double energy = 0;                    ///< share of the energy to keep, instead of k; 0: k decides
  double accuracy = 0;                  ///< 0: no limit
  double max_samples = 0;               ///< share of the pixels; 0: automatic
  int threads = 1;                      ///< 0: one per core
  std::int64_t verify = 10;             ///< every N-th frame is also transformed densely; 0: none
  std::int64_t frames = 0;              ///< stop after this many; 0: all
  int batch = 0;                        ///< max. frames handed to the tracker at once; 0: automatic
  std::int64_t learn_frames = 1;        ///< number of first frames to learn the template from, kept in memory
  Device device = Device::automatic();  ///< several GPUs share the frames
  PlanOptions::Transfer transfer = PlanOptions::Transfer::automatic;  ///< how frames are copied to the GPU
  bool reference = true;
  PlanEffort effort = PlanEffort::normal;
  bool refine = false;           ///< start with a quick plan, and switch to a better one when it is found
  bool similarity = false;       ///< compare every frame with the template, by a dense transform each
  std::optional<Template> tmpl;  ///< if given, no template is learned
  bool keep_template = false;    ///< fill RunReport::last_template
  std::function<void(const FrameRecord&)> on_frame;  ///< called for every transformed frame; may be empty
};

/// The results of a run, from which the reports are made.
struct RunReport {
  RunStatus status = RunStatus::complete;
  std::string message;         ///< why the status is not `complete`
  std::exception_ptr failure;  ///< what ended a run that failed after its first frame
  SourceInfo input;
  SourceLog input_log;
  std::vector<std::string> warnings;  ///< warnings of the input
  std::int64_t frames_read = 0;
  /// What was requested.
  struct Request {
    int threads = 1;
    Device device = Device::automatic();
    bool similarity = false;  ///< of every frame
  };
  Request request;
  /// Microseconds that the transforming thread spent in each stage. Reading the first frames and learning
  /// from them do not count.
  struct Stages {
    double waiting_us = 0;  ///< for frames to be decoded
    double ahead_us = 0;    ///< passing frames to the GPU as they come
    double tracker_us = 0;  ///< transforms and decisions
    double results_us = 0;  ///< checks, dense timing, and writing results
  };
  Stages stages;
  std::int64_t pushes = 0;  ///< calls of the tracker, each with one or several frames
  Distribution decode_us;   ///< time to decode each frame read

  std::optional<Template> first_template;
  std::optional<Template> last_template;  ///< the one in use at the end, with its plans
  double learn_ms = 0;                    ///< 0 if the template was given
  PlanInfo plan;
  std::string explanation;
  FrameLog frames;  ///< records of the frames that went through the tracker
  /// What the trackers of all segments did.
  struct Tracking {
    std::int64_t refreshed = 0, relearned = 0, dense_fallbacks = 0, calibrated = 0, refined = 0;
    std::string refinement;     ///< outcome of the latest search for a better plan; empty: no search
    double calibration = 1;     ///< factor on reported errors at the end
    bool differencing = false;  ///< whether the last frame was transformed as its difference from a reference
  };
  Tracking tracking;

  /// Times of dense transforms of sampled frames for every CPU engine in the build, from integer or float
  /// input, whichever is faster. The fastest engine comes first; speedups refer to it.
  struct DenseTimes {
    std::string engine;
    std::vector<double> us;
  };
  std::vector<DenseTimes> dense;
  Frame first_frame;
};

/// Receives every frame's spectrum in order, including that of frame 0, until the frames change their format.
class SpectrumSink {
 public:
  virtual ~SpectrumSink() = default;
  virtual void write(std::int64_t frame, const Spectrum<float>& spectrum) = 0;
  /// Also passes the frame, for sinks that need both.
  virtual void write(std::int64_t frame, const Spectrum<float>& spectrum, const SignalView& view) {
    static_cast<void>(view);
    write(frame, spectrum);
  }
};

/// Called after every frame with the number read and the number expected (-1: unknown).
using ProgressCallback = std::function<void(std::int64_t read, std::int64_t expected)>;

/// Blocks until the source ends or breaks, `options.frames` are read, or `stop` is set, which ends the run
/// after the current batch. Damaged input becomes a status, not an exception. So does any failure once there
/// is a template, a GPU failure included; the report then has the work done so far. Before there is a
/// template, throws Error for a wrong template or bad options.
RunReport run(FrameSource& source, const RunOptions& options, SpectrumSink* sink,
              const ProgressCallback& progress, const std::atomic<bool>& stop);

/// The options of a run's tracker and planner. `live`: the source is live; `on_gpu`: frames are decoded into
/// GPU memory.
TrackerOptions tracker_options(const RunOptions& options, bool live, bool on_gpu = false);
/// Returns the template with the plan of a run with these options, so that a run on a recording need not
/// search for one.
Template with_plan(const Template& tmpl, const RunOptions& options);

/// The options for learning a template from frames of this shape.
LearnOptions learn_options(const RunOptions& options, const Shape& shape);

/// The default for k: 1000, but at most one frequency per 64 pixels.
std::int64_t default_k(const Shape& shape) noexcept;

}  // namespace sfft::video
