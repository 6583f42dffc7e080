// SPDX-License-Identifier: Apache-2.0
// sfft-bench shows which approach is fastest for which input. This file calls a subcommand and writes the
// results.
#include <fmt/format.h>

#include "commands.hpp"
#include "run_control.hpp"
#include "sfft/sfft.hpp"
#include "video/sources/source.hpp"
#if SFFT_BENCH_CUDA
#include "bench/cuda/library_on_gpu.hpp"
#endif

namespace {

using namespace sfft::apps;

/// Whether to use a GPU. If there is none, throws for the device "cuda", and prints a message for "all".
bool settle_gpu(const CommonOptions& common) {
  if (common.device == "cpu") return false;
#if SFFT_BENCH_CUDA
  const std::string problem = sfft::availability(sfft::Device::gpu()).reason;
#else
  const std::string problem = "this build has no CUDA";
#endif
  if (problem.empty()) return true;
  if (common.device == "cuda") throw sfft::Error(sfft::ErrorCode::backend_unavailable, problem);
  if (SFFT_BENCH_CUDA && !common.quiet) fmt::print(stderr, "sfft-bench: on the CPU alone: {}\n", problem);
  return false;
}

void run(const std::string& subcommand, CommandLine& line, Results& results) {
  if (subcommand == "sparse") run_sparse(line.sparse, line.common, results);
  if (subcommand == "noise") run_noise(line.noise, line.common, results);
  if (subcommand == "dense") run_dense(line.dense, line.common, results);
  if (subcommand == "video") run_video(line.video, line.common, results);
}

/// Technologies look for GPUs in child processes, which works only if this process has not used one.
int run_technologies(CommandLine& line, RunContext context) {
  context.subcommand = line.subcommand;
  context.quick = line.common.quick;
  try {
    return run_technologies(line.technologies, line.common, context) ? kFine : kFailure;
  } catch (const Interrupted&) {
    fmt::print(stderr, "sfft-bench: interrupted; what was measured is kept\n");
    return kInterrupted;
  }
}

/// Runs a subcommand. In any case the result files record how the run ended.
int run_and_record(const std::string& subcommand, CommandLine& line, RunContext context) {
  line.common.gpu = settle_gpu(line.common);
  context.subcommand = subcommand;
  context.quick = line.common.quick;
#if SFFT_BENCH_CUDA
  if (line.common.gpu) context.gpu = sfft::bench::gpu_name();
#endif
  Results results(context, line.common.json, line.common.csv, line.common.quiet);
  try {
    run(subcommand, line, results);
  } catch (const Interrupted& interrupt) {
    results.finish(interrupt.what());
    fmt::print(stderr, "sfft-bench: interrupted; what was measured is kept\n");
    return kInterrupted;
  } catch (const std::exception& error) {
    results.finish(error.what());
    throw;
  }
  results.finish("complete");
  return kFine;
}

int exit_code(sfft::ErrorCode code) {
  switch (code) {
    case sfft::ErrorCode::file_unreadable:
      return kInput;
    case sfft::ErrorCode::backend_unavailable:
      return kGpu;
    case sfft::ErrorCode::out_of_memory:
      return kFailure;
    default:
      return kUsage;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  if (const std::optional<int> code = parse(argc, argv, line)) return *code;
  install_signals();
  RunContext context;
  context.command = "build/bin/sfft-bench";
  for (int i = 1; i < argc; ++i) context.command += std::string(" ") + argv[i];
  try {
    if (line.subcommand == "technologies") return run_technologies(line, context);
    return run_and_record(line.subcommand, line, context);
  } catch (const sfft::video::InputError& error) {
    fmt::print(stderr, "sfft-bench: {}\n", error.what());
    return kInput;
  } catch (const sfft::Error& error) {
    fmt::print(stderr, "sfft-bench: {}\n", error.what());
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "sfft-bench: out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "sfft-bench: {}\n", error.what());
  }
  return kFailure;
}
