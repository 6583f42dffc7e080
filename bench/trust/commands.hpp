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
  std::int64_t check = 0;  ///< TrackerOptions::check of every n-th frame; 0: none
  double accuracy = 0;
  bool reference = true;
  bool synthetic = true;
  std::string only;  ///< part of a family's name
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

struct ToneOptions {
  std::int64_t count = 100000;  ///< places for tones of the template's size; a tenth for every other question
  std::uint64_t seed = 1;
  std::string only;  ///< part of a configuration's name
  bool quick = false;
};
nlohmann::json run_tone(const ToneOptions& options);

struct OffGridOptions {
  std::int64_t count = 1000;  ///< signals off the grid, and as many on it
  std::int64_t first = 0;     ///< number of the first
  std::uint64_t seed = 1;
  int threads = 1;
  bool large = false;    ///< a quarter of the signals has up to 2^20 points
  bool verbose = false;  ///< a line per signal
  bool quick = false;
};
nlohmann::json run_off_grid(const OffGridOptions& options);

}  // namespace sfft::trust
