// SPDX-License-Identifier: Apache-2.0
// The sub-commands of bench_trust: each measures, prints a table and returns its findings as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sfft::trust {

struct VideoOptions {
  std::int64_t frames = 300;
  std::int64_t every = 1;  ///< compare every n-th frame
  std::uint64_t seed = 1;
  std::int64_t learn_frames = 1;
  std::int64_t check = 0;  ///< TrackerOptions::check of every n-th frame; 0 means none
  double accuracy = 0;
  bool reference = true;
  bool synthetic = true;
  bool plan_alone = false;  ///< a Plan instead of a Tracker: one template and no calibration
  std::string only;         ///< part of a family's name
  std::vector<std::string> recordings;
  bool quick = false;
};
nlohmann::json run_video(const VideoOptions& options);

struct StreamsOptions {
  std::int64_t count = 1000;
  std::int64_t frames = 60;
  std::uint64_t seed = 1;
  double accuracy = 0.05;  ///< accuracy of the second way of tracking
  std::string only;        ///< part of a family's name
  bool verbose = false;    ///< a line per stream
  bool quick = false;
};
nlohmann::json run_streams(const StreamsOptions& options);

struct SwitchOptions {
  std::int64_t count = 1000;
  std::int64_t first = 0;  ///< stream to begin with
  std::int64_t frames = 1200;
  std::uint64_t seed = 1;
  int threads = 1;
  double accuracy = 0.05;  ///< accuracy of the second tracker
  bool reference = true;
  std::vector<std::string> recordings;
  bool verbose = false;  ///< a line per stream, and all pairs
  bool quick = false;
  bool enforce = false;  ///< fail if a bound is exceeded
};
nlohmann::json run_switch(const SwitchOptions& options);

struct WalkOptions {
  std::int64_t count = 1000;
  std::int64_t frames = 100;
  std::uint64_t seed = 1;
  int threads = 1;
  bool verbose = false;
  bool quick = false;
  bool enforce = false;
};
nlohmann::json run_walk(const WalkOptions& options);

struct ToneOptions {
  std::int64_t count = 100000;  ///< places for tones of the template's size; other questions get a tenth
  std::uint64_t seed = 1;
  std::string only;  ///< part of a configuration's name
  bool quick = false;
};
nlohmann::json run_tone(const ToneOptions& options);

struct BurstsOptions {
  std::int64_t count = 100000;  ///< disturbed frames
  std::uint64_t seed = 1;
  int threads = 1;
  bool verbose = false;  ///< a line per silent frame
  bool quick = false;
};
nlohmann::json run_bursts(const BurstsOptions& options);

struct TonesOptions {
  std::int64_t count = 1000;
  std::int64_t frames = 1000;
  std::uint64_t seed = 1;
  int threads = 1;
  std::string only;         ///< part of a family's name
  std::int64_t index = -1;  ///< this stream alone, frame by frame
  bool verbose = false;     ///< a line per stream
  bool quick = false;
};
nlohmann::json run_tones(const TonesOptions& options);

struct OffGridOptions {
  std::int64_t count = 1000;  ///< number of signals off the grid, and of signals on it
  std::int64_t first = 0;     ///< number of the first
  std::uint64_t seed = 1;
  int threads = 1;
  bool large = false;    ///< a quarter of the signals has up to 2^20 points
  bool verbose = false;  ///< a line per signal
  bool quick = false;
};
nlohmann::json run_off_grid(const OffGridOptions& options);

}  // namespace sfft::trust
