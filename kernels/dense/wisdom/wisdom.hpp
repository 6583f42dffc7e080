// SPDX-License-Identifier: Apache-2.0
// Results of measured planning: the fastest engine for a problem on a device, kept in the process and in
// files.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "kernels/dense/problem/problem.hpp"
#include "kernels/runtime/user_cache.hpp"

namespace sfft::detail {

/// The conditions of a measurement, which is valid only for these.
struct WisdomPlatform {
  std::string device;   ///< "NVIDIA H200", or "CPU AVX-512" for CPU engines
  std::string driver;   ///< "13.0", the newest CUDA that the driver knows; empty for CPUs
  std::string library;  ///< version of this library
  friend auto operator<=>(const WisdomPlatform&, const WisdomPlatform&) = default;
};

/// The transform that was measured: "f32 c2c 1080x1920".
struct WisdomProblem {
  std::string transform;
  std::int64_t batch = 1;
  friend auto operator<=>(const WisdomProblem&, const WisdomProblem&) = default;
};

/// Names a problem, for example "f32 c2c 1080x1920", or "f64 r2c 12x35 strided 64,1,1024" with the batch's
/// stride last.
template <class Real>
WisdomProblem wisdom_problem(const DenseProblem& problem);

struct WisdomEntry {
  std::string engine;     ///< dense::to_string(Engine)
  std::string kernel;     ///< the engine's description of its kernels (GpuDenseEngine::kernel), opaque here
  double us = 0;          ///< measured time of the whole batch
  bool compared = false;  ///< found by Planning::quick, which tries few kernels; not in wisdom files
  friend bool operator==(const WisdomEntry&, const WisdomEntry&) = default;
};

WisdomPlatform cpu_platform();
/// Throws Error(device) if there is no such GPU, backend_unavailable in builds without CUDA.
/// Creates no context.
WisdomPlatform gpu_platform(int device);
/// The platform of this machine with this device name. Queries the GPU driver only for GPU names.
std::optional<WisdomPlatform> platform_here(const std::string& device);

/// Thread-safe.
class Wisdom {
 public:
  using PlatformHere = std::function<std::optional<WisdomPlatform>(const std::string& device)>;

  enum class Batch : std::uint8_t { nearest, exact };

  /// The wisdom of the process; starts with the shipped entries.
  static Wisdom& global();

  /// The entry for this batch or, unless `batch` is exact, for the known batch of the same transform with the
  /// nearest ratio. At equal distance, local measurements take precedence over shipped ones, and these over
  /// quick comparisons, which count for their own batch alone.
  std::optional<WisdomEntry> find(const WisdomPlatform& platform, const WisdomProblem& problem,
                                  Batch batch = Batch::nearest) const;
  /// Whether this process measured the problem, or read a measurement from a file.
  bool measured(const WisdomPlatform& platform, const WisdomProblem& problem) const;
  /// Replaces the previous entry for the same platform and problem; measurements and comparisons are
  /// separate.
  void add(const WisdomPlatform& platform, const WisdomProblem& problem, WisdomEntry entry);
  void clear();

  /// Adds the entries of a file's text. Keeps entries of other devices, because several machines may share a
  /// file. Ignores entries of this machine's devices that were made with another driver or library version. A
  /// text that cannot be read completely adds nothing.
  dense::WisdomReport parse(const std::string& json, const PlatformHere& here = platform_here);
  /// Adds shipped wisdom, which is valid for the device's name with any driver, and for all library versions
  /// with the same first two numbers. format() omits it.
  dense::WisdomReport parse_shipped(const std::string& json);
  /// The file text of what was measured or parsed, without shipped wisdom and quick comparisons.
  std::string format() const { return merged_into({}); }
  /// Like format(), plus those entries of `file`, the text of another wisdom file, whose platform and problem
  /// are not known here. Throws Error(file_corrupt) if `file` is neither empty nor wisdom of this version, or
  /// if both together exceed kWisdomBytes.
  std::string merged_into(const std::string& file) const;

 private:
  using Known = std::map<WisdomProblem, WisdomEntry>;

  mutable std::mutex mutex_;
  std::map<WisdomPlatform, Known> entries_;
  std::map<WisdomPlatform, Known> compared_;
  std::map<std::string, Known> shipped_;  ///< by device
};

/// Adds to `wisdom` what the cache knows about the problem, unless a measurement of it is known. `build` is
/// what the kernels depend on in addition to the platform.
void recall_wisdom(const UserCache& cache, const std::string& build, const WisdomPlatform& platform,
                   const WisdomProblem& problem, Wisdom& wisdom);
/// Adds the entry to `wisdom` and to the cache.
void remember_wisdom(const UserCache& cache, const std::string& build, const WisdomPlatform& platform,
                     const WisdomProblem& problem, const WisdomEntry& entry, Wisdom& wisdom);

}  // namespace sfft::detail
