// SPDX-License-Identifier: Apache-2.0
// One result row: what was measured, its accuracy, and its time.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace sfft::apps {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// How far results are from the truth.
struct RowErrors {
  double missed = kUnknown;       ///< mean share of the true support that was missed
  double relative_l2 = kUnknown;  ///< median of ‖X̂ − X‖/‖X‖ over the true support
  double worst_l2 = kUnknown;
  double mean = kUnknown;         ///< mean of |X̂ − X|/N, where |X| = N
  double noise_floor = kUnknown;  ///< `mean` of a full FFT: √(π/4)·√(k/(SNR·N))
};

struct RowTimes {
  double plan_ms = kUnknown;      ///< including learning
  double learn_ms = kUnknown;     ///< the part of plan_ms that is learning
  double cold_us = kUnknown;      ///< one execution with cold caches
  double warm_us = kUnknown;      ///< same signal repeated
  double distinct_us = kUnknown;  ///< a different signal each time, with caches in their normal state
  double total_ms = kUnknown;     ///< total for `frames` frames, learning and planning included
};

/// What a method costs on a recording.
struct StreamCosts {
  double prepare_ms = kUnknown;    ///< median time to the first spectrum minus the time per frame or call
  double first_use_ms = kUnknown;  ///< the same for the first use in the process
  double frame_us = kUnknown;      ///< per frame, after preparation
};

/// When preparation pays off against another contender, in frames.
struct RowBreakEven {
  std::string peer;  ///< the contender compared with
  StreamCosts costs;
  double frames = kUnknown;            ///< NaN: never
  double first_use_frames = kUnknown;  ///< if both sides need first_use_ms
  double kept_frames = kUnknown;       ///< if the peer's plan already exists
  double ahead_until = kUnknown;       ///< number of frames after which slower frames use up a head start
  double crossed = kUnknown;           ///< number of frames after which this run's totals crossed
};

/// A number that does not apply is NaN: null in JSON, empty in CSV, a dash in the table.
struct Row {
  /// "time_vs_n", "time_vs_n_noise", "time_vs_k", "error_vs_snr", "dense", "video", "video_batched",
  /// "break_even"
  std::string figure;
  std::string contender, device = "cpu";
  std::string shape;  ///< "4194304", "1080x1920"
  std::int64_t points = 0;
  std::int64_t nominal_points = 0;  ///< length on the axis; a contender may need a different one
  std::int64_t k = 0;               ///< 0 for dense transforms
  double snr_db = kUnknown;         ///< total signal power over total noise power; NaN: no noise
  std::int64_t signals = 0;         ///< number of signals in medians and means
  RowErrors errors;
  double samples_read = kUnknown;
  RowTimes times;
  std::string detail;
  std::string skipped;  ///< why there are no numbers
  int threads = 1;      ///< host threads
  std::string planner;  ///< "FFTW_MEASURE"
  std::string note;     ///< remark for readers: fewer cores than threads, why a break-even is missing
  struct Recording {
    std::string name;         ///< its label
    std::int64_t frames = 0;  ///< transformed so far
    std::string frames_in;    ///< "memory", "page-locked", "device"
    std::int64_t batch = 0;   ///< frames per call
    StreamCosts costs;
  };
  Recording recording;
  RowBreakEven break_even;
};

}  // namespace sfft::apps
