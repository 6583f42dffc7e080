// SPDX-License-Identifier: Apache-2.0
// What the comparison asks of a technology or a library, each of which is looked for when it is opened.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/technologies/problem.hpp"
#include "bench/technologies/schedule.hpp"

namespace sfft::technologies {

using Complex = std::complex<float>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Limits of a device; 0: there is none, or it is not known.
struct Limits {
  std::int64_t group_threads = 0, shared_bytes = 0, buffer_bytes = 0, memory_bytes = 0;
  std::uint32_t groups_x = 0x7fffffff;
};

struct Facts {
  std::string device, driver;
  bool gpu = false;
  Limits limits;
  std::vector<std::string> steps;   ///< calls that came before the first launch
  double copy_bytes_per_s = kNone;  ///< read and written by a copy in the device's memory
};

/// Times of one transform.
struct Sample {
  double wall_us = kNone;    ///< from the first call until the result is there
  double device_us = kNone;  ///< by the technology's own time stamps
  double submit_us = kNone;  ///< until the calls had returned
};

/// One device of one technology. Every function throws Failure with a sentence for the row.
class Technology {
 public:
  virtual ~Technology() = default;
  virtual const Facts& facts() const = 0;
  /// Whether Setting matters: swept over it then.
  virtual bool tunable() const { return false; }
  /// Whether inverse problems can be prepared, with 1/N.
  virtual bool inverts() const { return false; }
  /// Allocates once for problems of up to so many points: some drivers give slower memory after some of it
  /// was freed. Where this throws, prepare() allocates what a problem needs.
  virtual void reserve(std::int64_t /*points*/) {}
  /// Compiles and allocates; what was prepared before is gone.
  virtual void prepare(const Problem& problem, const Setting& setting) = 0;
  virtual void upload(const Complex* signal) = 0;
  virtual Sample run() = 0;
  virtual void download(Complex* spectrum) = 0;
  /// Number of launches of one transform; 0 if unknown.
  virtual std::int64_t launches() const { return 0; }
  virtual double traffic() const { return kNone; }
};

/// What every port of the algorithm has in common: the schedule, and whether it fits the device.
class Port : public Technology {
 public:
  const Facts& facts() const override { return facts_; }
  bool tunable() const override { return true; }
  bool inverts() const override { return true; }
  void reserve(std::int64_t points) override { fit(points * static_cast<std::int64_t>(sizeof(Complex))); }
  void prepare(const Problem& problem, const Setting& setting) override;
  std::int64_t launches() const override { return static_cast<std::int64_t>(schedule_.size()); }
  double traffic() const override { return traffic_bytes(schedule_, problem_); }

 protected:
  /// Compiles the kernels, unless it has for this setting.
  virtual void build(const Setting& setting) = 0;
  /// Three arrays of at least this many bytes; earlier ones are no longer used.
  virtual void allocate(std::int64_t bytes) = 0;
  /// After both: what can be recorded of schedule_ ahead of a run.
  virtual void record() {}
  std::int64_t bytes() const { return problem_.points() * static_cast<std::int64_t>(sizeof(Complex)); }
  void step(const std::string& call) { facts_.steps.push_back(call); }

  Facts facts_;
  Problem problem_;
  Setting setting_;
  Schedule schedule_;

 private:
  /// Throws Failure where the device's limits forbid it.
  void fit(std::int64_t bytes);

  std::int64_t allocated_ = 0;
};

/// Opens the device of this number, GPUs first; nullptr behind the last. Throws Failure where there is none.
using Opener = std::function<std::unique_ptr<Technology>(int device)>;

struct Entry {
  std::string name;
  bool port = true;  ///< of the algorithm; or a library beside it
  Opener open;
};

/// All, in the order of the tables.
std::vector<Entry> all_technologies();

// One opener each, in the files of the same names.
std::unique_ptr<Technology> open_cpu(int device);
std::unique_ptr<Technology> open_openmp(int device);
std::unique_ptr<Technology> open_emulation(int device);
std::unique_ptr<Technology> open_cuda(int device);
std::unique_ptr<Technology> open_opencl(int device);
std::unique_ptr<Technology> open_opengl(int device);
std::unique_ptr<Technology> open_vulkan_glsl(int device);
std::unique_ptr<Technology> open_vulkan_hlsl(int device);
std::unique_ptr<Technology> open_hip(int device);
/// The code of the kernels for an AMD GPU, which need not be there. Throws Failure where there is no HIPRTC.
std::string compile_hip_for(const std::string& architecture, int tile);
std::unique_ptr<Technology> open_cufft(int device);
std::unique_ptr<Technology> open_vkfft_cuda(int device);
std::unique_ptr<Technology> open_vkfft_opencl(int device);
std::unique_ptr<Technology> open_vkfft_vulkan(int device);
std::unique_ptr<Technology> open_clfft(int device);
std::unique_ptr<Technology> open_fftw(int device);
std::unique_ptr<Technology> open_fftw_threads(int device);
std::unique_ptr<Technology> open_sfft_cpu(int device);
std::unique_ptr<Technology> open_sfft_cuda(int device);

}  // namespace sfft::technologies
