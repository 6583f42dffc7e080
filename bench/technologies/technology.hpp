// SPDX-License-Identifier: Apache-2.0
// The interface of a technology or library in the comparison. Each is loaded when it is opened.
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

/// Limits of a device; 0 means that there is none, or that it is unknown.
struct Limits {
  std::int64_t group_threads = 0, shared_bytes = 0, buffer_bytes = 0, memory_bytes = 0;
  std::uint32_t groups_x = 0x7fffffff;
};

struct Facts {
  std::string device, driver;
  bool gpu = false;
  Limits limits;
  std::vector<std::string> steps;   ///< calls made before the first launch
  double copy_bytes_per_s = kNone;  ///< bytes read and written per second by a copy in the device's memory
};

/// Times of one transform.
struct Sample {
  double wall_us = kNone;    ///< from the first call until the result is complete
  double device_us = kNone;  ///< by the technology's time stamps
  double submit_us = kNone;  ///< until the calls have returned
};

/// One device of one technology. Every function throws Failure with a sentence for the row.
class Technology {
 public:
  virtual ~Technology() = default;
  virtual const Facts& facts() const = 0;
  /// Whether Setting matters; if so, it is swept.
  virtual bool tunable() const { return false; }
  /// Whether inverse problems (scaled by 1/N) can be prepared.
  virtual bool inverts() const { return false; }
  /// Allocates once for problems of up to this many points, because some drivers give slower memory after
  /// some has been freed. If this throws, prepare() allocates what each problem needs.
  virtual void reserve(std::int64_t /*points*/) {}
  /// Compiles and allocates; discards what was prepared before.
  virtual void prepare(const Problem& problem, const Setting& setting) = 0;
  virtual void upload(const Complex* signal) = 0;
  virtual Sample run() = 0;
  virtual void download(Complex* spectrum) = 0;
  /// Number of launches of one transform; 0 if unknown.
  virtual std::int64_t launches() const { return 0; }
  virtual double traffic() const { return kNone; }
};

/// The common part of all ports of the algorithm: the schedule, and the check that it fits the device.
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
  /// Compiles the kernels, unless they are already compiled for this setting.
  virtual void build(const Setting& setting) = 0;
  /// Three arrays of at least this many bytes; earlier ones are no longer used.
  virtual void allocate(std::int64_t bytes) = 0;
  /// Called after both. Records what can be recorded of schedule_ before a run.
  virtual void record() {}
  std::int64_t bytes() const { return problem_.points() * static_cast<std::int64_t>(sizeof(Complex)); }
  void step(const std::string& call) { facts_.steps.push_back(call); }

  Facts facts_;
  Problem problem_;
  Setting setting_;
  Schedule schedule_;

 private:
  /// Throws Failure if the device's limits forbid it.
  void fit(std::int64_t bytes);

  std::int64_t allocated_ = 0;
};

/// Opens the device of this number, counting GPUs first; returns nullptr past the last. Throws Failure if
/// there is no device.
using Opener = std::function<std::unique_ptr<Technology>(int device)>;

struct Entry {
  std::string name;
  bool port = true;  ///< a port of the algorithm; otherwise a library to compare with
  Opener open;
};

/// All technologies, in the order of the tables.
std::vector<Entry> all_technologies();

// One opener per technology, each in the file of its name.
std::unique_ptr<Technology> open_cpu(int device);
std::unique_ptr<Technology> open_openmp(int device);
std::unique_ptr<Technology> open_emulation(int device);
std::unique_ptr<Technology> open_cuda(int device);
std::unique_ptr<Technology> open_opencl(int device);
std::unique_ptr<Technology> open_opengl(int device);
std::unique_ptr<Technology> open_vulkan_glsl(int device);
std::unique_ptr<Technology> open_vulkan_hlsl(int device);
std::unique_ptr<Technology> open_hip(int device);
/// Compiles the kernels for an AMD GPU, which need not be present. Throws Failure if there is no HIPRTC.
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
