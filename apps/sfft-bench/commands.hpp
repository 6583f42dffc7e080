// SPDX-License-Identifier: Apache-2.0
// The subcommands with their parsed options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report.hpp"
#include "setting.hpp"

namespace sfft::apps {

/// Options that all subcommands share.
struct CommonOptions {
  std::string json, csv;       ///< empty: not written
  std::string device = "all";  ///< "cpu", "cuda", "all"
  bool gpu = false;            ///< whether to use a GPU, from `device` and the machine
  bool quick = false, quiet = false;
  int signals = 0;  ///< 0: the default, which --quick lowers
  Lineup lineup;

  bool cpu() const { return device != "cuda"; }
};

struct SparseOptions {
  std::string sweep = "all";                    ///< "n", "k", "noise", "all"
  std::vector<std::int64_t> sizes, k, k_sweep;  ///< empty: the defaults
  std::int64_t points = 0;                      ///< length of the signals in the sweep over k; 0: the default
  std::vector<double> snr_db;                   ///< for the sweep over n with noise; if empty, "all" omits it
  std::vector<std::string> only;
};

struct NoiseOptions {
  std::vector<std::int64_t> sizes;
  std::int64_t k = 50;
  std::vector<double> snr_db;
  std::vector<std::string> only;
};

struct DenseOptions {
  std::vector<std::string> shapes;  ///< "1024x1024"
  bool real = false;
};

struct VideoOptions {
  std::vector<std::string> inputs;  ///< "[LABEL=]INPUT"
  std::vector<std::int64_t> k;
  std::vector<std::int64_t>
      frames;         ///< one for all inputs or one each; empty: the default, which --quick lowers
  bool loop = false;  ///< restart at the first frame until `frames` have been read
  std::vector<std::int64_t> batch{1, 128};  ///< frames per GPU call, read from GPU memory; 0: not timed
  std::vector<std::string> only;
};

struct TechnologyOptions {
  int bits_from = 1, bits_to = 0;   ///< log2 of the lengths in 1D; 0: the default, which --quick lowers
  int bits_2d_to = 0;               ///< log2 of the extents in 2D, from 6
  int batch_bits = 0;               ///< log2 of the points of a batch
  std::vector<int> threads, tiles;  ///< for the sweeps; empty: the defaults
  std::vector<std::string> only;
  std::string keep_code;  ///< folder for the drivers' compiled kernels; empty: none
  bool all_devices = false;
  double patience_seconds = 120;
};

void run_sparse(const SparseOptions& options, const CommonOptions& common, Results& results);
void run_noise(const NoiseOptions& options, const CommonOptions& common, Results& results);
void run_dense(const DenseOptions& options, const CommonOptions& common, Results& results);
void run_video(const VideoOptions& options, const CommonOptions& common, Results& results);

struct RunContext;
/// Writes a separate file format. Returns whether all results were correct.
bool run_technologies(const TechnologyOptions& options, const CommonOptions& common,
                      const RunContext& context);

enum ExitCode : int { kFine = 0, kFailure = 1, kUsage = 2, kInput = 3, kGpu = 4, kInterrupted = 130 };

struct CommandLine {
  std::string subcommand;
  CommonOptions common;
  SparseOptions sparse;
  NoiseOptions noise;
  DenseOptions dense;
  VideoOptions video;
  TechnologyOptions technologies;
};

/// Fills `line`. Returns an exit code if there is nothing to run: after --help, and after wrong usage, which
/// is reported.
std::optional<int> parse(int argc, char** argv, CommandLine& line);

}  // namespace sfft::apps
